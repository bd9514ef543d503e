"""The lease of a worker on a job: taking it, renewing it, writing the row by it.

The row is written by whoever holds the lease and by nobody else: every write names it.
"""

import threading
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F

from apps.jobs.models import Job
from apps.jobs.running.database_faults import persistently
from apps.jobs.running.failures import write_end
from apps.jobs.running.news import tell_moved
from apps.jobs.running.process import process_name
from apps.jobs.running.renewal import renewing
from apps.jobs.running.row_texts import begun_step
from apps.operate.switches.state import JOBS, off_sentence


class LeaseLostError(Exception):
    """Another worker may have taken the job: stop, and write nothing."""


class HeldLease:
    """A worker's right to work on a job.

    Attributes:
        owner: What its row calls this lease: the process, and one of its leases.
        is_lost: Set once a write has found that the job is another's.
        has_ended: Whether the job's end is written, and nothing is renewed any more.
    """

    def __init__(
        self, job_id: uuid.UUID, *, owner: str, clock: Callable[[], datetime]
    ) -> None:
        self.is_lost = threading.Event()
        self.has_ended = False
        self.job_id = job_id
        self.owner = owner
        self._clock = clock

    def holds(self) -> Any:  # noqa: ANN401 (the stubs know it as a QuerySet of Job)
        """The job's row, as long as it is this worker's."""
        return Job.objects.filter(
            id=self.job_id, state=Job.State.RUNNING, lease_owner=self.owner
        )

    def write(self, fields: dict[str, Any]) -> None:
        """Write columns of the row, and renew the lease with them."""
        if not self._update(fields):
            raise LeaseLostError
        if fields:
            tell_moved(self.job_id)

    def end(self, fields: dict[str, Any]) -> bool:
        """Write the end of the work and give the lease back.

        Returns:
            Whether it was written: the lease may be lost.
        """
        fields = {**fields, "lease_owner": "", "lease_expires_at": None}
        written = persistently(lambda: write_end(self.job_id, self.holds(), fields))
        self.has_ended = True
        if written:
            is_over = fields.get("state") not in Job.ACTIVE_STATES
            tell_moved(self.job_id, is_over=is_over)
        return written

    def renewing(self) -> AbstractContextManager[None]:
        """Renew the lease in a thread for as long as the block runs."""
        return renewing(
            lambda: not self.has_ended and self._update({}), name=f"job {self.job_id}"
        )

    def _update(self, fields: dict[str, Any]) -> bool:
        expires_at = self._clock() + _lease()
        is_ours = bool(self.holds().update(**fields, lease_expires_at=expires_at))
        if not is_ours:
            self.is_lost.set()
        return is_ours


def take_lease(
    job_id: str | uuid.UUID, *, clock: Callable[[], datetime], first_step: str = ""
) -> tuple[HeldLease, Job] | None:
    """Take a queued job; None when it is not there to be taken.

    One UPDATE decides, so of two workers that try only one gets the job.

    Args:
        first_step: What is begun with, where that is known.

    Returns:
        The lease, and the row as it is then.
    """
    if off_sentence(JOBS) is not None:
        return None  # the sweep wakes it again
    now = clock()
    owner = f"{process_name()}#{uuid.uuid4().hex[:8]}"
    waiting = Job.objects.filter(id=job_id, state=Job.State.QUEUED)
    taken = persistently(
        lambda: waiting.update(
            state=Job.State.RUNNING,
            lease_owner=owner,
            lease_expires_at=now + _lease(),
            started_at=now,
            attempts=F("attempts") + 1,
            step=first_step,
            steps=[begun_step(first_step, now)] if first_step else [],
            counters={},
            progress_done=0,
            progress_total=None,
            progress_unit="",
        )
    )
    if not taken:
        return None
    tell_moved(job_id)
    row = persistently(lambda: Job.objects.get(id=job_id))
    return HeldLease(row.id, owner=owner, clock=clock), row


def _lease() -> timedelta:
    return timedelta(seconds=settings.JOB_LEASE_S)
