"""Single values of columns: as bounds of statistics, and as partition values.

Source: Iceberg specification, "Binary single-value serialization" and "Avro".
"""

from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from deltaweb.iceberg.avro import (
    Encoded,
    Longs,
    encoded_longs,
    encoded_texts,
    fixed_width,
    of_lengths,
    where_valid,
)

LONG_DIGITS: Final = 18
"""Decimals of so many digits are numbers of 64 bits."""


def bound_bytes(values: pa.Array) -> pa.BinaryArray:
    """Return values as the bytes that bounds are; null stays null.

    Args:
        values: Of a type of `deltaweb.delta.protocol.schema.arrow_type`, without parts.
    """
    kind = values.type
    if pt.is_string(kind) or pt.is_binary(kind):
        return values.cast(pa.binary())
    if pt.is_decimal(kind) and kind.precision <= LONG_DIGITS:
        return where_valid(_shortest(_low_words(values)), values)
    if pt.is_decimal(kind):
        texts = [_unscaled(value, kind.scale) for value in values.to_pylist()]
        return pa.array(texts, pa.binary())
    return where_valid(fixed_width(_numbers(values)), values)


def partition_bytes(values: pa.Array) -> Encoded:
    """Return values as Avro has them; null stays null."""
    kind = values.type
    if pt.is_string(kind) or pt.is_binary(kind):
        return encoded_texts(values)
    if pt.is_decimal(kind):
        width = decimal_bytes(kind.precision)
        texts = [_unscaled(value, kind.scale, width) for value in values.to_pylist()]
        return pa.array(texts, pa.binary())
    numbers = _numbers(values)
    if pt.is_boolean(kind) or pt.is_floating(kind):
        return where_valid(fixed_width(numbers), values)
    return where_valid(encoded_longs(numbers.astype(np.int64)), values)


def decimal_bytes(precision: int) -> int:
    return int((10**precision).bit_length()) // 8 + 1


def _numbers(values: pa.Array) -> Any:  # noqa: ANN401 (numpy, of the type's own width)
    """Return values as numbers in the width that Iceberg has, zero for null."""
    kind = values.type
    if pt.is_boolean(kind):
        return values.fill_null(False).to_numpy(zero_copy_only=False).astype(np.uint8)  # noqa: FBT003
    if pt.is_float32(kind):
        return values.fill_null(0).to_numpy().astype("<f4")
    if pt.is_float64(kind):
        return values.fill_null(0).to_numpy().astype("<f8")
    if pt.is_date32(kind):
        return values.cast(pa.int32()).fill_null(0).to_numpy().astype("<i4")
    if pt.is_timestamp(kind):
        micros = values.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
        return micros.fill_null(0).to_numpy().astype("<i8")
    is_long = pt.is_int64(kind)
    return values.fill_null(0).to_numpy().astype("<i8" if is_long else "<i4")


def _unscaled(value: Decimal | None, scale: int, width: int = 0) -> bytes | None:
    """Return a decimal's digits as a number of two's complement, largest byte first."""
    if value is None:
        return None
    sign, digits, exponent = value.as_tuple()
    size = int("".join(map(str, digits))) * 10 ** (scale + int(exponent))
    number: int = -size if sign else size
    # A bit for the sign; -128 still fits into one byte.
    length = width or ((number + (number < 0)).bit_length() // 8 + 1)
    return number.to_bytes(length, "big", signed=True)


def _low_words(values: pa.Array) -> Longs:
    """Return the digits of decimals of few digits as numbers, any for null."""
    words = np.frombuffer(values.buffers()[1], np.int64)[::2]
    return words[values.offset : values.offset + len(values)]


def _shortest(numbers: Longs) -> pa.BinaryArray:
    """Return numbers in as few bytes as hold them and their sign, largest first."""
    size = (numbers ^ (numbers >> 63)).view(np.uint64)
    lengths = np.ones(len(numbers), np.int32)
    for count in range(1, 8):
        lengths += size >= np.uint64(1 << (8 * count - 1))
    grid = numbers.astype(">i8").view(np.uint8).reshape(-1, 8)
    data = grid[np.arange(8, dtype=np.int32) >= 8 - lengths[:, None]]
    return of_lengths(lengths, data.tobytes())
