"""The ends of jobs in the database, and what follows a failure in one transaction."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.jobs.models import Job
from apps.pages.registry import Registry

if TYPE_CHECKING:
    from apps.jobs.models import JobQuerySet

# Called with the row of a job that has just failed; it does not raise.
followers: Final[Registry[Callable[[Job, datetime], None]]] = Registry()


def write_end(
    job_id: str | UUID, held: "JobQuerySet", fields: Mapping[str, object]
) -> bool:
    """Write the end of a job, and do what follows if it is a failure.

    Args:
        held: The row, as long as it is the caller's to write.

    Returns:
        Whether it was the caller's.
    """
    if fields.get("state") != Job.State.FAILED:
        return bool(held.update(**fields))
    with transaction.atomic():
        if not held.update(**fields):
            return False
        job, now = Job.objects.get(id=job_id), timezone.now()
        for follow in followers:
            follow(job, now)
    return True
