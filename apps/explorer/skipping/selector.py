"""What the page of skipping shows of a condition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import pyarrow as pa
import pyarrow.compute as pc
from django.http import QueryDict

from apps.explorer.skipping.found import ExplainedFiles
from apps.explorer.version.query import parse_page, text_of
from apps.jobs.results import JobRows
from apps.pages.lists.paging import Paged, paged
from apps.pages.page_json import Named, OnPage
from apps.pages.request.parameters import QueryError
from deltaweb.index.left_row_groups import LeftRowGroups
from deltaweb.index.query.funnel import READ, SKIPPED, Amount, Funnel
from deltaweb.words import counted

FIRST_FILES: Final = 3
"""Files of each group that are shown while all groups are."""
BOTH: Final = ""
SHOWN: Final = (BOTH, READ, SKIPPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippingQuery:
    """What the address asks for.

    Attributes:
        where: The condition; "" for none.
        shown: READ or SKIPPED; "" for the groups.
        group: The group whose files are listed, from 1; None for all groups.
        page: Of the files of the group, from 1.
        row_groups: Whether to count the row groups that are read.
    """

    where: str = ""
    shown: str = BOTH
    group: int | None = None
    page: int = 1
    row_groups: bool = False


def parse_skipping_query(query: QueryDict) -> SkippingQuery:
    """Read `where`, `show`, `group`, `page` and `row_groups`."""
    shown, group = text_of(query, "show"), text_of(query, "group")
    if shown not in SHOWN:
        raise QueryError(part="show", expected=f"{READ} or {SKIPPED}")
    if group and not (group.isascii() and group.isdigit() and len(group) < len("1000")):
        raise QueryError(part="group", expected="the number of a group")
    row_groups = text_of(query, "row_groups")
    if row_groups not in {"", "1"}:
        raise QueryError(part="row_groups", expected="1, or nothing")
    return SkippingQuery(
        where=text_of(query, "where").strip(),
        shown=shown,
        group=int(group) if group else None,
        page=parse_page(query),
        row_groups=bool(row_groups),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StepNumbers:
    """A number at each step of the funnel; None if it is unknown, or not counted."""

    total: int | None
    after_partitions: int | None
    after_statistics: int | None
    after_row_groups: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGroupNumbers:
    """The row groups of the files that the statistics leave.

    Attributes:
        after_row_groups: Those that may hold a matching row.
    """

    total: int
    after_row_groups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPart:
    """A part of the condition, and what it does alone.

    Attributes:
        obstacle: Why it cannot skip any file; None if it can.
        suggestion: The part in SQL that can skip.
    """

    text: str
    skipped_by_partitions: int
    skipped_by_statistics: int
    num_unknown: Annotated[int, Named("files_without_statistics")]
    obstacle: str | None
    suggestion: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFile:
    """A file with its reason.

    Attributes:
        row_groups: The row groups that it has; None if they were not counted.
        row_groups_read: Those of them that a reader reads.
    """

    path: str
    size_bytes: Annotated[int, Named("size")]
    num_records: Annotated[int | None, Named("rows")]
    effect: str
    why: str
    row_groups: int | None
    row_groups_read: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Files that are read, or skipped, for one reason.

    Attributes:
        number: Of the group, from 1.
        step: Which step skips them; None if they are read.
        shown: The first ones, or the page that is asked for.
    """

    number: OnPage[int]
    why: str
    effect: str
    step: str | None
    num_files: Annotated[int, Named("files")]
    size_bytes: Annotated[int, Named("bytes")]
    suggestion: str | None
    shown: Annotated[Sequence[ShownFile], Named("first_files")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of the funnel as it is drawn."""

    name: str
    note: str
    amount: Amount
    percent: float
    before_percent: float
    out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFunnel:
    """What a condition leaves, and why.

    Attributes:
        suggestion: The condition with every suggestion applied; None without any.
        place: The page of the group that is asked for; None while groups are shown.
    """

    files: StepNumbers
    size_bytes: Annotated[StepNumbers, Named("bytes")]
    num_records: Annotated[StepNumbers, Named("rows")]
    row_groups: RowGroupNumbers | None
    parts: Sequence[ShownPart]
    reasons: Sequence[Reason]
    suggestion: str | None
    steps: OnPage[Sequence[Step]]
    place: OnPage[Paged | None]

    @property
    def num_skipped(self) -> int:
        return (self.files.total or 0) - (self.files.after_statistics or 0)

    @property
    def percent_of_bytes(self) -> float:
        """The bytes that are read, as a percentage of all."""
        total = self.size_bytes.total or 0
        return 100 * (self.size_bytes.after_statistics or 0) / max(total, 1)


def shown_funnel(
    found: Funnel,
    files: ExplainedFiles,
    asked: SkippingQuery,
    counts: JobRows[LeftRowGroups] | None,
) -> ShownFunnel:
    """Return what a page shows of an explained condition.

    Args:
        counts: The row groups of each file; None if they were not counted.
    """
    groups = found.reasons
    if asked.group is not None and not 1 <= asked.group <= len(groups):
        raise QueryError(part="group", expected=f"a number from 1 to {len(groups)}")
    place = None
    if asked.group is not None:
        place = paged(groups[asked.group - 1].num_files, asked.page)
    reasons = []
    for number, group in enumerate(groups, 1):
        if asked.shown not in {BOTH, group.effect}:
            continue
        if asked.group not in {None, number}:
            continue
        first, limit = (
            (place.start, place.last - place.start) if place else (0, FIRST_FILES)
        )
        reasons.append(
            Reason(
                number=number,
                why=group.why,
                effect=group.effect,
                step=group.step,
                num_files=group.num_files,
                size_bytes=group.size_bytes,
                suggestion=group.suggestion,
                shown=_files(
                    group.effect,
                    files.listed(reasons=[number - 1], first=first, limit=limit),
                    counts.rows if counts else None,
                ),
            )
        )
    amounts = (found.total, found.after_partitions, found.after_statistics)
    left = counts.facts if counts else None
    by_groups = left.amount if left else None
    return ShownFunnel(
        files=_numbers("num_files", *amounts, by_groups),
        size_bytes=_numbers("size_bytes", *amounts, by_groups),
        num_records=_numbers("num_records", *amounts, by_groups),
        row_groups=RowGroupNumbers(
            total=left.num_all_groups, after_row_groups=left.num_groups
        )
        if left
        else None,
        parts=[
            ShownPart(
                text=part.text,
                skipped_by_partitions=part.by_partitions,
                skipped_by_statistics=part.by_statistics,
                num_unknown=part.num_unknown,
                obstacle=part.obstacle.reason if part.obstacle else None,
                suggestion=(part.obstacle and part.obstacle.suggestion) or None,
            )
            for part in found.parts
        ],
        reasons=reasons,
        suggestion=found.suggestion or None,
        steps=_drawn(found, left),
        place=place,
    )


def file_lines(found: Funnel, files: ExplainedFiles) -> Iterator[Sequence[object]]:
    """Yield the header and every file, as the CSV form shows them."""
    yield ("path", "size", "rows", "effect", "why")
    for batch in files.listed():
        for row in batch.to_pylist():
            yield (
                row["path"],
                row["size"],
                row["num_records"],
                found.reasons[row["reason"]].effect,
                row["why"],
            )


def _files(
    effect: str, batches: Iterator[pa.RecordBatch], groups: pa.Table | None
) -> list[ShownFile]:
    files = [file for batch in batches for file in batch.to_pylist()]
    counts = _row_groups([file["path"] for file in files], groups)
    return [
        ShownFile(
            path=file["path"],
            size_bytes=file["size"],
            num_records=file["num_records"],
            effect=effect,
            why=file["why"],
            row_groups=total,
            row_groups_read=read,
        )
        for file, (total, read) in zip(files, counts, strict=True)
    ]


def _row_groups(
    paths: Sequence[str], groups: pa.Table | None
) -> list[tuple[int | None, int | None]]:
    """Return the row groups of some files, and those that are read, if it is known."""
    if groups is None:
        return [(None, None)] * len(paths)
    places = pc.index_in(pa.array(paths, pa.string()), value_set=groups["path"])
    columns = (groups[name].take(places) for name in ("row_groups", "row_groups_left"))
    return [*zip(*(column.to_pylist() for column in columns), strict=True)]


def _numbers(name: str, *amounts: Amount | None) -> StepNumbers:
    """Return one number of the amount at each step."""
    total, partitions, statistics, row_groups = (
        None if one is None else getattr(one, name) for one in amounts
    )
    return StepNumbers(
        total=total,
        after_partitions=partitions,
        after_statistics=statistics,
        after_row_groups=row_groups,
    )


def _drawn(found: Funnel, left: LeftRowGroups | None) -> list[Step]:
    total = max(found.total.num_files, 1)
    rows = [
        ("All files", "of the version", found.total, found.total),
        ("Partitions", "by value", found.after_partitions, found.total),
        (
            "File statistics",
            "smallest and largest",
            found.after_statistics,
            found.after_partitions,
        ),
    ]
    steps = [
        Step(
            name=name,
            note=note,
            amount=amount,
            percent=100 * amount.num_files / total,
            before_percent=100 * before.num_files / total,
            out=_out(before.num_files - amount.num_files, name),
        )
        for name, note, amount, before in rows
    ]
    if left is not None:
        groups = counted(left.num_all_groups, "row group")
        steps.append(
            Step(
                name="Row groups",
                note="inside the files",
                amount=left.amount,
                percent=100 * left.amount.num_files / total,
                before_percent=100 * found.after_statistics.num_files / total,
                out=f"{left.num_groups:,} of {groups} stay",
            )
        )
    return steps


def _out(count: int, name: str) -> str:
    if name == "All files":
        return ""
    return f"{count:,} left out" if count else "none left out"
