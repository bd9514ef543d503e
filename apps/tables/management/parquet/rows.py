"""`deltaweb parquet rows`: the first rows of a file, by their types."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.management.base import CommandParser

from apps.pages.changes.parameters import whole_number
from apps.pages.command import Output, Subcommand
from apps.pages.lists.csv_lines import csv_line
from apps.pages.responses import to_json
from apps.tables.management.parquet_files import cell, open_file
from apps.tables.management.text_output import aligned, visible
from deltaweb.parquet import preview

DEFAULT_ROWS = 20


class RowsVerb(Subcommand):
    """Print the first rows of a file, or of one of its row groups."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", help="a path or a URL")
        parser.add_argument(
            "--row-group", type=whole_number, metavar="N", help="row group, from 0"
        )
        parser.add_argument(
            *("--limit",),
            type=whole_number,
            default=DEFAULT_ROWS,
            metavar="N",
            help=f"at most this many ({DEFAULT_ROWS})",
        )
        parser.add_argument(
            "--format", choices=["table", "csv", "json"], default="table"
        )

    def run(
        self,
        *,
        file: str,
        row_group: int | None,
        limit: int,
        format: str,  # noqa: A002 (the option's name is a promise)
    ) -> Output:
        """Print rows."""
        with open_file(file) as source:
            rows = preview(source, limit, row_group=row_group)
        if self.command.answers_json or format == "json":
            return Output(rows, text=to_json(rows, indent=2), is_exact=True)
        make_lines = {
            "csv": _csv_rows,
            "table": _table_rows,
        }[format]
        return Output(None, lines=make_lines(rows), is_exact=format == "csv")


def _table_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield an aligned table for people; a null is NULL."""
    if not rows:
        yield "No rows."
        return
    names = list(rows[0])
    cells = [
        ["NULL" if value is None else visible(cell(value)) for value in row.values()]
        for row in rows
    ]
    yield from aligned([visible(name) for name in names], cells)


def _csv_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield CSV lines, the header first; null is nothing, an empty text is quoted."""
    if not rows:
        return
    yield csv_line(list(rows[0]))
    for row in rows:
        yield csv_line(None if v is None else cell(v) for v in row.values())
