"""`deltaweb table widen-column`: give a column a wider type."""

from django.core.management.base import CommandParser

from apps.pages.command import Output, Subcommand
from apps.tables.management.arguments import locate
from apps.tables.management.commit_output import committed
from apps.tables.storage.opening import open_location


class Verb(Subcommand):
    """Give a column a wider type, where the table lets types change."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument(
            "column", help="a.b for a nested one; a.element, m.key, m.value"
        )
        parser.add_argument("type", help="the wider type, such as BIGINT")

    def run(self, *, table: str, column: str, type: str, **_: object) -> Output:  # noqa: A002  # what it is called for users
        """Widen a column; no file is written again."""
        name, location = locate(table)
        result = open_location(location).widen_column(column, type)
        return committed(
            "table.widen_column", name, location, result, column=column, type=type
        )
