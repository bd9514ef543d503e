"""What pages hear of jobs: each time that the row of one changes, and at its end."""

import uuid
from typing import Final

from apps.news.publishing import publish

JOBS: Final = "jobs"  # any of them
JOB: Final = "job"
JOB_END: Final = "job-end"


def of_end(job_id: object) -> str:
    """Name the end of a job."""
    return f"{JOB_END}:{job_id}"


def tell_moved(job_id: str | uuid.UUID, *, is_over: bool = False) -> None:
    """Tell that a job has moved on, once that is committed; its end comes first."""
    ends = (of_end(job_id),) if is_over else ()
    publish(*ends, f"{JOB}:{job_id}", JOBS)
