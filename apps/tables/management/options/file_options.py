"""The options of commands that read files: how they are written, and their types."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.core.management.base import CommandError, CommandParser

from deltaweb.delta.protocol.schema import type_text
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.errors import column_hint
from deltaweb.web.tables.management.arguments import add_time_zone
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
