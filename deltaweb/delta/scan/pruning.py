"""Files that a condition leaves, before any of them is opened."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.scan.column_ranges import partition_ranges, statistics_ranges
from deltaweb.delta.scan.predicate import Expression, Predicate, predicate_columns
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
        with suppress(*EVALUATION_FAULTS):
            mask = may_match(predicate, ranges, num_files)
        unknown = [path for path in unknown if path not in ranges]
        if not unknown or not (mask if among is None else mask & among).any():
            break
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
