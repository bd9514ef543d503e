"""`deltaweb table remove`: forget a table."""

from django.core.management.base import CommandParser
from django.utils import timezone

from apps.pages.actions import COMMAND_LINE
from apps.pages.command import Output, Subcommand
from apps.tables.catalogue.registration import (
    check_removable,
    find_table,
    remove_table,
)


class Verb(Subcommand):
    """Forget a table; its files stay."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, *, name: str, yes: bool, **_: object) -> Output:
        """Forget a table after asking."""
        table = find_table(name)
        check_removable(table)
        self.confirm(f"Remove {table.full_name} from the catalog?", yes=yes)
        remove_table(table, actor=COMMAND_LINE, now=timezone.now())
        data = {"name": table.full_name, "location": table.location, "removed": True}
        return Output(data, f"Removed {table.full_name}; its files were not touched.")
