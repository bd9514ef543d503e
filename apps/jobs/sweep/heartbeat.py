"""A worker says that it lives, and sweeps once when it starts.

Celery's signals start it, in worker processes alone.
"""

import logging
import threading
from collections.abc import Iterable, Sequence

from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from deltaweb.web.jobs.models import Worker
from deltaweb.web.jobs.running.process import process_name
from deltaweb.web.jobs.sweep.leases import sweep

logger = logging.getLogger(__name__)

INTERVAL_S = 5
STOP_TIMEOUT_S = 5


class Heartbeat:
    """Writes a worker's row again and again, in a thread that ends with the process.

    Args:
        queues: The names of the queues that the worker takes jobs from.
    """

    def __init__(self, queues: Iterable[str] = ()) -> None:
        self._queues = sorted(queues)
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._beat, name="heartbeat", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Take the worker's row away: it leaves in good order."""
        self._stop.set()
        self._thread.join(STOP_TIMEOUT_S)  # or its last beat would bring the row back
        try:
            Worker.objects.filter(name=process_name()).delete()
        except (DatabaseError, InterfaceError):
            logger.warning("This worker's row stays behind until it is forgotten.")

    def _beat(self) -> None:
        swept = False
        while True:
            try:
                beat_once(self._queues)
                if not swept:
                    sweep(now=timezone.now())
                    swept = True
            except (DatabaseError, InterfaceError):
                logger.warning("The heartbeat was not written.", exc_info=True)
                connection.close()
            if self._stop.wait(INTERVAL_S):
                connection.close()
                return


def beat_once(queues: Sequence[str] = ()) -> None:
    """Write that this worker is alive now, and takes jobs from these queues."""
    now = timezone.now()
    seen = {"seen_at": now, "queues": list(queues)}
    Worker.objects.update_or_create(
        name=process_name(),
        defaults=seen,
        create_defaults={**seen, "started_at": now},
    )
