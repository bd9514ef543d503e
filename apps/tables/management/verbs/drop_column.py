"""`deltaweb table drop-column`: take a column out of the rows of a table."""

from django.core.management.base import CommandParser

from apps.pages.command import Output, Subcommand
from apps.tables.management.arguments import locate
from apps.tables.management.commit_output import committed
from apps.tables.storage.opening import open_location


class Verb(Subcommand):
    """Take a column out of the rows, where files know columns by other names."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("column", metavar="column", help="a.b for a nested one")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, *, table: str, column: str, yes: bool, **_: object) -> Output:
        """Drop a column; its values stay in files, and in the versions before."""
        name, location = locate(table)
        self.confirm(f"Drop the column {column} of {location}?", yes=yes)
        result = open_location(location).drop_column(column)
        return committed("table.drop_column", name, location, result, column=column)
