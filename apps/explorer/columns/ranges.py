"""What the statistics of files say of a column: coverage, nulls, and ranges a file.

Everything comes from the memory-mapped index of the newest version.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.columns.wide_bounds import extremes, wide_files
from apps.explorer.grid import MAX_LENGTH
from apps.explorer.version.listed import Kept
from apps.tables.index.folders import index_folder
from apps.tables.models import Table
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.table_properties import DEFAULT_STRING_PREFIX
from deltaweb.delta.scan.skipping import Mask
from deltaweb.delta.values.python_values import python_values
from deltaweb.delta.values.statistics.columns import read_statistics
from deltaweb.index.folder.file_index import open_files
from deltaweb.index.folder.parts import IndexMissingError

MAX_BARS: Final = 60
MAX_PARSED: Final = 100_000  # files whose statistics are read from text in a request
MAX_RANKED: Final = 100_000  # files whose texts are put in order in a request
MAX_KEPT: Final = 64

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeBar:
    """A file, or files that follow each other: from where to where they reach.

    `low` and `high` are places on the axis; the values are as the log has them.
    `is_read` is whether a condition reads the files.
    """

    low: float
    high: float
    minimum: object
    maximum: object
    num_files: int
    is_read: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeStrip:
    """The ranges of files by their minimum.

    Attributes:
        bars: At most `MAX_BARS`.
        scale: "number", "time" (ms since 1970) or "order" (places in the order of the
            values, which is all that texts have).
        num_files: Files with a range.
        sampled: How many of them were looked at, where not all.
        depth: In how many files' ranges a value is on average.
        marks: The places of some values on the axis; None of one without a place.
    """

    bars: tuple[RangeBar, ...]
    scale: str
    num_files: int
    sampled: int | None
    depth: float
    marks: tuple[float | None, ...] = ()

    @property
    def files_of_a_value(self) -> int:
        """About how many files a filter on one value reads."""
        num_read = self.depth * self.num_files / (self.sampled or self.num_files)
        return max(1, round(num_read))

    @property
    def percent_of_a_value(self) -> int:
        """These files as a percentage of all that have a range."""
        return round(100 * self.files_of_a_value / self.num_files)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRanges:
    """What the files of the newest version tell of a column.

    Attributes:
        num_bounds: Files with a minimum and a maximum.
        num_counts: Files with a count of nulls.
        num_rows: Rows of these.
        minimum, maximum: Of the files that tell; None where it is the bound of a
            file whose bounds are wide, which may be no value of it.
        lowest, highest: Between them all values of these lie; the same, where known.
        num_cut: Files with a bound that may be cut: texts of the length at which
            writers cut them.
        strip: The ranges; None where no file has one.
        reason: Why nothing is known, or nothing.
    """

    num_files: int
    num_bounds: int = 0
    num_counts: int = 0
    num_nulls: int | None = None
    num_rows: int | None = None
    minimum: object = None
    maximum: object = None
    lowest: object = None
    highest: object = None
    num_cut: int = 0
    strip: RangeStrip | None = None
    reason: str = ""

    @property
    def null_percent(self) -> float | None:
        """Nulls of a hundred rows, in the files that tell."""
        if self.num_nulls is None or not self.num_rows:
            return None
        return round(100 * self.num_nulls / self.num_rows, 2)


_kept: Kept[ColumnRanges] = Kept(MAX_KEPT)


def column_ranges(
    table: Table, schema: StructType, names: tuple[str, ...], *, is_partition: bool
) -> ColumnRanges | None:
    """Return what the newest files tell of a column; None without an index."""
    folder = index_folder(table)
    if folder is None:
        return None
    try:
        return _kept.get(
            (str(folder), names, is_partition),
            lambda: read_ranges(
                open_files(folder), schema, names, is_partition=is_partition
            ),
        )
    except IndexMissingError:
        return None


def read_ranges(
    files: pa.Table, schema: StructType, names: tuple[str, ...], *, is_partition: bool
) -> ColumnRanges:
    """Add up what the rows of an index tell of a column.

    Args:
        files: By `deltaweb.index.folder.file_index.open_files`.
    """
    if "path" not in files.column_names:
        return ColumnRanges(num_files=0, reason="The newest version cannot be read.")
    if is_partition:
        return _partition_ranges(files, names)
    counts = leaf_values(files["null_count"], names)
    low, high = leaf_values(files["min"], names), leaf_values(files["max"], names)
    if counts is None:
        if files.num_rows > MAX_PARSED:
            return ColumnRanges(
                num_files=files.num_rows,
                reason="The index of a table with this many files keeps the"
                " statistics of its first columns only.",
            )
        try:
            read = read_statistics(files["stats"], None, schema, [names])
        except DeltaError:
            return ColumnRanges(
                num_files=files.num_rows,
                reason="Values of this type have no statistics.",
            )
        counts = leaf_values(read["null_count"], names)
        low, high = leaf_values(read["min"], names), leaf_values(read["max"], names)
    if counts is None or pa.types.is_nested(counts.type):
        return ColumnRanges(
            num_files=files.num_rows,
            reason="Statistics are kept for its fields, not for the whole.",
        )
    return _ranges(files, counts, low, high)


def known_ranges(
    files: pa.Table, names: tuple[str, ...], *, is_partition: bool
) -> ColumnRanges | None:
    """Add up what the index has typed of a column, but its strip; None of no column.

    The arguments are those of `read_ranges`.
    """
    if "path" not in files.column_names:
        return None
    if is_partition:
        return _partition_ranges(files, names, with_strip=False)
    counts = leaf_values(files["null_count"], names)
    if counts is None or pa.types.is_nested(counts.type):
        return None
    bounds = leaf_values(files["min"], names), leaf_values(files["max"], names)
    return _ranges(files, counts, *bounds, with_strip=False)


def leaf_values(
    structs: pa.ChunkedArray, names: Sequence[str]
) -> pa.ChunkedArray | None:
    """Return the values at a path of structs; None where there is no such path."""
    column = structs
    for name in names:
        if not pa.types.is_struct(column.type):
            return None
        place = column.type.get_field_index(name)
        if place < 0:
            return None
        column = pc.struct_field(column, [place])
    return column


def _partition_ranges(
    files: pa.Table, names: tuple[str, ...], *, with_strip: bool = True
) -> ColumnRanges:
    values = leaf_values(files["partition"], names)
    if values is None:
        return ColumnRanges(num_files=files.num_rows)
    values = _beginnings(values)
    is_null = pc.is_null(values)
    records = files["num_records"]
    num_without = records.null_count
    nulls = pc.sum(pc.if_else(is_null, records, 0)).as_py() or 0
    ends = extremes(values, values)
    return ColumnRanges(
        num_files=files.num_rows,
        num_bounds=files.num_rows - values.null_count,
        num_counts=files.num_rows - num_without,
        num_nulls=nulls if num_without < files.num_rows else None,
        num_rows=pc.sum(records).as_py(),
        minimum=ends.smallest,
        maximum=ends.largest,
        lowest=ends.lowest,
        highest=ends.highest,
        strip=range_strip(values, values) if with_strip else None,
    )


def _ranges(
    files: pa.Table,
    counts: pa.ChunkedArray,
    low: pa.ChunkedArray | None,
    high: pa.ChunkedArray | None,
    *,
    with_strip: bool = True,
) -> ColumnRanges:
    wide = wide_files(files)
    counted = pc.and_(pc.is_valid(counts), pc.is_valid(files["num_records"]))
    if wide is not None:  # nulls of deleted rows are counted there
        counted = pc.and_(counted, pc.or_(pc.invert(wide), pc.equal(counts, 0)))
    num_counts = len(counts) - counts.null_count
    facts = ColumnRanges(
        num_files=files.num_rows,
        num_counts=num_counts,
        num_nulls=pc.sum(counts.filter(counted)).as_py() if num_counts else None,
        num_rows=pc.sum(files["num_records"].filter(counted)).as_py(),
    )
    if low is None or high is None or not _has_order(low.type):
        return facts
    low, high = _beginnings(low), _beginnings(high)
    both = pc.and_(pc.is_valid(low), pc.is_valid(high))
    ends = extremes(low, high, wide)
    return replace(
        facts,
        num_bounds=pc.sum(both).as_py() or 0,
        minimum=ends.smallest,
        maximum=ends.largest,
        lowest=ends.lowest,
        highest=ends.highest,
        num_cut=_count_cut(low, high),
        strip=range_strip(low, high) if with_strip else None,
    )


def _beginnings(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return long texts by as much of them as is shown and kept; others as they are."""
    if not pa.types.is_string(values.type):
        return values
    if (pc.max(pc.binary_length(values)).as_py() or 0) <= MAX_LENGTH:
        return values
    return pc.utf8_slice_codeunits(values, 0, MAX_LENGTH)


