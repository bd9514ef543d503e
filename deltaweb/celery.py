"""The Celery application; workers and beat start from it."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready, worker_shutdown

from apps.jobs.broker import file_broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deltaweb.settings")
file_broker.register()
# As `deltaweb.environment.checks` has it: Celery would make all checks of the site.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("deltaweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _start_heartbeat(sender: Any = None, **_: object) -> None:  # noqa: ANN401 (Celery's consumer)
    from apps.jobs.running import apart  # noqa: PLC0415 (models load before)
    from apps.jobs.sweep import heartbeat  # noqa: PLC0415 (as above)

    apart.begin()
    heartbeat.start(sender.app.amqp.queues.consume_from if sender else ())


@worker_shutdown.connect  # type: ignore[untyped-decorator]  # As above.
def _stop_heartbeat(**_: object) -> None:
    from apps.jobs.sweep import heartbeat  # noqa: PLC0415 (models load before)

    heartbeat.stop()
