"""Files that a condition leaves, before any of them is opened."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.scan.column_ranges import partition_ranges, statistics_ranges
from deltaweb.delta.scan.predicate import (
    Expression,
    Predicate,
    compared_columns,
    predicate_columns,
)
from deltaweb.delta.scan.row_condition import RowCondition
from deltaweb.delta.scan.skipping import ColumnRange, Mask, may_match

MAX_PARTITIONS_TRIED = 20_000
"""Distinct partition values that an Arrow expression is tried on; more keep all."""

EVALUATION_FAULTS: Final = (
    pa.ArrowException,
    ArithmeticError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a condition may raise whose values are not of its columns' types."""

ReadStatistics: TypeAlias = Callable[[Sequence[ColumnPath]], pa.Table]
"""Typed statistics of the columns asked for, row for row with the files."""

Ranges: TypeAlias = Mapping[ColumnPath, ColumnRange]
ReadRanges: TypeAlias = Callable[[list[ColumnPath]], Ranges]
"""Ranges of the columns asked for; one that nothing is known of is left out."""


def prune(
    predicate: Predicate,
    num_files: int,
    sources: Sequence[ReadRanges],
    *,
    among: Mask | None = None,
) -> Mask:
    """Mark the files that may hold a row for which the condition is true.

    A condition that cannot be evaluated leaves every file.

    Args:
        sources: Where ranges come from, the cheapest first; each is asked for the
            columns that those before it do not know, as long as a file is left.
    """
    unknown = sorted(predicate_columns(predicate))
    ranges: dict[ColumnPath, ColumnRange] = {}
    mask = np.ones(num_files, np.bool_)
    for read in sources:
        ranges |= read(unknown)
        mask = _may_match(predicate, ranges, mask)
        unknown = [path for path in unknown if path not in ranges]
        if not unknown or not (mask if among is None else mask & among).any():
            break
    return mask


def _may_match(predicate: Predicate, ranges: Ranges, otherwise: Mask) -> Mask:
    with suppress(*EVALUATION_FAULTS):
        return may_match(predicate, ranges, len(otherwise))
    return otherwise


# === The parts of a condition ===


@dataclass(frozen=True, kw_only=True, eq=False)
class UnopenedFiles:
    """What is known of some files before any of them is opened.

    Attributes:
        partition_columns: Their names.
        partitions: Typed values of some partition columns, a field a column; None if
            some file has a text that is no value of its column's type.
        partition_ranges, statistics_ranges: As the sources of `prune`.
    """

    num_files: int
    partition_columns: Collection[str]
    partitions: Callable[[Collection[str]], pa.StructArray | None]
    partition_ranges: ReadRanges
    statistics_ranges: ReadRanges


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPart:
    """Which files one part of a condition leaves; all others are proved not to match.

    Attributes:
        by_partitions: The files that partition values leave.
        by_statistics: Those of them that statistics leave.
        unknown: The files that lack a range that the part needs; None if it was not
            judged by ranges.
        is_exact: Whether the part is true for every row of the files it leaves.
    """

    by_partitions: Mask
    by_statistics: Mask
    unknown: Mask | None = None
    is_exact: bool = False


def judge(
    parts: Sequence[RowCondition], facts: UnopenedFiles, *, among: Mask | None = None
) -> list[JudgedPart]:
    """Return which files each part of a condition leaves.

    A reader opens the files that all parts leave. A part over partition columns alone
    is evaluated; any other is compared with the ranges of its columns. A part that
    cannot be evaluated leaves every file.

    Args:
        among: The files that count; statistics are read only while one is left.
    """
    found: list[JudgedPart | None] = [_by_values(part, facts) for part in parts]
    left = np.ones(facts.num_files, np.bool_) if among is None else among.copy()
    for one in found:
        if one is not None:
            left &= one.by_partitions
    waiting = [
        (place, reach, predicate_columns(reach))
        for place, part in enumerate(parts)
        if found[place] is None and (reach := part.reach) is not None
    ]
    columns = sorted({path for *_, needed in waiting for path in needed})
    ranges = dict(facts.partition_ranges(columns))
    everything = np.ones(facts.num_files, np.bool_)
    first: dict[int, Mask] = {}
    for place, reach, needed in waiting:
        known = {path: ranges[path] for path in needed if path in ranges}
        first[place] = _may_match(reach, known, everything) if known else everything
        left &= first[place]
    unknown = [path for path in columns if path not in ranges]
    if unknown and left.any():
        ranges |= facts.statistics_ranges(unknown)
    for place, reach, needed in waiting:
        known = {path: ranges[path] for path in needed if path in ranges}
        second = first[place] & _may_match(reach, known, first[place])
        compared = compared_columns(reach)
        lacking = _lacking([known.get(path) for path in compared], facts.num_files)
        found[place] = JudgedPart(first[place], second, lacking)
    nothing = JudgedPart(everything, everything)
    return [nothing if one is None else one for one in found]