def _has_order(data_type: pa.DataType) -> bool:
    kinds = pa.types
    return not (
        kinds.is_nested(data_type)
        or kinds.is_null(data_type)
        or kinds.is_binary(data_type)
    )


def _count_cut(low: pa.ChunkedArray, high: pa.ChunkedArray) -> int:
    """Count files with a bound of the length at which writers cut texts."""
    if not pa.types.is_string(low.type):
        return 0
    lengths = [pc.utf8_length(ends) for ends in (low, high)]
    is_long = [
        pc.fill_null(pc.greater_equal(length, DEFAULT_STRING_PREFIX), fill_value=False)
        for length in lengths
    ]
    return pc.sum(pc.or_(*is_long)).as_py() or 0


# === Ranges ===


def range_strip(
    low: pa.ChunkedArray,
    high: pa.ChunkedArray,
    *,
    is_read: Mask | None = None,
    marks: Sequence[pa.Scalar | None] = (),
) -> RangeStrip | None:
    """Return the ranges of files as bars, ordered by where they begin.

    Args:
        is_read: The files that a condition reads, which have bars of their own; None
            for all.
        marks: Values whose places are returned.
    """

    def choose(chosen: pa.Array) -> None:
        nonlocal low, high, is_read
        low, high = low.take(chosen), high.take(chosen)
        is_read = None if is_read is None else is_read[chosen.to_numpy()]

    if low.null_count or high.null_count:
        known = pc.and_(pc.is_valid(low), pc.is_valid(high))
        choose(pc.indices_nonzero(known).cast(pa.int64()))
    num_files = len(low)
    scale = _scale(low.type)
    if not num_files or scale is None:
        return None
    sampled = None
    if scale == "order" and num_files > MAX_RANKED:
        choose(pa.array(np.linspace(0, num_files - 1, MAX_RANKED).astype(np.int64)))
        sampled = MAX_RANKED
    starts, ends = _places(low, high, scale)
    finite = np.isfinite(starts) & np.isfinite(ends)
    if not finite.all():
        choose(pa.array(np.flatnonzero(finite)))
        starts, ends = starts[finite], ends[finite]
    if not len(starts):
        return None
    return RangeStrip(
        bars=tuple(_bars(low, high, starts, ends, is_read)),
        scale=scale,
        num_files=num_files,
        sampled=sampled,
        depth=_depth(starts, ends),
        marks=tuple(_mark_place(value, low, high, scale) for value in marks),
    )


