"""What the page of skipping shows of a condition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from django.http import QueryDict

from apps.explorer.version.query import parse_page, text_of
from apps.pages.lists.paging import Paged, paged
from apps.pages.page_json import Named, OnPage
from apps.pages.request.parameters import QueryError
from apps.tables.index.explained import IndexedFiles, listed
from deltaweb.index.query.funnel import READ, SKIPPED, Amount, Explanation

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
    """

    where: str = ""
    shown: str = BOTH
    group: int | None = None
    page: int = 1


def parse_skipping_query(query: QueryDict) -> SkippingQuery:
    """Read `where`, `show`, `group` and `page`."""
    shown, group = text_of(query, "show"), text_of(query, "group")
    if shown not in SHOWN:
        raise QueryError(part="show", expected=f"{READ} or {SKIPPED}")
    if group and not (group.isascii() and group.isdigit() and len(group) < len("1000")):
        raise QueryError(part="group", expected="the number of a group")
    return SkippingQuery(
        where=text_of(query, "where").strip(),
        shown=shown,
        group=int(group) if group else None,
        page=parse_page(query),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StepNumbers:
    """A number at each step of the funnel; None if it is unknown."""

    total: int | None
    after_partitions: int | None
    after_statistics: int | None


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
    """A file with its reason."""

    path: str
    size_bytes: Annotated[int, Named("size")]
    num_records: Annotated[int | None, Named("rows")]
    effect: str
    why: str


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
class Funnel:
    """What a condition leaves, and why.

    Attributes:
        suggestion: The condition with every suggestion applied; None without any.
        place: The page of the group that is asked for; None while groups are shown.
    """

    files: StepNumbers
    size_bytes: Annotated[StepNumbers, Named("bytes")]
    num_records: Annotated[StepNumbers, Named("rows")]
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


def funnel_of(found: Explanation, files: IndexedFiles, asked: SkippingQuery) -> Funnel:
    """Return what a page shows of an explained condition."""
    amounts = (found.total, found.after_partitions, found.after_statistics)
    groups = found.groups
    if asked.group is not None and not 1 <= asked.group <= len(groups):
        raise QueryError(part="group", expected=f"a number from 1 to {len(groups)}")
    place = None
    if asked.group is not None:
        place = paged(groups[asked.group - 1]["files"], asked.page)
    reasons = []
    for number, group in enumerate(groups, 1):
        if asked.shown not in {BOTH, group["effect"]}:
            continue
        if asked.group not in {None, number}:
            continue
        first, limit = (
            (place.start, place.last - place.start) if place else (0, FIRST_FILES)
        )
        reasons.append(
            Reason(
                number=number,
                why=group["why"],
                effect=group["effect"],
                step=group["step"],
                num_files=group["files"],
                size_bytes=group["bytes"],
                suggestion=group["suggestion"],
                shown=_files(found, files, number - 1, first, limit),
            )
        )
    return Funnel(
        files=StepNumbers(**_steps([one.num_files for one in amounts])),
        size_bytes=StepNumbers(**_steps([one.size_bytes for one in amounts])),
        num_records=StepNumbers(**_steps([one.num_records for one in amounts])),
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
        suggestion=found.question.suggestion or None,
        steps=_drawn(found),
        place=place,
    )


def file_lines(found: Explanation, files: IndexedFiles) -> Iterator[Sequence[object]]:
    """Yield the header and every file, as the CSV form shows them."""
    yield ("path", "size", "rows", "effect", "why")
    effects = found.reasons["effect"].to_pylist()
    for batch in listed(found, files):
        for row in batch.to_pylist():
            yield (
                row["path"],
                row["size"],
                row["num_records"],
                effects[row["reason"]],
                row["why"],
            )


def _files(
    found: Explanation, files: IndexedFiles, row: int, first: int, limit: int
) -> list[ShownFile]:
    effect = found.reasons["effect"][row].as_py()
    return [
        ShownFile(
            path=file["path"],
            size_bytes=file["size"],
            num_records=file["num_records"],
            effect=effect,
            why=file["why"],
        )
        for batch in listed(found, files, reasons=[row], first=first, limit=limit)
        for file in batch.to_pylist()
    ]


def _steps(numbers: Sequence[int | None]) -> dict[str, int | None]:
    names = ("total", "after_partitions", "after_statistics")
    return dict(zip(names, numbers, strict=True))


def _drawn(found: Explanation) -> list[Step]:
    total = max(found.total.num_files, 1)
    rows = (
        ("All files", "of the version", found.total, found.total),
        ("Partitions", "by value", found.after_partitions, found.total),
        (
            "File statistics",
            "smallest and largest",
            found.after_statistics,
            found.after_partitions,
        ),
    )
    return [
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


def _out(count: int, name: str) -> str:
    if name == "All files":
        return ""
    return f"{count:,} left out" if count else "none left out"
