"""What differs between two versions, for pages."""

from celery import shared_task

from apps.jobs.tracking import track_job
from apps.tables import comparing
from apps.tables.tasks.job_table import table_of


@shared_task(name="tables.diff_files", acks_late=True, ignore_result=True)
def diff_files(*, job_id: str, **_: object) -> None:
    """Compare the files of two versions for a page."""
    with track_job(job_id) as job:
        if job is None:
            return
        table = table_of(job)
        job.step("Replaying the log")
        job.result = comparing.compare_files(table, job.parameters, job_id=job.id)


@shared_task(name="tables.diff_rows", acks_late=True, ignore_result=True)
def diff_rows(*, job_id: str, **_: object) -> None:
    """Compare the rows of two versions for a page; safe to run twice."""
    with track_job(job_id) as job:
        if job is None:
            return
        table = table_of(job)
        job.step("Reading the files that differ")
        job.result = comparing.compare_rows(
            table,
            job.parameters,
            job_id=job.id,
            report=lambda done, total: job.progress(done, total=total, unit="files"),
        )