def mean_depth(low: pa.ChunkedArray, high: pa.ChunkedArray) -> float | None:
    """Return in how many ranges a value is on average; None of values without order.

    Args:
        low, high: Bounds of files, none of them null.
    """
    scale = _scale(low.type)
    if not len(low) or scale is None:
        return None
    starts, ends = _places(low, high, scale)
    finite = np.isfinite(starts) & np.isfinite(ends)
    return _depth(starts[finite], ends[finite]) if finite.any() else None


def _scale(data_type: pa.DataType) -> str | None:
    kinds = pa.types
    if kinds.is_date(data_type) or kinds.is_timestamp(data_type):
        return "time"
    if kinds.is_integer(data_type) or kinds.is_floating(data_type):
        return "number"
    if kinds.is_decimal(data_type):
        return "number"
    if kinds.is_string(data_type) or kinds.is_boolean(data_type):
        return "order"
    return None


def _places(
    low: pa.ChunkedArray, high: pa.ChunkedArray, scale: str
) -> tuple[Doubles, Doubles]:
    """Return where the bounds are on the axis."""
    if scale == "order":
        both = pa.chunked_array([*low.chunks, *high.chunks], low.type)
        if pa.types.is_boolean(both.type):
            both = both.cast(pa.int8())
        ranks = pc.rank(both, tiebreaker="dense").to_numpy().astype(np.float64)
        return ranks[: len(low)], ranks[len(low) :]
    return _numbers(low), _numbers(high)


