"""What partition values and statistics say of each column of each file."""

from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.scan.skipping import ColumnRange, Mask


def partition_ranges(partitions: pa.StructArray) -> dict[ColumnPath, ColumnRange]:
    """Ranges of partition columns.

    Args:
        partitions: Typed partition values, a field a column, an entry a file.
    """
    return {
        (column.name,): partition_range(pc.struct_field(partitions, [position]))
        for position, column in enumerate(partitions.type)
    }


def partition_range(values: pa.Array, bad: Mask | None = None) -> ColumnRange:
    """The range of a partition column: each file has one value.

    Args:
        bad: Files whose value is unknown, null in `values`; None for none.
    """
    is_null = _mask(pc.is_null(values))
    return ColumnRange(
        low=values,
        high=values,
        is_exact=True,
        all_null=is_null if bad is None else is_null & ~bad,
        some_null=is_null,
    )


def statistics_ranges(
    statistics: pa.Table | pa.RecordBatch, columns: Iterable[ColumnPath]
) -> dict[ColumnPath, ColumnRange]:
    """Ranges of data columns, as far as statistics tell.

    Args:
        columns: The columns to look at; one that it does not hold is left out.
    """
    num_records, low, high, null_counts = (
        _one(statistics.column(name))
        for name in ("num_records", "min", "max", "null_count")
    )
    ranges: dict[ColumnPath, ColumnRange] = {}
    for path in columns:
        null_count = leaf_of(null_counts, path)
        if null_count is not None:
            bounds = leaf_of(low, path), leaf_of(high, path)
            ranges[path] = statistics_range(path, *bounds, null_count, num_records)
    return ranges


def statistics_range(
    path: ColumnPath,
    low: pa.Array | None,
    high: pa.Array | None,
    null_count: pa.Array,
    num_records: pa.Array,
) -> ColumnRange:
    """Return the range of a data column, as far as its statistics tell.

    Args:
        low, high: None of a column that has no bounds.
    """
    if low is None or high is None:
        low = high = pa.nulls(len(num_records))
    if pa.types.is_float64(low.type):
        low = _around(low, pc.min_element_wise)
        high = _around(high, pc.max_element_wise)
    # Writers differ in whether a null struct counts for the columns inside.
    has_none = pc.equal(null_count, 0) if len(path) == 1 else None
    return ColumnRange(
        low=low,
        high=high,
        is_exact=False,
        all_null=_mask(pc.equal(null_count, num_records)),
        some_null=np.ones(len(num_records), np.bool_)
        if has_none is None
        else ~_mask(has_none),
    )


def _around(
    bounds: pa.Array, outermost: Callable[[pa.Array, pa.Array], pa.Array]
) -> pa.Array:
    """Widen bounds of doubles that were written when the column was a float.

    Such a bound is text that means the nearest number of 32 bits, as 0.7 does
    0.699999988079071. Those of later files lose what hardly skips a file.
    """
    return outermost(bounds, bounds.cast(pa.float32(), safe=False).cast(bounds.type))


def _one(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)  # as it is: joining would copy it
    array = column.combine_chunks()
    return (
        pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    )


def leaf_of(array: pa.Array, path: ColumnPath) -> pa.Array | None:
    """Return the values at a path of structs; None if there are none."""
    for name in path:
        if not pa.types.is_struct(array.type):
            return None
        position = array.type.get_field_index(name)
        if position < 0:
            return None
        array = (
            pc.struct_field(array, [position])
            if array.null_count
            else array.field(position)  # the same, and sooner
        )
    return None if pa.types.is_struct(array.type) else array


def _mask(array: pa.Array) -> Mask:
    if array.null_count:
        array = pc.fill_null(array, fill_value=False)
    mask: Mask = array.to_numpy(zero_copy_only=False)
    return mask
