"""`deltaweb backup FILE`: all that a server needs to begin again, in one file."""

import sys
from argparse import ArgumentParser
from getpass import getpass
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from apps.pages.command import Error
from deltaweb.environment.checks import AT_START
from deltaweb.environment.command_lines import COMMANDS
from deltaweb.management import UNLISTED
from deltaweb.management.backups.errors import BackupError, PassphraseMissingError
from deltaweb.management.backups.writing import write_backup
from deltaweb.words import counted

PASSPHRASE: Final = "DELTAWEB_BACKUP_PASSPHRASE"  # noqa: S105 (a name)
WARNING: Final = "It holds every secret of this server: keep it closed to others."


class Command(BaseCommand):
    """Back the database and the secret key up while the server runs."""

    help = COMMANDS["backup"]
    requires_system_checks = AT_START
    suppressed_base_arguments = {*UNLISTED}

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file."""
        parser.add_argument("file", metavar="FILE", help="a new file")
        parser.add_argument("--plain", action="store_true", help="do not encrypt it")
        add_passphrase(parser)

    def handle(
        self, *, file: str, plain: bool, passphrase_file: str | None, **_: object
    ) -> None:
        try:
            passphrase = None if plain else new_passphrase(passphrase_file)
            counts = write_backup(Path(file), passphrase=passphrase, now=timezone.now())
        except BackupError as error:
            raise Error(str(error)) from error
        except OSError as error:
            message = f"{file} cannot be written: {error.strerror}."
            raise Error(message) from error
        rows = sum(counts.values())
        state = "not encrypted" if plain else "encrypted"
        self.stdout.write(f"Wrote {file}: {counted(rows, 'row')}, {state}. {WARNING}")


def add_passphrase(parser: ArgumentParser) -> None:
    """Let a command take a passphrase from a file, never from its line."""
    parser.add_argument(
        "--passphrase-file",
        metavar="FILE",
        help=f"a file with the passphrase; without, {PASSPHRASE}, or a question",
    )


def known_passphrase(file: str | None) -> str:
    """Return the passphrase of a file or a variable, or ask for it."""
    if file is not None:
        try:
            found = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            message = f"The passphrase in {file} cannot be read."
            raise Error(message) from error
    else:
        found = settings.BACKUP_PASSPHRASE
        if not found and sys.stdin.isatty():
            found = getpass("Passphrase: ")
    if not found:
        raise PassphraseMissingError
    return found


def new_passphrase(file: str | None) -> str:
    """Return the passphrase of a new file; one that is typed is asked for twice."""
    is_asked = file is None and not settings.BACKUP_PASSPHRASE
    found = known_passphrase(file)
    if is_asked and getpass("Passphrase again: ") != found:
        message = "The two passphrases differ."
        raise Error(message)
    return found
