"""`deltaweb table survey`: what the data files of a version really hold."""

from collections.abc import Iterator, Sequence

from django.core.management.base import CommandParser

from deltaweb.index.file_survey import surveyed_columns
from deltaweb.web.pages.command import Output, Subcommand
from deltaweb.web.pages.figures import bytes_text
from deltaweb.web.pages.page_json import json_of
from deltaweb.web.tables.index.engine import Engine
from deltaweb.web.tables.management import text_output
from deltaweb.web.tables.management.arguments import add_version, locate
from deltaweb.web.tables.management.terminal import TerminalReports, add_engine
from deltaweb.web.tables.storage.opening import open_location, place_of
from deltaweb.web.tables.versions.survey.inside import Share, TableInside, table_inside
from deltaweb.web.tables.work.survey_files import survey

MAX_LINES = 50
"""Of each part: who wants more takes --json."""
ALL = 1 << 30


class Verb(Subcommand):
    """Show what the data files of a version really hold, by their footers."""

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
        name, location = locate(table)
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
            "name": name,
            "location": location,
            "version": snapshot.version,
            "engine": read_by.words,
        }
        found = json_of(inside)
        if isinstance(found, dict):
            data |= found
        text = text_output.facts(
            [
                ("name", name or "(not registered)"),
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
