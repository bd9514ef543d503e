"""`deltaweb beat`: the clock that wakes periodic work."""

from django.core.management.base import BaseCommand

from deltaweb.celery import app
from deltaweb.environment.checks import AT_START
from deltaweb.management import UNLISTED


class Command(BaseCommand):
    """Run Celery's beat: one in an installation."""

    help = "Send the periodic tasks: probes of tables, sweeps of lost jobs."
    requires_system_checks = AT_START
    suppressed_base_arguments = {*UNLISTED}

    def handle(self, **_: object) -> None:
        """Run until a signal stops it."""
        app.start(["--quiet", "beat", "--loglevel", "warning", "--pidfile", ""])
