"""What differs between versions: `changes` by the feed, `diff` of files and rows."""

import tempfile
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from django.core.management.base import CommandParser

from apps.pages.changes.parameters import SQL_OF_UTC, whole_number
from apps.pages.command import Output, Subcommand
from apps.pages.page_json import json_with
from apps.tables.errors import OutputFormatError
from apps.tables.management import comparison_output
from apps.tables.management.arguments import add_time_zone, locate, names_of
from apps.tables.management.options import (
    RowOptions,
    add_row_options,
)
from apps.tables.management.row_output import csv_lines
from apps.tables.storage.opening import open_location
from apps.tables.versions.change_file import ChangeFile
from apps.tables.versions.change_json import diff_json, row_counts
from deltaweb.delta.changes import RowChanges, RowDiffRequest, SnapshotDiff
from deltaweb.delta.protocol.column_path import split_names


class ChangesVerb(Subcommand):
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


SAMPLE_ROWS = 10
PARQUET, CSV = ".parquet", ".csv"
LATEST = "latest"


class DiffVerb(Subcommand):
    """Show the changes from version A to version B."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument(
            "from_version", type=_version, metavar="A", help="a version, or latest"
        )
        parser.add_argument("to_version", type=_version, metavar="B")
        parser.add_argument("--rows", action="store_true", help="also compare rows")
        parser.add_argument(
            "--key",
            action="append",
            default=[],
            metavar="c",
            help="comma-separated key columns that match rows (implies --rows)",
        )
        parser.add_argument(
            "--sample",
            type=whole_number,
            default=SAMPLE_ROWS,
            metavar="N",
            help=f"show at most N rows of each kind ({SAMPLE_ROWS})",
        )
        parser.add_argument(
            "--output",
            type=Path,
            metavar="FILE",
            help="write every changed row to FILE.parquet or FILE.csv (implies --rows)",
        )

    def run(  # noqa: PLR0913 (each is one option)
        self,
        *,
        table: str,
        from_version: int | None,
        to_version: int | None,
        rows: bool,
        key: list[str],
        sample: int,
        output: Path | None,
    ) -> Output:
        """Compare two versions, either of which may be the later one.

        None is the newest one.
        """
        registered, location = locate(table)
        if output is not None and output.suffix not in {PARQUET, CSV}:
            raise OutputFormatError(name=output.name, formats=(PARQUET, CSV))
        opened = open_location(location)
        versions = [
            opened.latest_version() if version is None else version
            for version in (from_version, to_version)
        ]
        found = opened.compare(*versions)
        if found.refusal is not None:
            self.warn(f"{found.refusal.message} Files and rows are not compared.")
        data: dict[str, Any] = {**names_of(registered, location), **diff_json(found)}
        names = [name for text in key for name in split_names(text)]
        if not rows and not names and output is None:
            return Output(data, lines=comparison_output.lines(found))
        request = RowDiffRequest(key=names, sample_rows=sample)
        changes = _compare_rows(found, request, output)
        for sentence in comparison_output.warnings(changes):
            self.warn(sentence)
        sample_json = comparison_output.sample_json(changes)
        data["rows"] = json_with(row_counts(changes), sample=sample_json)
        return Output(data, lines=comparison_output.lines(found, changes))


def _version(text: str) -> int | None:
    """Read a version; None for the newest one."""
    if text == LATEST:
        return None
    try:
        return whole_number(text)
    except ArgumentTypeError:
        message = f"{text!r} is neither a version, a whole number from 0, nor {LATEST}"
        raise ArgumentTypeError(message) from None


def _compare_rows(
    found: SnapshotDiff, request: RowDiffRequest, output: Path | None
) -> RowChanges:
    """Compare rows, and write all that changed where that is asked for."""
    if output is None:
        return found.rows(request)
    if output.suffix == PARQUET:
        with ChangeFile(output) as file:
            return found.rows(file.joined(request))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "changes.parquet"
        with ChangeFile(path) as file:
            changes = found.rows(file.joined(request))
        _write_csv(path, output)
    return changes


def _write_csv(source: Path, output: Path) -> None:
    with pq.ParquetFile(source) as file, output.open("w", encoding="utf-8") as sink:
        lines = csv_lines(file.schema_arrow, file.iter_batches())
        sink.writelines(f"{line}\n" for line in lines)
