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
    statistics: pa.Table, columns: Iterable[ColumnPath]
) -> dict[ColumnPath, ColumnRange]:
    """Ranges of data columns, as far as statistics tell.

    Args:
        columns: The columns to look at; one that it does not hold is left out.
    """
    table = statistics.combine_chunks()
    num_records = _one(table.column("num_records"))
    low, high = _one(table.column("min")), _one(table.column("max"))
    null_counts = _one(table.column("null_count"))
    ranges: dict[ColumnPath, ColumnRange] = {}
    for path in columns:
        null_count = _at(null_counts, path)
        if null_count is None:
            continue
        lows, highs = _at(low, path), _at(high, path)
        if lows is None or highs is None:
            lows = highs = pa.nulls(len(table))
        if pa.types.is_float64(lows.type):
            lows = _around(lows, pc.min_element_wise)
            highs = _around(highs, pc.max_element_wise)
        is_known = pc.is_valid(null_count)
        # Writers differ in whether a null struct counts for the columns inside.
        has_none = (
            pc.and_(is_known, pc.equal(null_count, 0)) if len(path) == 1 else None
        )
        ranges[path] = ColumnRange(
            low=lows,
            high=highs,
            is_exact=False,
            all_null=_mask(pc.equal(null_count, num_records)),
            some_null=np.ones(len(table), np.bool_)
            if has_none is None
            else ~_mask(has_none),
        )
    return ranges


def _around(
    bounds: pa.Array, outermost: Callable[[pa.Array, pa.Array], pa.Array]
) -> pa.Array:
    """Widen bounds of doubles that were written when the column was a float.

    Such a bound is text that means the nearest number of 32 bits, as 0.7 does
    0.699999988079071. Those of later files lose what hardly skips a file.
    """
    return outermost(bounds, bounds.cast(pa.float32(), safe=False).cast(bounds.type))


def _one(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)  # as it is: joining would copy it
    array = column.combine_chunks()
    return (
        pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    )


def _at(array: pa.Array, path: ColumnPath) -> pa.Array | None:
    for name in path:
        if not pa.types.is_struct(array.type):
            return None
        position = array.type.get_field_index(name)
        if position < 0:
            return None
        array = pc.struct_field(array, [position])
    return None if pa.types.is_struct(array.type) else array


def _mask(array: pa.Array) -> Mask:
    if array.null_count:
        array = pc.fill_null(array, fill_value=False)
    mask: Mask = array.to_numpy(zero_copy_only=False)
    return mask
