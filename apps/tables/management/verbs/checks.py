"""What the files of a table are: `check-files`, `survey`."""

import shlex
from collections.abc import Iterator, Sequence

from django.core.management.base import CommandParser
from django.utils import timezone

from apps.pages.command import Output, Subcommand
from apps.pages.page_json import json_of
from apps.tables.catalogue.names import find_table
from apps.tables.index.engine import Engine
from apps.tables.management import text_output
from apps.tables.management.arguments import add_version, locate, names_of
from apps.tables.management.terminal import TerminalReports, add_engine
from apps.tables.storage.locations import check_present
from apps.tables.storage.opening import open_location, place_of, table_place
from apps.tables.versions.file_checks import keep_check
from apps.tables.versions.survey.inside import Share, TableInside, table_inside
from apps.tables.work.check_files import checked
from apps.tables.work.survey_files import survey
from deltaweb.index.file_check import FileCheck
from deltaweb.index.file_survey import surveyed_columns
from deltaweb.words import bytes_text, counted


class CheckFilesVerb(Subcommand):
    """Verify which data files exist."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        add_engine(parser)

    def run(self, *, name: str, engine: Engine | None) -> Output:
        """List the storage once and count what every version lacks."""
        table = find_table(name)
        check_present(table.location)
        place = table_place(table, roots=None)
        check = checked(place, TerminalReports(self.warn), engine)
        facts = keep_check(table, check, now=timezone.now())
        missing = check.missing.to_pylist()
        data = {
            "name": table.full_name,
            "location": table.location,
            **facts.counts,
            "versions": [
                {
                    "first": row["first_version"],
                    "last": row["last_version"],
                    "num_files": row["num_files"],
                    "num_missing": row["num_missing"],
                    "vacuum_version": row["vacuum_version"],
                }
                for row in missing
            ],
            "spellings": [one.describe() for one in check.spelled],
            "nested_changes": [
                one.describe(table.location) for one in check.nested_changes
            ],
        }
        text = (
            f"{facts.num_complete:,} of {counted(check.num_versions, 'version')} "
            f"can be read in full; {facts.num_partly:,} lack some files, "
            f"{facts.num_gone:,} all of them. Of "
            f"{counted(check.num_paths, 'file')}, {check.num_missing:,} "
            f"{'is' if check.num_missing == 1 else 'are'} not in storage."
        )
        lines = [
            *map(_line, missing),
            *_spellings(table.full_name, check),
            *_nested_changes(table.location, check),
        ]
        return Output(data, text, lines)


def _spellings(name: str, check: FileCheck) -> Iterator[str]:
    """Yield what is spelled in several ways, and what to do about it."""
    yield from (f"  {one.sentence}." for one in check.spelled)
    if check.spelled:
        command = f"deltaweb table optimize {shlex.quote(name)} --respell"
        yield f"  {command} spells them alike."


def _nested_changes(location: str, check: FileCheck) -> Iterator[str]:
    """Yield what earlier releases may have done to nested values, and its repair."""
    for one in check.nested_changes:
        yield f"  {one.sentence}."
        repair = one.repair(location)
        if repair is None:
            yield f"    A vacuum or a clean-up has removed v{one.version - 1}."
        else:
            yield f"    {repair}"
    if check.nested_changes:
        yield "  Compare with the version before first: deltaweb table diff --rows."
        yield "  A MERGE takes the nested values back; KEY is what identifies a row."
        yield "  Run them from the newest to the oldest."


def _line(row: dict[str, int]) -> str:
    first, last = row["first_version"], row["last_version"]
    versions = f"v{first}" if first == last else f"v{first} to v{last}"
    there = row["num_files"] - row["num_missing"]
    return f"  {versions}: {there:,} of {counted(row['num_files'], 'file')}"


MAX_LINES = 50
"""Of each part: who wants more takes --json."""
ALL = 1 << 30


class SurveyVerb(Subcommand):
    """Show what the data files of a version contain, from their footers."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        add_version(parser)
        add_engine(parser)

    def run(
        self,
        *,
        table: str,
        at_version: int | None,
        timestamp: str | None,
        time_zone: str | None,
        engine: Engine | None,
    ) -> Output:
        """Read every footer, in process or by Spark, and add them up."""
        registered, location = locate(table)
        opened = open_location(location, time_zone=time_zone)
        snapshot = opened.snapshot_metadata(at_version, timestamp)
        sums, read_by = survey(
            place_of(location),
            snapshot.version,
            snapshot.files.num_rows,
            TerminalReports(self.warn),
            engine,
        )
        columns = surveyed_columns(snapshot.schema, snapshot.metadata.partition_columns)
        inside = table_inside(columns, sums, length=ALL)
        if not inside.is_complete:
            self.warn("These files have more names than are kept; the rarest are out.")
        data: dict[str, object] = {
            **names_of(registered, location),
            "version": snapshot.version,
            "engine": read_by.words,
        }
        found = json_of(inside)
        if isinstance(found, dict):
            data |= found
        text = text_output.facts(
            [
                ("name", data["name"] or "(not registered)"),
                ("version", snapshot.version),
                ("files", f"{inside.num_files:,}"),
                ("bytes", f"{inside.size_bytes:,}"),
                ("rows", f"{inside.num_rows:,}"),
                ("row groups", f"{inside.num_row_groups:,}"),
                ("footer bytes", f"{inside.footer_bytes:,}"),
                ("read by", read_by.words),
            ]
        )
        return Output(data, text, _lines(inside))


def _lines(inside: TableInside) -> Iterator[str]:
    for cost in inside.costs:
        about = f"{cost.subject} " if cost.subject else ""
        yield f"{bytes_text(cost.size_bytes)}: {about}{cost.finding} {cost.meaning}"
    yield from _part(
        ("COLUMN", "IN THE TABLE", "IN FILES", "HOW", "FILES", "BYTES", "EXAMPLE"),
        [
            (
                *(row["column"], row["table_type"] or "", row["file_type"] or ""),
                *(row["relation"], f"{row['files']:,}", f"{row['column_bytes']:,}"),
                row["example"],
            )
            for row in (one.row for one in inside.unlike)
        ],
    )
    yield from _part(("COLUMN", "BYTES", "SHARE"), _shares(inside.by_bytes.columns))
    for header, shares in (
        ("WRITER", inside.writers),
        ("CODEC", inside.codecs),
        ("ENCODINGS", inside.encodings),
        ("UNREADABLE", inside.unreadable),
    ):
        yield from _part((header, "BYTES", "SHARE"), _shares(shares))
    sizes = inside.group_sizes
    yield from _part(
        ("ROW GROUPS FROM", "TO", "COUNT"),
        [
            (bytes_text(low), bytes_text(2 * low), f"{count:,}")
            for low, count in zip(sizes.edges, sizes.counts, strict=False)
            if count
        ],
    )


def _shares(shares: Sequence[Share]) -> list[tuple[str, ...]]:
    return [
        (one.row["name"], f"{one.row['bytes']:,}", f"{one.row['percent']:g} %")
        for one in shares[: MAX_LINES + 1]
    ]


def _part(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    shown = [tuple(map(text_output.visible, row)) for row in rows[:MAX_LINES]]
    yield from text_output.aligned(header, shown)
    if len(rows) > MAX_LINES:
        yield "… and more; --json has them all."
