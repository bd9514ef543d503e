"""`deltaweb restore FILE`: put a backup in place of the database."""

from datetime import datetime
from pathlib import Path

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from apps.operate.restored.changes import decision_lines, restoration_resource
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.pages.command import Error
from deltaweb.environment.checks import AT_START
from deltaweb.environment.command_lines import COMMANDS
from deltaweb.management import UNLISTED
from deltaweb.management.backups.errors import BackupError
from deltaweb.management.backups.restoring import restore_backup
from deltaweb.management.commands.backup import add_passphrase, known_passphrase
from deltaweb.words import counted


class Command(BaseCommand):
    """Restore a backup of any database engine."""

    help = COMMANDS["restore"]
    requires_system_checks = AT_START
    suppressed_base_arguments = {*UNLISTED}

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file."""
        parser.add_argument("file", metavar="FILE", help="made by deltaweb backup")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="replace a database that is in use: all that is in it is lost",
        )
        add_passphrase(parser)

    def handle(
        self, *, file: str, replace: bool, passphrase_file: str | None, **_: object
    ) -> None:
        try:
            done = restore_backup(
                Path(file),
                passphrase=lambda: known_passphrase(passphrase_file),
                replace=replace,
                stamp=Stamp(COMMAND_LINE, timezone.now()),
            )
        except BackupError as error:
            raise Error(str(error)) from error
        except OSError as error:
            message = f"{file} cannot be read: {error.strerror}. Nothing was changed."
            raise Error(message) from error
        made_at = datetime.fromisoformat(done.head.made_at)
        self.stdout.write(
            f"Restored {counted(sum(done.counts.values()), 'row')} of"
            f" {made_at:%Y-%m-%d %H:%M} UTC, which version {done.head.made_by} wrote"
            f" from {done.head.engine}."
        )
        if done.damaged is not None:
            self.stdout.write(
                f"The damaged database is kept as {done.damaged}. Start again the"
                " servers and workers that ran with it."
            )
        found = restoration_resource(done.restoration, timezone.now())
        for line in decision_lines(found):
            self.stdout.write(line)
