"""`deltaweb worker`: a process that runs jobs."""

import warnings

from celery.platforms import SecurityWarning
from django.core.management.base import BaseCommand, CommandParser

from apps.jobs.running.retirement import begin_anew
from deltaweb.celery import app
from deltaweb.environment.checks import AT_START

QUEUES = "default,spark"


class Command(BaseCommand):
    """Run a Celery worker; threads share its one Spark session."""

    help = "Run jobs from the queues."
    requires_system_checks = AT_START

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the queues and the number of threads."""
        parser.add_argument("--queues", default=QUEUES, help=f"default: {QUEUES}")
        parser.add_argument("--threads", type=int, default=2)

    def handle(self, *, queues: str, threads: int, **_: object) -> None:
        """Run until a signal stops the worker."""
        # Celery warns of root because of pickle; this worker accepts JSON alone.
        warnings.filterwarnings("ignore", category=SecurityWarning)
        arguments = [
            *("--quiet", "worker", "--pool", "threads", "--concurrency", str(threads)),
            *("--queues", queues, "--loglevel", "warning"),
            *("--hostname", f"{queues.replace(',', '-')}@%h"),
            *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        ]
        try:
            app.worker_main(arguments)
        finally:
            from apps.jobs.tasks import retirement  # noqa: PLC0415 (models load before)

            if retirement.is_due:
                begin_anew()
