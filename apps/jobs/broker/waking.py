"""Wake-ups: the messages that tell a worker that a job waits.

The Job row is the truth, so a wake-up may be lost, doubled or late. A broker that is
down must neither fail nor hold up the request that asked for the work: sending gives
up within a few seconds, and the sweep delivers later.
"""

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from deltaweb.web.jobs.kinds import all_kinds, queue_of
from deltaweb.web.jobs.models import Job

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 2
PAUSE_AFTER_FAILURE_S = 10


def celery_application() -> Any:  # noqa: ANN401 (Celery is untyped)
    """Return the application that sends wake-ups; the first call takes a while."""
    return import_string(settings.JOBS_APPLICATION)


class _Pause:
    """Keeps a process from knocking again at once at a broker that is down."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until = 0.0

    def begin(self) -> None:
        with self._lock:
            self._until = time.monotonic() + PAUSE_AFTER_FAILURE_S

    def is_on(self) -> bool:
        with self._lock:
            return time.monotonic() < self._until

    def end(self) -> None:
        with self._lock:
            self._until = 0.0


pause = _Pause()


def wake_on_commit(job: Job) -> None:
    """Send the job's wake-up once the transaction that made its row commits."""
    transaction.on_commit(lambda: wake([job]), robust=True)


def wake(jobs: Sequence[Job], *, on_to: str = "") -> int:
    """Send a wake-up for each job and return how many the broker took.

    Args:
        on_to: The queue of those workers that have what the jobs have turned out to
            need; they are done in the worker's own process then.
    """
    if not jobs:
        return 0
    app = celery_application()
    if app.conf.task_always_eager:
        for job in jobs:
            all_kinds()[job.kind].work(job.id)
        return len(jobs)
    if pause.is_on():
        logger.info("The broker was down just now; the sweep wakes %s.", jobs[0].id)
        _leave_to_sweep(jobs)
        return 0
    sent = 0
    try:
        with _connection(app) as connection:
            for job in jobs:
                queue = on_to or queue_of(job)
                asked = {"queue": queue, "is_handed_on": bool(on_to)}
                app.send_task(
                    job.kind,
                    kwargs={"job_id": str(job.id), **asked},
                    queue=queue,
                    connection=connection,
                    retry=False,
                    ignore_result=True,
                )
                sent += 1
    except Exception as error:  # noqa: BLE001 (each transport raises its own kinds)
        pause.begin()
        logger.warning(
            "The broker did not take the wake-up of job %s (%s: %s)."
            " The job waits in the database; the sweep delivers it later.",
            jobs[sent].id,
            type(error).__name__,
            error,
        )
        _leave_to_sweep(jobs[sent:])
    else:
        pause.end()
    return sent


def _leave_to_sweep(jobs: Sequence[Job]) -> None:
    ids = [job.id for job in jobs]
    Job.objects.filter(id__in=ids).update(woken_at=None)


def _connection(app: Any) -> Any:  # noqa: ANN401 (Celery and kombu are untyped)
    """Make a connection of its own that gives up soon.

    Celery's pooled connections try for ever to reach a broker, which would hang a
    request; the limits can only be given to a connection when it is made.
    """
    options: dict[str, Any] = {
        "max_retries": 0,
        "connect_retries_timeout": CONNECT_TIMEOUT_S,
    }
    if app.conf.broker_url.startswith("redis"):
        options["socket_connect_timeout"] = CONNECT_TIMEOUT_S
        options["socket_timeout"] = CONNECT_TIMEOUT_S
    return app.connection_for_write(
        connect_timeout=CONNECT_TIMEOUT_S, transport_options=options
    )
