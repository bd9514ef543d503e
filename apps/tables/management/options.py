"""Options of several commands: of files that they read, and of rows that they print."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import pyarrow as pa
from django.core.management.base import CommandError, CommandParser

from deltaweb.delta.protocol.schema import type_text
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.environment.command_lines import BAD_USAGE
from deltaweb.errors import column_hint
from deltaweb.web.pages.command import Error, Output, Subcommand
from deltaweb.web.pages.responses import to_json
from deltaweb.web.tables.management import row_output
from deltaweb.web.tables.management.arguments import add_time_zone
from deltaweb.web.tables.operations.parameters import whole_number
from deltaweb.web.tables.storage.locations import (
    check_allowed,
    is_remote,
    parse_location,
)
from deltaweb.web.tables.storage.opening import open_file
from deltaweb.web.tables.storage.roots import roots_for
from deltaweb.writer.importing.options import (
    DAY_ORDERS,
    DELIMITERS,
    FORMATS,
    ImportColumn,
    TextForm,
)
from deltaweb.writer.importing.proposal import ProposedColumn, quoted
from deltaweb.writer.importing.source_file import SourceFiles


def add_file_options(parser: CommandParser) -> None:
    """Take how files are written, and the types of their columns."""
    parser.add_argument("--format", choices=FORMATS, default="", dest="file_format")
    parser.add_argument(
        "--types",
        default="",
        metavar="DDL",
        help="types of columns, else those of the table, or inferred: 'id BIGINT'",
    )
    parser.add_argument("--delimiter", choices=DELIMITERS, default="")
    parser.add_argument(
        "--no-header", action="store_true", help="the first row is data, not a header"
    )
    parser.add_argument("--null", default="", help="the text of null")
    parser.add_argument("--decimal", choices=(".", ","), default=".")
    parser.add_argument("--dates", choices=DAY_ORDERS, default="ymd")
    add_time_zone(parser, of="the file (UTC without)")


def asked_files(files: Sequence[str], options: Mapping[str, Any]) -> SourceFiles:
    """Return files as they are read by the options of a command."""
    return SourceFiles(
        paths=[_place(file) for file in files],
        names=files,
        file_format=options["file_format"],
        form=TextForm(
            delimiter=options["delimiter"],
            has_header=not options["no_header"],
            null_text=options["null"],
            decimal_sign=options["decimal"],
            day_order=options["dates"],
            time_zone=options["time_zone"] or UTC_ZONE,
        ),
        open_file=open_file,
    )


def with_types(proposed: Sequence[ImportColumn], types: str) -> Sequence[ImportColumn]:
    """Return columns with the types that DDL says, found ignoring case."""
    if not types.strip():
        return proposed
    known = {field.name.lower(): field for field in parse_columns_ddl(types)}
    sources = [column.source for column in proposed]
    in_file = {source.lower() for source in sources}
    for given in known.values():
        if given.name.lower() not in in_file:
            hint = column_hint(given.name, sources)
            message = f"--types: the file has no column {given.name!r}. {hint}"
            raise CommandError(message)
    return [
        column
        if (field := known.get(column.source.lower())) is None
        else replace(
            column, type_name=type_text(field.data_type), is_nullable=field.nullable
        )
        for column in proposed
    ]


def narrower_lines(
    proposed: Iterable[ProposedColumn], columns: Iterable[ImportColumn], types: str
) -> Iterator[str]:
    """Yield a sentence of each column that is text by few of its values.

    A column whose type somebody said is skipped.
    """
    said = {field.name.lower() for field in parse_columns_ddl(types)} if types else ()
    by_source = {one.column.source: one.narrower for one in proposed}
    for column in columns:
        found = by_source.get(column.source)
        if found is None or column.source.lower() in said:
            continue
        option = shlex.quote(f"{quoted(column.source)} {found.type_name.upper()}")
        yield f"{column.source}: {found.sentence}. --types {option} takes it so."


def _place(text: str) -> str:
    """Return where a file is: any of this machine, and of stores that are allowed."""
    if not is_remote(text):
        return text
    location = parse_location(text)
    check_allowed(location, roots=roots_for(None))
    return location


# === Of rows ===


DEFAULT_ROWS: Final = 50  # of the format for people


def add_row_options(parser: CommandParser, *, example: str) -> None:
    """Take columns, a condition, a limit and a form.

    Args:
        example: A condition, for the help.
    """
    parser.add_argument("--columns", help="names, separated by commas")
    parser.add_argument("--where", metavar="SQL", help=f"such as: {example}")
    parser.add_argument(
        "--limit",
        type=whole_number,
        help=f"at most this many (a table for people: {DEFAULT_ROWS})",
    )
    parser.add_argument("--format", choices=["table", "csv", "json"], default="table")


@dataclass(frozen=True, slots=True)
class RowOptions:
    """What was asked of rows.

    Attributes:
        columns: Names in the order wanted; None for all.
        where: The condition in SQL; None for every row.
        limit: How many rows at most; None for all.
        format: `table`, `csv` or `json`.
    """

    columns: Sequence[str] | None
    where: str | None
    limit: int | None
    format: str

    @classmethod
    def of(
        cls,
        verb: Subcommand,
        *,
        columns: str | None,
        where: str | None,
        limit: int | None,
        format: str,  # noqa: A002 (the option's name is a promise)
    ) -> Self:
        """Read the options of a command; people get some rows, scripts all."""
        if verb.command.answers_json and format == "csv":
            message = "--json and --format csv exclude each other: choose one of them."
            raise Error(message, returncode=BAD_USAGE)
        form = "json" if verb.command.answers_json else format
        names = [name.strip() for name in columns.split(",")] if columns else None
        most = DEFAULT_ROWS if limit is None and form == "table" else limit
        return cls(names, where, most, form)

    def answer(
        self, verb: Subcommand, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
    ) -> Output:
        """Answer with rows, no more than the limit; lines of CSV as they come.

        Nothing is read beyond the limit. Where rows were left out for a person, that
        is said on stderr.
        """
        some = limited(batches, self.limit)
        if self.format == "csv":
            return Output(None, lines=_csv_lines(schema, some))
        rows = pa.Table.from_batches(some, schema)
        if self.format == "json":
            data = row_output.json_rows(rows)
            return Output(data, text=to_json(data, indent=2))
        if rows.num_rows == self.limit == DEFAULT_ROWS:
            said = f"The first {self.limit} rows; --limit N prints more."
            verb.command.stderr.write(said)
        return Output(None, lines=row_output.row_lines(rows))


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


def _csv_lines(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[str]:
    """Yield the header, then the lines of each batch as it comes."""
    yield from row_output.csv_lines(schema.empty_table())
    for batch in batches:
        lines = row_output.csv_lines(pa.Table.from_batches([batch]))
        next(lines)  # the header, once more
        yield from lines
