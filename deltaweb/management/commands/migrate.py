"""`deltaweb migrate`: Django's command, without the checks that load every page."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.core.management.commands import migrate
from django.db import connections
from django.utils import timezone

from apps.pages.first_use import has_tables, locked_for_migration
from deltaweb.environment.checks import AT_START
from deltaweb.management import UNLISTED
from deltaweb.management.migrating import before_migration, limited_migrations


class Command(migrate.Command):
    """Migrate; a check of the whole site would be most of the time.

    Attributes:
        has_created: Whether the database had no table before.
    """

    help = "Upgrade the database to this version; serve does this as well."
    requires_system_checks = AT_START
    suppressed_base_arguments = {*UNLISTED}
    has_created = False

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what Django takes, and whether to copy the database first."""
        super().add_arguments(parser)
        parser.add_argument(
            "--no-backup",
            dest="backup",
            action="store_false",
            help="make no copy first: the database has its own backups",
        )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 (as argparse read them)
        """Migrate while no other process does, after a copy."""
        is_kept = options.pop("backup", True)
        only_shows = options["plan"] or options["check_unapplied"]
        with locked_for_migration():
            self.has_created = not has_tables(connections[options["database"]])
            if is_kept and not only_shows:
                copy = before_migration(settings.HOME, timezone.now())
                if copy is not None:
                    self.stderr.write(f"Kept a copy of the database in {copy}")
            with limited_migrations():
                super().handle(*args, **options)
