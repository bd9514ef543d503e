"""Files that a condition leaves, before any of them is opened."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import fs

from deltaweb.delta.column_path import ColumnPath
from deltaweb.delta.column_ranges import partition_ranges, statistics_ranges
from deltaweb.delta.predicate import Expression, Predicate, predicate_columns
from deltaweb.delta.skipping import Mask, may_match

MAX_PARTITIONS_TRIED = 20_000
"""Distinct partition values that an Arrow expression is tried on; more keep all."""

ReadStatistics = Callable[[Sequence[ColumnPath]], pa.Table]
"""Typed statistics of the columns asked for, row for row with the files."""


def files_for_predicate(
    predicate: Predicate,
    partitions: pa.StructArray,
    read_statistics: ReadStatistics | None,
) -> Mask:
    """Mark the files that may hold a row for which the condition is true.

    Args:
        predicate: The condition.
        partitions: Typed partition values of the files.
        read_statistics: Reads statistics of data columns; None when there are none.
    """
    ranges = partition_ranges(partitions)
    wanted = sorted(path for path in predicate_columns(predicate) if path not in ranges)
    if not wanted or read_statistics is None:
        return may_match(predicate, ranges, len(partitions))
    selected = may_match(predicate, ranges, len(partitions))
    if not selected.any():
        return selected
    ranges |= statistics_ranges(read_statistics(wanted), wanted)
    return may_match(predicate, ranges, len(partitions))


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