def _by_values(part: RowCondition, facts: UnopenedFiles) -> JudgedPart | None:
    """Judge a part over partition columns alone; None if it is another one."""
    if not set(part.names) <= set(facts.partition_columns):
        return None
    # A part that has no value for a file says so where the file's rows are reached.
    with suppress(DeltaError):
        values = facts.partitions(part.names)
        if values is not None:
            held = files_where_true(part, values).to_numpy(zero_copy_only=False)
            return JudgedPart(held, held, is_exact=True)
    return None


def _lacking(known: Sequence[ColumnRange | None], num_files: int) -> Mask:
    """Mark the files of which one of the ranges is unknown."""
    mask = np.zeros(num_files, np.bool_)
    for one in known:
        if one is None:
            return np.ones(num_files, np.bool_)
        if one.low.null_count and one.high.null_count:
            no_bounds = pc.and_(pc.is_null(one.low), pc.is_null(one.high))
            mask |= no_bounds.to_numpy(zero_copy_only=False) & ~one.all_null
    return mask


def files_for_predicate(
    predicate: Predicate,
    partitions: pa.StructArray,
    read_statistics: ReadStatistics | None,
) -> Mask:
    """Mark the files that may hold a row for which the condition is true.

    Args:
        read_statistics: Reads statistics of data columns; None when there are none.
    """
    sources: list[ReadRanges] = [lambda _: partition_ranges(partitions)]
    if read_statistics is not None:
        sources.append(lambda paths: statistics_ranges(read_statistics(paths), paths))
    return prune(predicate, len(partitions), sources)


def files_where_true(
    condition: RowCondition, partitions: pa.StructArray
) -> pa.BooleanArray:
    """Mark the files for whose partition values a condition is true.

    Args:
        condition: It looks at partition columns alone, or at none.
    """
    if partitions.type.num_fields:
        return condition.holds(pa.RecordBatch.from_struct_array(partitions))
    # A condition of no column is true of every row, or of none.
    one = pa.RecordBatch.from_arrays([pa.nulls(1)], names=["_"])
    return pa.repeat(condition.holds(one)[0], len(partitions))


def files_for_expression(
    expression: Expression, partitions: pa.StructArray, schema: pa.Schema
) -> Mask:
    """Mark the files whose partition values leave an Arrow expression possible.

    Arrow simplifies the expression by what is guaranteed of a fragment; one empty
    fragment stands for each distinct tuple of partition values. Nothing is guaranteed
    of NaN, which is unequal to itself.
    """
    names = [partitions.type.field(i).name for i in range(partitions.type.num_fields)]
    if not names:
        return np.ones(len(partitions), np.bool_)
    codes = _codes(partitions)
    distinct, first = np.unique(codes, return_index=True)
    if len(distinct) > MAX_PARTITIONS_TRIED:
        return np.ones(len(partitions), np.bool_)
    # What few conditions need is slow to load.
    from pyarrow import dataset as ds  # noqa: PLC0415
    from pyarrow import fs  # noqa: PLC0415

    # Fragments are only ever simplified: no file of these names is opened.
    fragment_format, filesystem = ds.ParquetFileFormat(), fs.LocalFileSystem()
    fragments = [
        fragment_format.make_fragment(
            str(code),
            filesystem=filesystem,
            partition_expression=_guarantee(partitions, names, position),
        )
        for code, position in zip(distinct, first, strict=True)
    ]
    dataset = ds.FileSystemDataset(fragments, schema, fragment_format, filesystem)
    kept = [int(fragment.path) for fragment in dataset.get_fragments(expression)]
    mask: Mask = np.isin(codes, kept)
    return mask


def _codes(partitions: pa.StructArray) -> npt.NDArray[np.int64]:
    """A number for each distinct tuple of partition values."""
    total = np.zeros(len(partitions), np.int64)
    for position in range(partitions.type.num_fields):
        column = pc.struct_field(partitions, [position])
        encoded = column.dictionary_encode(null_encoding="encode")
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        # Numbering the pairs again keeps the product of many columns small.
        pairs = total * (len(encoded.dictionary) + 1) + codes
        _, total = np.unique(pairs, return_inverse=True)
    return total


def _guarantee(
    partitions: pa.StructArray, names: Sequence[str], position: int
) -> Expression:
    guarantee = pc.scalar(pa.scalar(value=True))
    values = partitions[int(position)]
    for name in names:
        value = values[name]
        if not value.is_valid:
            guarantee &= pc.field(name).is_null()
        elif not (pa.types.is_floating(value.type) and np.isnan(value.as_py())):
            guarantee &= pc.field(name) == value
    return guarantee
