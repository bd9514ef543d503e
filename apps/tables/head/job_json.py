"""Jobs of a table as the `.json` of pages that ask for work shows them."""

from typing import Any

from apps.jobs.listing.resource import JobOutcome
from apps.jobs.listing.selectors import outcome_of
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.tables.models import Table


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
