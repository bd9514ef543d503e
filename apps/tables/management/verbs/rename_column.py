"""`deltaweb table rename-column`: give a column another name."""

from django.core.management.base import CommandParser

from apps.pages.command import Output, Subcommand
from apps.tables.management.arguments import locate
from apps.tables.management.commit_output import committed
from apps.tables.storage.opening import open_location


class Verb(Subcommand):
    """Give a column another name, where files know columns by others."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("column", metavar="column", help="a.b for a nested one")
        parser.add_argument("new_name", metavar="new-name")

    def run(self, *, table: str, column: str, new_name: str, **_: object) -> Output:
        """Rename a column; no file is written again."""
        name, location = locate(table)
        result = open_location(location).rename_column(column, new_name)
        return committed(
            "table.rename_column",
            name,
            location,
            result,
            column=column,
            new_name=new_name,
        )
