"""The ranges of files in the columns of a condition, and how these overlap."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Annotated, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.columns.ranges import RangeBar, leaf_values, range_strip
from apps.explorer.grid import cell
from apps.explorer.skipping.found import ExplainedFilter
from apps.explorer.version.listed import Kept
from apps.pages.page_json import Named, OnPage
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.scan.predicate import And, value_range
from deltaweb.delta.scan.skipping import Mask
from deltaweb.index.query.explained_files import HIGH, LOW, bound_columns
from deltaweb.index.query.funnel import PARTITIONS, READ, Funnel
from deltaweb.index.query.questions import Question, QuestionPart
from deltaweb.words import cut

MAX_KEPT: Final = 32
MAX_SAMPLED: Final = 100_000
"""Files whose ranges are compared; of more, so many are."""
MAX_VALUE: Final = 40
"""Characters of a value that are shown."""
MIN_WIDTH: Final = 0.4
"""Percent of the axis, so that a file of one value is seen."""
MARGIN: Final = 15
"""Percent of the axis that its ends take for their values."""
BAR_HEIGHT: Final = 4
PERCENT: Final = 100

_kept: Kept[tuple["ColumnOverlap", ...]] = Kept(MAX_KEPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlapBar:
    """A file, or a few files that follow each other.

    Attributes:
        low, high: Between which values they are, as text.
        x, width: Of the bar, in percent of the axis.
        y: Of the bar, in pixels.
    """

    low: str
    high: str
    num_files: Annotated[int, Named("files")]
    is_read: Annotated[bool, Named("read")]
    x: OnPage[float]
    width: OnPage[float]
    y: OnPage[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnOverlap:
    """The ranges of the files that the partition values leave, in one column.

    Attributes:
        condition: The parts of the condition that name the column.
        num_known: How many of the files have a range.
        files_of_a_value: In about how many of these an average value is.
        percent_of_a_value: The same as a percentage.
        is_estimate: Whether only a sample of the files was compared.
        is_to_scale: Whether places on the axis are values, not their order.
        first, last: The ends of the axis.
        wanted_x, wanted_width: Where a row may match, in percent of the axis.
        is_marked: Whether that is not the whole axis.
        marks: The ends of it within the axis: the place in percent, and the value if
            there is room for it.
    """

    name: str
    condition: str
    num_files: Annotated[int, Named("files")]
    num_known: Annotated[int, Named("files_with_statistics")]
    num_read: Annotated[int, Named("files_read")]
    files_of_a_value: int
    percent_of_a_value: int
    is_estimate: bool
    is_to_scale: OnPage[bool]
    bars: Sequence[OverlapBar]
    first: OnPage[str]
    last: OnPage[str]
    wanted_x: OnPage[float]
    wanted_width: OnPage[float]
    is_marked: OnPage[bool]
    marks: OnPage[Sequence[tuple[float, str]]]
    bar_height: OnPage[int] = BAR_HEIGHT

    @property
    def height(self) -> int:
        """The height of all bars, in pixels."""
        return (BAR_HEIGHT + 1) * len(self.bars)

    @property
    def files_a_bar(self) -> int:
        """The largest number of files that a bar stands for."""
        return max(bar.num_files for bar in self.bars)


def overlaps_of(
    found: ExplainedFilter, asked: Hashable, zone: tzinfo
) -> tuple[ColumnOverlap, ...]:
    """Return the ranges of files in each column of a condition that skips files.

    Args:
        asked: What identifies the condition, and the zone.
        zone: Times are shown in it.
    """
    files, funnel = found.files, found.funnel
    if files is None or funnel is None:
        return ()

    def make() -> tuple[ColumnOverlap, ...]:
        bounds = files.bounds()
        return () if bounds is None else _overlaps(found.question, funnel, bounds, zone)

    return _kept.get((files.key, asked), make)


def _overlaps(
    question: Question, funnel: Funnel, bounds: pa.Table, zone: tzinfo
) -> tuple[ColumnOverlap, ...]:
    reasons = bounds["reason"].to_numpy()
    out = [i for i, one in enumerate(funnel.reasons) if one.step == PARTITIONS]
    if out:
        stays = ~np.isin(reasons, out)
        bounds, reasons = bounds.filter(pa.array(stays)), reasons[stays]
    is_read = np.isin(reasons, funnel.reasons_of(READ))
    found = []
    for path in bound_columns(question):
        overlap = _overlap(question, path, bounds, is_read, zone)
        if overlap is not None:
            found.append(overlap)
    return tuple(found)


def _reach_of(question: Question, path: ColumnPath) -> And:
    return And(tuple(one.reached for one in _parts_of(question, path) if one.reached))


def _parts_of(question: Question, path: ColumnPath) -> list[QuestionPart]:
    return [one for one in question.parts if path in one.columns]


def _overlap(
    question: Question,
    path: ColumnPath,
    bounds: pa.Table,
    is_read: Mask,
    zone: tzinfo,
) -> ColumnOverlap | None:
    name = (".".join(path),)
    low, high = (leaf_values(bounds[end], name) for end in (LOW, HIGH))
    if low is None or high is None:
        return None
    num_known = pc.sum(pc.and_(pc.is_valid(low), pc.is_valid(high))).as_py() or 0
    num_files, num_read = len(is_read), int(np.count_nonzero(is_read))
    if num_files > MAX_SAMPLED:
        places = np.linspace(0, num_files - 1, MAX_SAMPLED).astype(np.int64)
        low, high = (one.take(pa.array(places)) for one in (low, high))
        is_read = is_read[places]
    wanted = value_range(_reach_of(question, path), path)
    strip = range_strip(low, high, is_read=is_read, marks=wanted)
    if strip is None:
        return None
    scale = num_known / strip.num_files  # 1 if all were looked at
    first = min(strip.bars, key=lambda bar: bar.low)
    last = max(strip.bars, key=lambda bar: bar.high)

    def place(value: float) -> float:
        """Return a place on the axis in percent."""
        span = last.high / 2 - first.low / 2  # the whole may be beyond a double
        part = (value / 2 - first.low / 2) / span if span else float(value > first.low)
        return round(PERCENT * min(max(part, 0.0), 1.0), 2)

    def text(value: object) -> str:
        return cut(cell(value, zone).text, MAX_VALUE)

    def drawn(number: int, bar: RangeBar) -> OverlapBar:
        width = max(place(bar.high) - place(bar.low), MIN_WIDTH)
        return OverlapBar(
            low=text(bar.minimum),
            high=text(bar.maximum),
            num_files=round(bar.num_files * scale),
            is_read=bar.is_read,
            x=round(min(place(bar.low), PERCENT - width), 2),
            width=round(width, 2),
            y=number * (BAR_HEIGHT + 1),
        )

    def marked() -> Iterator[tuple[float, str]]:
        for value, at in zip(wanted, strip.marks, strict=True):
            if value is None or at is None or not 0 < place(at) < PERCENT:
                continue
            has_room = MARGIN < place(at) < PERCENT - MARGIN
            shown = text(value.as_py())
            yield place(at), shown if has_room and shown.isprintable() else ""

    least, most = strip.marks
    begin = 0.0 if least is None else place(least)
    end = float(PERCENT) if most is None else place(most)
    return ColumnOverlap(
        name=".".join(path),
        condition=" AND ".join(one.text for one in _parts_of(question, path)),
        num_files=num_files,
        num_known=num_known,
        num_read=num_read,
        files_of_a_value=round(strip.files_of_a_value * scale),
        percent_of_a_value=strip.percent_of_a_value,
        is_estimate=num_files > MAX_SAMPLED,
        is_to_scale=strip.scale != "order",
        bars=[drawn(number, bar) for number, bar in enumerate(strip.bars)],
        first=text(first.minimum),
        last=text(last.maximum),
        wanted_x=begin,
        wanted_width=round(max(end - begin, 0.0), 2),
        is_marked=least is not None or most is not None,
        marks=list(dict.fromkeys(marked())),
    )
