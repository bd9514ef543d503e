"""Columns of Arrow as a whole: as one array, as lists, their bytes and exact sum."""

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_HALF_BITS: Final = 32  # half of a long


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, without a copy where it has one chunk."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.combine_chunks() if column.num_chunks else pa.nulls(0, column.type)


def as_lists(values: pa.Array) -> pa.Array:
    """Return maps as lists of structs of a key and a value, and lists as they are.

    A cast of pyarrow refuses maps with a value that is null and of a struct with a
    field that is NOT NULL.
    """
    if not pa.types.is_map(values.type):
        return values
    offsets = pa.array(values.offsets.to_numpy(), pa.int32())
    pairs = pa.StructArray.from_arrays([values.keys, values.items], ["key", "value"])
    return pa.ListArray.from_arrays(offsets, pairs, mask=values.is_null())


def joined_bytes(texts: pa.StringArray | pa.BinaryArray) -> bytes:
    """Return the bytes of all values, one after the other."""
    _, offsets, data = texts.buffers()
    if data is None or offsets is None or not len(texts):
        return b""
    bounds = np.frombuffer(offsets, np.int32)
    first, last = bounds[texts.offset], bounds[texts.offset + len(texts)]
    return bytes(memoryview(data)[int(first) : int(last)])


def exact_sum(numbers: pa.Array) -> int:
    """Return a sum that no count of large numbers can wrap around."""
    high = pc.sum(pc.shift_right(numbers, _HALF_BITS)).as_py() or 0
    low = pc.sum(pc.bit_wise_and(numbers, (1 << _HALF_BITS) - 1)).as_py() or 0
    return int((high << _HALF_BITS) + low)
