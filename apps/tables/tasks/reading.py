"""Rows and files of a version, for pages."""

from celery import shared_task

from apps.jobs.tracking import track_job
from apps.tables import reading
from apps.tables.tasks.job_table import table_of


@shared_task(name="tables.preview_rows", acks_late=True, ignore_result=True)
def preview_rows(*, job_id: str, **_: object) -> None:
    """Read some rows of a version for a page."""
    with track_job(job_id) as job:
        if job is None:
            return
        table = table_of(job)
        job.step("Reading rows")
        job.result = reading.read_preview(
            table,
            job.parameters,
            job_id=job.id,
            report=lambda rows: job.progress(rows, unit="rows"),
        )


@shared_task(name="tables.list_version_files", acks_late=True, ignore_result=True)
def list_version_files(*, job_id: str, **_: object) -> None:
    """List the files of a version for a page."""
    with track_job(job_id) as job:
        if job is None:
            return
        table = table_of(job)
        job.step("Replaying the log")
        job.result = reading.list_files(
            table,
            job.parameters["version"],
            job_id=job.id,
            report=lambda files: job.progress(files, unit="files"),
        )
