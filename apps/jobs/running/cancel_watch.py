"""Whether someone has asked to cancel jobs: one question for all of a worker's."""

import logging
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from apps.jobs.models import Job
from apps.jobs.running.database_faults import DATABASE_FAULTS, let_go
from apps.jobs.running.held_lease import HeldLease

if TYPE_CHECKING:
    import uuid
from deltaweb.environment.outages import lost_database

logger = logging.getLogger(__name__)

LOOK_INTERVAL_S: Final = 0.5  # between two questions to the database


class CancelWatch:
    """Looks for all of its jobs whenever one of them is asked about, not too often."""

    def __init__(self, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._leases: dict[uuid.UUID, HeldLease] = {}
        self._asked: set[uuid.UUID] = set()
        self._looked_at_s = -math.inf

    def add(self, lease: HeldLease, *, is_asked: bool | None = None) -> None:
        """Watch a job, too; the first look is never put off.

        Args:
            is_asked: Whether the only job that is watched is cancelled, as its row said
                just now: that was the first look.
        """
        self._leases[lease.job_id] = lease
        self._looked_at_s = -math.inf if is_asked is None else self._monotonic_s()
        if is_asked:
            self._asked.add(lease.job_id)

    def is_asked(self, lease: HeldLease) -> bool:
        """Tell whether someone has asked to cancel a job; cheap to call in a loop."""
        now_s = self._monotonic_s()
        if now_s - self._looked_at_s >= LOOK_INTERVAL_S:
            self._looked_at_s = now_s
            self._look()
        return lease.job_id in self._asked

    def _look(self) -> None:
        held = {id_: one for id_, one in self._leases.items() if not one.has_ended}
        self._leases = held
        asked = Job.objects.filter(
            id__in=held, state=Job.State.RUNNING, cancel_requested_at__isnull=False
        )
        try:
            rows = list(asked.values_list("id", "lease_owner"))
        except DATABASE_FAULTS as error:
            lost = lost_database(error)
            logger.warning("It is unknown whether jobs are cancelled.", exc_info=lost)
            let_go()
            return
        self._asked |= {id_ for id_, owner in rows if owner == held[id_].owner}
