"""`deltaweb doctor`: checks a set-up, and says what to do."""

import sys

from django.core.management.base import BaseCommand, CommandParser

from apps.operate.doctor.checks import FAIL, SetupOptions, examine
from apps.pages.responses import to_json
from deltaweb.environment.command_lines import COMMANDS
from deltaweb.management import UNLISTED


class Command(BaseCommand):
    """Check a set-up; exit with 1 if a part fails."""

    help = COMMANDS["doctor"]
    requires_system_checks: list[str] = []
    suppressed_base_arguments = {*UNLISTED}

    def add_arguments(self, parser: CommandParser) -> None:
        """Read the options."""
        parser.add_argument("--json", action="store_true", help="answer as JSON")
        parser.add_argument(
            "--url",
            default="",
            metavar="URL",
            help="request this public address as users do, through the proxy",
        )
        parser.add_argument(
            "--mail", default="", metavar="ADDRESS", help="send a mail to this address"
        )

    def handle(self, *, json: bool, url: str, mail: str, **_: object) -> None:
        """Print what each check found."""
        report = examine(SetupOptions(url=url.rstrip("/"), mail_to=mail))
        if json:
            self.stdout.write(to_json(report, indent=2))
        else:
            for one in report.findings:
                self.stdout.write(f"{one.state:<5} {one.check:<10} {one.says}")
                if one.todo:
                    self.stdout.write(f"{'':<16} {one.todo}")
        if report.state == FAIL:
            sys.exit(1)
