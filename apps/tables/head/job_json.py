"""Jobs of a table as the `.json` of pages that ask for work shows them."""

from typing import Any

from apps.jobs.listing.resource import JobOutcome
from apps.jobs.listing.selectors import outcome_of
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.pages.request.server_paths import text_for_reader
from apps.tables.models import Table

OVER_WITHOUT_RESULT = {Job.State.FAILED, Job.State.CANCELLED}


class NotIndexedError(PageError, code="not-indexed"):
    """Something is asked of a table of which nothing is known yet."""

    table: str
    status = 409
    message = "{table} is not indexed yet."
    hint = "Try again when it is."


def described(job: Job | None) -> JobOutcome | None:
    """Return a job as these pages show it."""
    return None if job is None else outcome_of(job)


def result_of(job: Job | None) -> dict[str, Any] | None:
    """Return what a job that is done has found; None before, and without one."""
    is_done = job is not None and job.state == Job.State.DONE
    return job.result if job and is_done and isinstance(job.result, dict) else None


def check_may(table: Table, version: int | None) -> None:
    """Refuse to ask for anything of a table that is not indexed yet."""
    if version is None:
        raise NotIndexedError(table=table.full_name)


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
