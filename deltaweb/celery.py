"""The Celery application; workers and beat start from it."""

import os
from typing import Any

from celery import Celery
from celery.bootsteps import StartStopStep
from celery.signals import (
    after_task_publish,
    beat_init,
    setup_logging,
    task_postrun,
    task_prerun,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)
from django.conf import settings

from deltaweb.environment import site  # noqa: F401  # the apps are found by it

# isort: split
from apps.jobs import running
from deltaweb.environment import logs
from deltaweb.environment.outages import BROKER, outages
from deltaweb.environment.start_lines import started

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deltaweb.settings")
# As `deltaweb.environment.checks` has it: Celery would make all checks of the site.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("deltaweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.heartbeat = None  # of a worker, while it runs


class BrokerAnswers(StartStopStep):  # type: ignore[misc]  # As Celery has no types.
    """Notes that the broker answers, each time that a worker connects to it."""

    requires = ("celery.worker.consumer.connection:Connection",)

    def start(self, _: Any) -> None:  # noqa: ANN401 (Celery's consumer)
        """Note it."""
        outages.ended(BROKER)


app.steps["consumer"].add(BrokerAnswers)


@after_task_publish.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _note_broker(**_: object) -> None:
    outages.ended(BROKER)


@setup_logging.connect  # type: ignore[untyped-decorator]  # As above.
def _keep_logging(**_: object) -> None:
    """Leave logging as the settings have it; Celery would set another level."""


def _say_start(process: str, work: dict[str, object] | None = None) -> None:
    started(
        process,
        version=settings.VERSION,
        database=settings.DATABASES["default"],
        broker=settings.BROKER_URL,
        work=work,
    )


@beat_init.connect  # type: ignore[untyped-decorator]  # As above.
def _say_start_of_clock(**_: object) -> None:
    _say_start("clock")


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
    if sender:
        names = ", ".join(sorted(map(str, queues)))
        _say_start("worker", {"concurrency": sender.pool.limit, "queues": names})


@worker_shutting_down.connect  # type: ignore[untyped-decorator]  # As above.
def _wait_no_more(**_: object) -> None:
    from apps.jobs.broker import file_broker  # noqa: PLC0415 (workers have it)

    file_broker.wait_no_more()


@worker_shutdown.connect  # type: ignore[untyped-decorator]  # As above.
def _stop_heartbeat(**_: object) -> None:
    if app.heartbeat is not None:
        app.heartbeat.stop()


@task_prerun.connect  # type: ignore[untyped-decorator]  # As above.
def _name_in_lines(kwargs: Any = None, **_: object) -> None:  # noqa: ANN401 (the task's arguments)
    """Give the lines of a task the id of its job, or else an id of a request."""
    job_id = (kwargs or {}).get("job_id", "")
    logs.job_id.set(job_id)
    logs.request_id.set("" if job_id else logs.new_request_id())


@task_postrun.connect  # type: ignore[untyped-decorator]  # As above.
def _name_no_more(**_: object) -> None:
    logs.job_id.set("")
    logs.request_id.set("")
