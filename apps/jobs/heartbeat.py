"""A worker says that it lives, and sweeps once when it starts.

Celery's signals start it in worker processes alone; a web process only imports it.
"""

import logging
import threading
from collections.abc import Sequence
from typing import Any

from celery.signals import worker_ready, worker_shutdown
from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from apps.jobs.leases import sweep
from apps.jobs.models import Worker
from apps.jobs.process import process_name

logger = logging.getLogger(__name__)

INTERVAL_S = 5
STOP_TIMEOUT_S = 5

_stop = threading.Event()
_threads: list[threading.Thread] = []


def connect() -> None:
    """Wait for Celery to say that this process is a worker."""
    worker_ready.connect(start)
    worker_shutdown.connect(stop)


def start(sender: Any = None, **_: object) -> None:  # noqa: ANN401 (Celery's consumer)
    """Begin to write this worker's row, in a thread that ends with the process."""
    _stop.clear()
    queues = sorted(sender.app.amqp.queues.consume_from) if sender else []
    thread = threading.Thread(
        target=_beat, args=(queues,), name="heartbeat", daemon=True
    )
    _threads.append(thread)
    thread.start()


def stop(**_: object) -> None:
    """Take the worker's row away: it leaves in good order."""
    _stop.set()
    while _threads:
        _threads.pop().join(STOP_TIMEOUT_S)  # or its last beat would bring the row back
    try:
        Worker.objects.filter(name=process_name()).delete()
    except (DatabaseError, InterfaceError):
        logger.warning("This worker's row stays behind until it is forgotten.")


def beat_once(queues: Sequence[str] = ()) -> None:
    """Write that this worker is alive now, and takes jobs from these queues."""
    now = timezone.now()
    seen = {"seen_at": now, "queues": list(queues)}
    Worker.objects.update_or_create(
        name=process_name(),
        defaults=seen,
        create_defaults={**seen, "started_at": now},
    )


def _beat(queues: Sequence[str]) -> None:
    swept = False
    while True:
        try:
            beat_once(queues)
            if not swept:
                sweep(now=timezone.now())
                swept = True
        except (DatabaseError, InterfaceError):
            logger.warning("The heartbeat was not written.", exc_info=True)
            connection.close()
        if _stop.wait(INTERVAL_S):
            connection.close()
            return
