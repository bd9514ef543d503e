"""`deltaweb web`: the web server alone."""

import os
import sys

from django.core.management.base import BaseCommand, CommandParser

from deltaweb.environment.checks import AT_START
from deltaweb.management import UNLISTED
from deltaweb.management.gunicorn_line import gunicorn_line, own_address


class Command(BaseCommand):
    """Run gunicorn on one address, in place of this process."""

    help = "Serve the pages and the sharing protocol."
    requires_system_checks = AT_START
    suppressed_base_arguments = {*UNLISTED}

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--bind",
            metavar="ADDRESS",
            default=own_address(),
            help="address and port (%(default)s)",
        )

    def handle(self, *, bind: str, **_: object) -> None:
        os.execv(sys.executable, gunicorn_line(bind))  # noqa: S606 (no shell is wanted)
