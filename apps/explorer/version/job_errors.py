"""The failure of a job as the machine forms of a page answer it."""

from deltaweb.web.jobs.models import Job
from deltaweb.web.pages.errors import PageError
from deltaweb.web.pages.request.server_paths import text_for_reader
from deltaweb.web.tables.models import Table

OVER_WITHOUT_RESULT = {Job.State.FAILED, Job.State.CANCELLED}


def check_job(job: Job | None) -> None:
    """Raise what a job failed with; a page shows it in place instead."""
    if job is None or job.state not in OVER_WITHOUT_RESULT:
        return
    tables = Table.objects.filter(id__in=[job.subject_id] if job.subject_id else [])
    place = tables.values_list("location", flat=True).first() or ""
    raise PageError(
        status=422,
        code=job.error_code or "job-cancelled",
        message=text_for_reader(job.error, place) or f"Job {job.id} was cancelled.",
        hint=text_for_reader(job.error_hint, place) or "Retry the job, then ask again.",
    )