def _numbers(column: pa.ChunkedArray) -> Doubles:
    kinds = pa.types
    if kinds.is_date(column.type):
        days = column.cast(pa.date32()).cast(pa.int32()).to_numpy()
        return np.asarray(days * 86_400_000.0, np.float64)
    if kinds.is_timestamp(column.type):
        return np.asarray(column.cast(pa.int64()).to_numpy() / 1000, np.float64)
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), np.float64)


def _mark_place(
    value: pa.Scalar | None, low: pa.ChunkedArray, high: pa.ChunkedArray, scale: str
) -> float | None:
    """Return where a value is on the axis; None of one that has no place."""
    if value is None:
        return None
    try:
        literal = pa.array([value.as_py()], low.type)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None
    if scale != "order":
        place = float(_numbers(pa.chunked_array([literal]))[0])
        return place if np.isfinite(place) else None
    distinct = pa.chunked_array([*low.chunks, *high.chunks], low.type).unique()
    below = pc.sum(pc.less(distinct, literal[0])).as_py() or 0
    is_bound = pc.any(pc.equal(distinct, literal[0])).as_py()
    return float(below + 1 if is_bound else below + 0.5)


def _bars(
    low: pa.ChunkedArray,
    high: pa.ChunkedArray,
    starts: Doubles,
    ends: Doubles,
    is_read: Mask | None,
) -> list[RangeBar]:
    groups = _binned(starts, is_read)
    first = np.array([group[0] for group in groups])
    last = np.array([group[np.argmax(ends[group])] for group in groups])
    minimums = python_values(low.take(pa.array(first)))
    maximums = python_values(high.take(pa.array(last)))
    return [
        RangeBar(
            low=float(starts[first[place]]),
            high=float(ends[last[place]]),
            minimum=minimums[place],
            maximum=maximums[place],
            num_files=len(group),
            is_read=is_read is None or bool(is_read[group[0]]),
        )
        for place, group in enumerate(groups)
    ]


def _binned(starts: Doubles, is_read: Mask | None) -> list[npt.NDArray[np.int64]]:
    """Divide files among bars: files that are read and others have bars of their own.

    The bars are ordered by where they begin.
    """
    order = np.argsort(starts, kind="stable")
    num_bars = min(MAX_BARS, len(order))
    if is_read is None or is_read.all() or not is_read.any():
        return np.array_split(order, num_bars)
    read = order[is_read[order]]
    num_read = round(num_bars * len(read) / len(order))
    num_read = min(max(num_read, 1), num_bars - 1)
    others = order[~is_read[order]]
    groups = np.array_split(read, num_read)
    groups += np.array_split(others, num_bars - num_read)
    return sorted(groups, key=lambda group: float(starts[group[0]]))


def _depth(starts: Doubles, ends: Doubles) -> float:
    """Return how many ranges hold the beginning of a range, on average."""
    starts, ends = np.sort(starts), np.sort(ends)
    begun = np.searchsorted(starts, starts, side="right")
    over = np.searchsorted(ends, starts, side="left")
    return round(float((begun - over).mean()), 1)
