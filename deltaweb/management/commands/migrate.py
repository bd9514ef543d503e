"""`deltaweb migrate`: Django's command, without the checks that load every page."""

from typing import Any

from django.core.management.commands import migrate
from django.db import connections

from apps.pages.first_use import has_tables, locked_for_migration
from deltaweb.environment.checks import AT_START
from deltaweb.management import UNLISTED


class Command(migrate.Command):
    """Migrate; a check of the whole site would be most of the time.

    Attributes:
        has_created: Whether the database had no table before.
    """

    help = "Upgrade the database to this version; serve does this as well."
    requires_system_checks = AT_START
    suppressed_base_arguments = {*UNLISTED}
    has_created = False

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 (as argparse read them)
        """Migrate while no other process does."""
        with locked_for_migration():
            self.has_created = not has_tables(connections[options["database"]])
            super().handle(*args, **options)
