"""Wake-ups: the messages that tell a worker that a job waits.

The Job row is the truth, so a wake-up may be lost, doubled or late. A broker that is
down must neither fail nor hold up the request that asked for the work: sending gives
up within a few seconds, and the sweep delivers later.
"""

import logging
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from apps.jobs.kinds import all_kinds, is_aside, queue_of
from apps.jobs.models import Job
from deltaweb.environment.outages import BROKER, outages

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 2
PAUSE_AFTER_FAILURE_S = 10
KEPT_S: Final = 30.0  # a connection without use; brokers and their proxies cut later


def celery_application() -> Any:  # noqa: ANN401 (Celery is untyped)
    """Return the application that sends wake-ups; the first call takes a while."""
    return import_string(settings.JOBS_APPLICATION)


def load() -> None:
    """Load what the first wake-up would wait for; connect to nothing."""
    app = celery_application()
    _connection(app).get_transport_cls()
    _ = app.backend, app.amqp.router, app.amqp.send_task_message


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


class _Kept(threading.local):
    """The connection of a thread, for the wake-ups that follow soon.

    To make one takes ten times as much of a processor as to send a wake-up by it.
    """

    def __init__(self) -> None:
        self._connection: Any = None
        self._made_for: tuple[object, ...] = ()
        self._used_at_s = 0.0

    def open(self, app: Any) -> tuple[Any, bool]:  # noqa: ANN401 (Celery's)
        """Return a connection, and whether it is new."""
        conf = app.conf
        options = str(conf.broker_transport_options)
        wanted = os.getpid(), conf.broker_url, conf.broker_transport, options
        now_s = time.monotonic()
        is_new = self._made_for != wanted or now_s - self._used_at_s > KEPT_S
        if is_new:
            self.close()
            self._connection, self._made_for = _connection(app), wanted
        self._used_at_s = now_s
        return self._connection, is_new

    def close(self) -> None:
        """Let go of it; that it is broken is no fault of the next one."""
        connection, self._connection, self._made_for = self._connection, None, ()
        if connection is not None:
            with suppress(Exception):
                connection.release()


_kept = _Kept()


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
        logger.info("The broker was down; the sweep wakes %s.", jobs[0].id)
        _leave_to_sweep(jobs)
        return 0
    sent = 0
    try:
        for job in jobs:
            _send(app, job, on_to)
            sent += 1
    except Exception as error:  # noqa: BLE001 (each transport raises its own kinds)
        pause.begin()
        # The jobs wait in the database, and the sweep delivers them later.
        outages.began(BROKER, f"{type(error).__name__}: {error}")
        _leave_to_sweep(jobs[sent:])
    else:
        pause.end()
        outages.ended(BROKER)
    return sent


def _send(app: Any, job: Job, on_to: str) -> None:  # noqa: ANN401 (Celery's)
    """Send one wake-up; a connection that was cut since its last use is made again."""
    queue = on_to or queue_of(job)
    asked = {"queue": queue, "is_handed_on": bool(on_to)}
    if not on_to and is_aside(job):
        asked["is_aside"] = True
    connection, is_new = _kept.open(app)
    try:
        app.send_task(
            job.kind,
            kwargs={"job_id": str(job.id), **asked},
            queue=queue,
            connection=connection,
            retry=False,
            ignore_result=True,
        )
    except Exception:
        _kept.close()
        if is_new:
            raise
        _send(app, job, on_to)


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
