"""`deltaweb parquet rows`: the first rows of a file, by their types."""

from django.core.management.base import CommandParser

from deltaweb.parquet import preview
from deltaweb.web.pages.command import Output, Subcommand
from deltaweb.web.pages.responses import to_json
from deltaweb.web.tables.management import parquet_output
from deltaweb.web.tables.management.parquet_files import open_file
from deltaweb.web.tables.operations.parameters import whole_number

DEFAULT_ROWS = 20


class RowsVerb(Subcommand):
    """Print the first rows of a file, or of one of its row groups."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", help="a path or a URL")
        parser.add_argument(
            "--row-group", type=whole_number, metavar="N", help="the first is 0"
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
            return Output(rows, text=to_json(rows, indent=2))
        make_lines = {
            "csv": parquet_output.csv_rows,
            "table": parquet_output.table_rows,
        }[format]
        return Output(None, lines=make_lines(rows))
