"""`deltaweb table remove`: forget a table."""

from django.core.management.base import CommandParser

from deltaweb.web.pages.actions import command_stamp
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.catalogue.registration import (
    check_removable,
    find_table,
    remove_table,
)


class Verb(WritingVerb):
    """Forget a table; its files stay."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")

    def run(self, *, name: str, dry_run: bool) -> Output:
        """Forget a table after asking."""
        table = find_table(name)
        check_removable(table)
        data = {"name": table.full_name, "location": table.location}
        if dry_run:
            said = f"Would remove {table.full_name}; its files would not be touched."
            return Output(data | {"removed": False}, said)
        self.ask(f"Remove {table.full_name} from the catalog?")
        remove_table(table, stamp=command_stamp())
        said = f"Removed {table.full_name}; its files were not touched."
        return Output(data | {"removed": True}, said)
