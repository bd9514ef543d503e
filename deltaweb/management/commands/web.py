"""`deltaweb web`: the web server alone."""

import os
import sys

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from deltaweb.environment.checks import AT_START


def own_address() -> str:
    """Return where one machine serves."""
    return f"127.0.0.1:{settings.PORT}"


class Command(BaseCommand):
    """Run gunicorn on one address, in place of this process."""

    help = "Serve the pages and the sharing protocol."
    requires_system_checks = AT_START

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the address."""
        parser.add_argument("--bind", default=own_address())

    def handle(self, *, bind: str, **_: object) -> None:
        """Become gunicorn."""
        os.execv(sys.executable, server_command(bind))  # noqa: S606 (no shell is wanted)


def server_command(bind: str) -> list[str]:
    """Return what runs gunicorn; its threads serve streams while others wait."""
    return [
        *(sys.executable, "-m", "gunicorn", "deltaweb.serving.wsgi:application"),
        *("--config", "python:deltaweb.serving.server", "--bind", bind),
        *("--worker-class", "deltaweb.serving.worker.PatientWorker"),
        *("--workers", str(settings.WEB_PROCESSES)),
        *("--threads", str(settings.WEB_THREADS)),
        # Once for all processes, whose first answers then wait for nothing.
        "--preload",
        # Nobody uses it, and it stands in the home of the user.
        "--no-control-socket",
        # More than descriptors allow: the worker takes what there is.
        *("--worker-connections", "8192"),
        # An address may name hundreds of columns.
        *("--limit-request-line", "8190"),
        *("--graceful-timeout", "5", "--timeout", "120"),
        *("--log-level", "warning"),
    ]
