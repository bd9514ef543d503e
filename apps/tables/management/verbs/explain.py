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
from deltaweb.index.query.explained_files import explained_files
from deltaweb.index.query.funnel import SKIPPED, Amount, Explanation, explain
from deltaweb.index.query.questions import Question
from deltaweb.index.query.shared_version import SharedVersion
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
        all: bool,  # noqa: A002 (the option's name is a promise)
    ) -> Output:
        """Explain a condition at one version; only the log is read."""
        opened = open_location(locate(table)[1], time_zone=time_zone)
        snapshot = opened.snapshot_metadata(at_version, timestamp)
        version = SharedVersion(snapshot, root=opened.root, parts={})
        if version.refusal is not None:
            raise version.refusal
        question = Question(
            where, version.schema, version.metadata, time_zone or UTC_ZONE
        )
        parts = [*version.live_parts()]
        found = explain(question, parts)
        skipped = chain.from_iterable(
            batch.select(["path", "why"]).to_pylist()
            for batch in explained_files(
                found,
                [part for part, _ in parts],
                reasons=found.reasons_of(SKIPPED),
                limit=None if all else MAX_SKIPPED,
            )
        )
        num_read = found.after_statistics.num_files
        is_over = fail_over is not None and num_read > fail_over
        is_json, shown = self.command.answers_json, skipped if all else ()
        return Output(
            {**found.describe(), "skipped": [*skipped]} if is_json else None,
            text=_sentence(found),
            lines=() if is_json else chain(_lines(found), _file_lines(shown)),
            failure=f"{counted(num_read, 'file')} would be read, and --fail-over is"
            f" {fail_over:,}."
            if is_over
            else "",
        )


def _sentence(found: Explanation) -> str:
    read, total = found.after_statistics, found.total
    return (
        f"A reader opens {read.num_files:,} of {counted(total.num_files, 'file')},"
        f" {bytes_text(read.size_bytes)} of {bytes_text(total.size_bytes)}."
    )


def _lines(found: Explanation) -> Iterator[str]:
    """Yield the funnel, the parts and the reasons."""
    steps = {
        "all files": found.total,
        "after partitions": found.after_partitions,
        "after statistics": found.after_statistics,
    }
    yield ""
    yield from aligned(
        ("STEP", "FILES", "BYTES", "ROWS"),
        [(name, *_amount(amount)) for name, amount in steps.items()],
    )
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
                one["effect"],
                f"{one['files']:,}",
                bytes_text(one["bytes"]),
                one["why"],
            )
            for one in found.groups
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
