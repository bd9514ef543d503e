"""Options of several commands: of files that they read, and of rows that they print."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import pyarrow as pa
from django.core.management.base import CommandParser

from apps.pages.changes.parameters import whole_number
from apps.pages.command import Error, Output, Subcommand
from apps.pages.responses import to_json
from apps.tables.errors import OutputFormatError
from apps.tables.management import row_output
from apps.tables.management.arguments import add_time_zone
from apps.tables.management.row_files import (
    BINARY_FORMATS,
    FILE_FORMATS,
    write_rows,
)
from deltaweb.delta.protocol.column_path import split_names
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.environment.command_lines import BAD_USAGE
from deltaweb.words import bytes_text, counted
from deltaweb.writer.importing.options import (
    DAY_ORDERS,
    DELIMITERS,
    FORMATS,
    TextForm,
)


def add_file_options(
    parser: ArgumentParser, *, types: str = "those of the table, or inferred"
) -> None:
    """Take how files are written, and the types of their columns.

    Args:
        types: Of the columns of which none are given, for the help.
    """
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="",
        dest="file_format",
        help="format of the files; without, from their names",
    )
    parser.add_argument(
        "--types",
        default="",
        metavar="DDL",
        help=f"column types, such as 'id BIGINT'; without, {types}",
    )
    parser.add_argument(
        "--delimiter",
        choices=DELIMITERS,
        default="",
        type=_delimiter,
        metavar="CHAR",
        help="separator of fields: , ; | or tab; inferred without",
    )
    parser.add_argument(
        "--no-header", action="store_true", help="the first row is data, not a header"
    )
    parser.add_argument("--null", default="", help="text that means null")
    parser.add_argument(
        "--decimal",
        choices=(".", ","),
        default="",
        metavar="SIGN",
        help="the decimal sign: . or , (inferred without, refused if both fit)",
    )
    parser.add_argument(
        "--dates",
        choices=DAY_ORDERS,
        default="",
        help="2026-01-31 (ymd), 31.01.2026 (dmy) or 01/31/2026 (mdy); inferred "
        "without, refused if two fit",
    )


def add_zone_of_files(parser: ArgumentParser) -> None:
    """Take whose clocks show the times of files."""
    add_time_zone(parser, of="the file (UTC without)")


def _delimiter(text: str) -> str:
    return "\t" if text == "tab" else text


def text_form(options: Mapping[str, Any]) -> TextForm:
    """Return how the values of files are written."""
    return TextForm(
        delimiter=options["delimiter"],
        has_header=not options["no_header"],
        null_text=options["null"],
        decimal_sign=options["decimal"],
        day_order=options["dates"],
        time_zone=options["time_zone"] or UTC_ZONE,
    )


# === Of rows ===


DEFAULT_ROWS: Final = 50  # of the format for people


def add_row_options(parser: CommandParser, *, example: str) -> None:
    """Take columns, a condition, a limit and a form.

    Args:
        example: A condition, for the help.
    """
    parser.add_argument(
        "--columns", help="comma-separated names, in backticks if necessary"
    )
    parser.add_argument("--where", metavar="SQL", help=f"such as: {example}")
    parser.add_argument(
        "--limit",
        type=whole_number,
        help=f"at most this many (a table for people: {DEFAULT_ROWS})",
    )
    parser.add_argument(
        "--format",
        choices=["table", *FILE_FORMATS],
        help="table without; parquet and xlsx need --output",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="write every row to FILE, in the --format or by the end of its name: "
        f"{', '.join(FILE_FORMATS)}",
    )


@dataclass(frozen=True, slots=True)
class RowOptions:
    """What was asked of rows.

    Attributes:
        columns: Names in the order wanted; None for all.
        where: The condition in SQL; None for every row.
        limit: How many rows at most; None for all.
        format: `table` or one of `FILE_FORMATS`.
        output: The file to write; None for stdout.
    """

    columns: Sequence[str] | None
    where: str | None
    limit: int | None
    format: str
    output: Path | None

    @classmethod
    def of(  # noqa: PLR0913 (each is one option)
        cls,
        verb: Subcommand,
        *,
        columns: str | None,
        where: str | None,
        limit: int | None,
        format: str | None,  # noqa: A002 (the option's name is a promise)
        output: Path | None,
    ) -> Self:
        """Read the options of a command; people get some rows, scripts all."""
        form = (
            _form_of_output(verb, format)
            if output is None
            else _form_of_file(output, format)
        )
        names = split_names(columns) or [columns] if columns else None
        most = DEFAULT_ROWS if limit is None and form == "table" else limit
        return cls(names, where, most, form, output)

    def answer(
        self, verb: Subcommand, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
    ) -> Output:
        """Answer with rows, no more than the limit; lines of CSV as they come.

        Nothing is read beyond the limit. Where rows were left out for a person, that
        is said on stderr.
        """
        some = limited(batches, self.limit)
        if self.output is not None:
            return self._written(self.output, schema, some)
        if self.format == "csv":
            lines = row_output.csv_lines(schema, some)
            return Output(None, lines=lines, is_exact=True)
        rows = pa.Table.from_batches(some, schema)
        if self.format == "json":
            data = row_output.json_rows(rows)
            return Output(data, text=to_json(data, indent=2), is_exact=True)
        if rows.num_rows == self.limit == DEFAULT_ROWS:
            said = f"The first {self.limit} rows; --limit N prints more."
            verb.command.stderr.write(said)
        return Output(None, lines=row_output.row_lines(rows))

    def _written(
        self, path: Path, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
    ) -> Output:
        num_rows = write_rows(path, self.format, schema, batches)
        size_bytes = path.stat().st_size
        data = {"output": str(path), "num_rows": num_rows, "size_bytes": size_bytes}
        said = f"{counted(num_rows, 'row')}, {bytes_text(size_bytes)}: {path}"
        return Output(data, text=said)


def _form_of_output(verb: Subcommand, form: str | None) -> str:
    """Return how rows are printed."""
    if form in BINARY_FORMATS:
        message = f"--format {form} is for files: give --output FILE."
        raise Error(message, returncode=BAD_USAGE)
    if verb.command.answers_json and form == "csv":
        message = "--json and --format csv exclude each other: choose one of them."
        raise Error(message, returncode=BAD_USAGE)
    return "json" if verb.command.answers_json else form or "table"


def _form_of_file(output: Path, form: str | None) -> str:
    """Return how rows are written to a file.

    Raises:
        OutputFormatError: If neither the option nor the name says it.
    """
    chosen = form or output.suffix.lower().removeprefix(".")
    if chosen not in FILE_FORMATS:
        endings = [f".{one}" for one in FILE_FORMATS]
        raise OutputFormatError(name=output.name, formats=endings)
    return chosen


def limited(
    batches: Iterator[pa.RecordBatch], limit: int | None
) -> Iterator[pa.RecordBatch]:
    """Yield batches up to so many rows; nothing is read beyond them."""
    left = limit
    while left is None or left > 0:
        batch = next(batches, None)
        if batch is None:
            return
        yield batch if left is None else batch.slice(0, left)
        if left is not None:
            left -= batch.num_rows
