"""The Celery application; workers and beat start from it."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down

from deltaweb.environment import site  # noqa: F401  # the apps are found by it

# isort: split
from apps.jobs import running

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deltaweb.settings")
# As `deltaweb.environment.checks` has it: Celery would make all checks of the site.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("deltaweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.heartbeat = None  # of a worker, while it runs


@worker_ready.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _start_heartbeat(sender: Any = None, **_: object) -> None:  # noqa: ANN401 (Celery's consumer)
    from apps.jobs.kind import Queue  # noqa: PLC0415 (models load before)
    from apps.jobs.sweep import Heartbeat  # noqa: PLC0415 (as above)

    queues = sender.app.amqp.queues.consume_from if sender else ()
    # As many wait for the next look as look at once: with fewer, those of people who
    # come together end and are made again, job after job.
    looks = Queue.INTERACTIVE in queues
    running.apart.begin(num_kept=sender.pool.limit if looks else 0)
    app.heartbeat = Heartbeat(queues)


@worker_shutting_down.connect  # type: ignore[untyped-decorator]  # As above.
def _wait_no_more(**_: object) -> None:
    from apps.jobs.broker import file_broker  # noqa: PLC0415 (workers have it)

    file_broker.wait_no_more()


@worker_shutdown.connect  # type: ignore[untyped-decorator]  # As above.
def _stop_heartbeat(**_: object) -> None:
    if app.heartbeat is not None:
        app.heartbeat.stop()
