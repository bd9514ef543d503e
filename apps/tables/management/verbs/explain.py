"""`deltaweb table explain`: which files a condition reads, and why."""

from collections.abc import Iterator
from itertools import chain

from django.core.management.base import CommandParser

from apps.pages.changes.parameters import SQL_OF_UTC, whole_number
from apps.pages.command import Output, Subcommand
from apps.tables.management.arguments import add_version, locate
from apps.tables.management.text_output import aligned
from apps.tables.storage.opening import open_location
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.index.left_row_groups import (
    MAX_FOOTERS,
    LeftRowGroups,
    added_up,
    left_row_groups,
)
from deltaweb.index.query.explained_files import explained_files
from deltaweb.index.query.funnel import SKIPPED, Amount, Funnel, explain_snapshot
from deltaweb.words import bytes_text, counted

MAX_SKIPPED = 1_000


class ExplainVerb(Subcommand):
    """Show which files a condition reads or skips, and why."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        add_version(parser, of=f"--timestamp and {SQL_OF_UTC}")
        parser.add_argument(
            "--where", required=True, metavar="SQL", help="such as: amount > 10"
        )
        parser.add_argument(
            "--fail-over",
            type=whole_number,
            metavar="N",
            help="exit with 1 if more than N files would be read",
        )
        parser.add_argument(
            "--row-groups",
            action="store_true",
            help="also count the row groups that are read, by the footers of at most"
            f" {MAX_FOOTERS:,} files",
        )
        parser.add_argument(
            "--all",
            action="store_true",
            help=f"list every skipped file; without, at most {MAX_SKIPPED:,}",
        )

    def run(  # noqa: PLR0913  # as argparse read them
        self,
        *,
        table: str,
        at_version: int | None,
        timestamp: str | None,
        time_zone: str | None,
        where: str,
        fail_over: int | None,
        row_groups: bool,
        all: bool,  # noqa: A002 (the option's name is a promise)
    ) -> Output:
        """Explain a condition at one version; only the log and footers are read."""
        opened = open_location(locate(table)[1], time_zone=time_zone)
        snapshot = opened.snapshot_metadata(at_version, timestamp)
        found, parts = explain_snapshot(
            snapshot, opened.root, where, time_zone or UTC_ZONE
        )
        left = None
        if row_groups:
            open_file = opened.store.open_data_file
            left = added_up(left_row_groups(found, parts, open_file))
        funnel = found.funnel
        skipped = chain.from_iterable(
            batch.select(["path", "why"]).to_pylist()
            for batch in explained_files(
                found,
                parts,
                reasons=funnel.reasons_of(SKIPPED),
                limit=None if all else MAX_SKIPPED,
            )
        )
        num_read = funnel.after_statistics.num_files
        is_over = fail_over is not None and num_read > fail_over
        is_json, shown = self.command.answers_json, skipped if all else ()
        document = None
        if is_json:
            document = {
                "version": snapshot.version,
                **funnel.document(left.amount if left else None),
                "skipped": [*skipped],
            }
            if left is not None:
                document["row_groups"] = {
                    "total": left.num_all_groups,
                    "after_row_groups": left.num_groups,
                }
        return Output(
            document,
            text=_sentence(funnel, snapshot.version),
            lines=() if is_json else chain(_lines(funnel, left), _file_lines(shown)),
            failure=f"{counted(num_read, 'file')} would be read, and --fail-over is"
            f" {fail_over:,}."
            if is_over
            else "",
        )


def _sentence(found: Funnel, version: int) -> str:
    read, total = found.after_statistics, found.total
    return (
        f"A reader opens {read.num_files:,} of {counted(total.num_files, 'file')},"
        f" {bytes_text(read.size_bytes)} of {bytes_text(total.size_bytes)},"
        f" at version {version}."
    )


def _lines(found: Funnel, left: LeftRowGroups | None) -> Iterator[str]:
    """Yield the funnel, the parts and the reasons."""
    steps = {
        "all files": found.total,
        "after partitions": found.after_partitions,
        "after statistics": found.after_statistics,
    }
    if left is not None:
        steps["after row groups"] = left.amount
    yield ""
    yield from aligned(
        ("STEP", "FILES", "BYTES", "ROWS"),
        [(name, *_amount(amount)) for name, amount in steps.items()],
    )
    if left is not None:
        groups = counted(left.num_all_groups, "row group")
        yield f"{left.num_groups:,} of {groups} stay"
    yield ""
    for part in found.parts:
        yield part.text
        if part.obstacle is not None:
            yield f"  skips no file: {part.obstacle.reason}"
            if part.obstacle.suggestion:
                yield f"  write {part.obstacle.suggestion}"
            continue
        yield f"  skips {counted(part.by_partitions, 'file')} by partition values"
        unknown = f"; {part.num_unknown:,} have none" if part.num_unknown else ""
        yield f"  skips {counted(part.by_statistics, 'file')} by statistics{unknown}"
    yield ""
    yield from aligned(
        ("EFFECT", "FILES", "BYTES", "WHY"),
        [
            (
                one.effect,
                f"{one.num_files:,}",
                bytes_text(one.size_bytes),
                one.why,
            )
            for one in found.reasons
        ],
    )


def _amount(amount: Amount) -> tuple[str, str, str]:
    rows = amount.num_records
    return (
        f"{amount.num_files:,}",
        bytes_text(amount.size_bytes),
        "unknown" if rows is None else f"{rows:,}",
    )


def _file_lines(files: Iterator[dict[str, str]] | tuple[()]) -> Iterator[str]:
    for place, file in enumerate(files):
        if not place:
            yield ""
            yield "SKIPPED"
        yield f"{file['path']}  {file['why']}"
