"""`deltaweb table changes`: the rows that versions inserted, updated and deleted."""

from typing import Any

from django.core.management.base import CommandParser

from deltaweb.web.pages.command import Output, Subcommand
from deltaweb.web.tables.management.arguments import (
    SQL_OF_UTC,
    add_time_zone,
    locate,
    whole_number,
)
from deltaweb.web.tables.management.options.row_options import (
    RowOptions,
    add_row_options,
)
from deltaweb.web.tables.storage.opening import open_location


class Verb(Subcommand):
    """Print the rows that each version of a range inserted, updated and deleted."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        for name, which in (("from", "first"), ("to", "last")):
            parser.add_argument(
                f"--{name}",
                dest=which,
                metavar="N|T",
                help=f"the {which} version, or a time such as 2026-01-31T12:00:00Z",
            )
        add_row_options(parser, example="_change_type = 'delete'")
        add_time_zone(parser, of=f"--from, --to and {SQL_OF_UTC}")

    def run(
        self,
        *,
        table: str,
        first: str | None,
        last: str | None,
        time_zone: str | None,
        **of_rows: Any,  # noqa: ANN401  # as argparse read them
    ) -> Output:
        """Print the changes of a range of versions or times, both ends included."""
        asked = RowOptions.of(self, **of_rows)
        (start, start_time), (end, end_time) = map(_version_or_time, (first, last))
        reader = open_location(locate(table)[1], time_zone=time_zone).changes(
            start,
            end,
            start_timestamp=start_time,
            end_timestamp=end_time,
            columns=asked.columns,
            predicate=asked.where,
        )
        return asked.answer(self, reader.schema, iter(reader))


def _version_or_time(text: str | None) -> tuple[int | None, str | None]:
    """Read an end of the range."""
    if text is None:
        return None, None
    if text.isascii() and text.isdigit():
        return whole_number(text), None
    return None, text
