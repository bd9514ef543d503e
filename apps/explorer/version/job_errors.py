"""The failure of a job as the machine forms of a page answer it."""

from apps.jobs.models import Job
from apps.pages.errors import PageError

OVER_WITHOUT_RESULT = {Job.State.FAILED, Job.State.CANCELLED}


def check_job(job: Job | None) -> None:
    """Raise what a job failed with; a page shows it in place instead.

    Raises:
        PageError: 422 with the job's own code, sentence and hint.
    """
    if job is None or job.state not in OVER_WITHOUT_RESULT:
        return
    raise PageError(
        status=422,
        code=job.error_code or "job-cancelled",
        message=job.error or f"Job {job.id} was cancelled.",
        hint=job.error_hint or "Retry the job, then ask again.",
    )
