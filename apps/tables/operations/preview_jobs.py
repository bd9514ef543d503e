"""Jobs that only look at what an operation would do, and change nothing."""

from datetime import datetime
from typing import Any
from uuid import UUID

from apps.jobs.kind import hashed_key
from apps.jobs.models import Job
from apps.jobs.services import enqueue


def is_preview(job: Job) -> bool:
    """Whether a job of an operation only looks."""
    return job.parameters.get("seen") is None


def preview_again(job_id: UUID, *, now: datetime) -> Job:
    """Queue the preview of a job whose plan is no longer what was shown."""
    job = Job.objects.get(id=job_id)
    parameters = {**job.parameters, "seen": None}
    return enqueue(
        kind=job.kind,
        title=preview_title(job.title),
        parameters=parameters,
        subject_id=job.subject_id,
        key=key_of(job.kind, parameters),
        requested_by=job.requested_by,
        now=now,
    )


def preview_title(title: str) -> str:
    """Return the title of the preview of what a job with a title would do."""
    return f"Preview: {title[:1].lower()}{title[1:]}"


def key_of(kind: str, parameters: dict[str, Any]) -> str:
    """Name equal work: the same look, or what was agreed to after the same look."""
    seen = parameters["seen"]
    of_preview = seen and seen["job"]
    return hashed_key(kind, parameters["table_id"], parameters["asked"], of_preview)
