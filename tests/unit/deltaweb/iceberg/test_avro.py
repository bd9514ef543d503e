"""Columns of values as Avro."""

import numpy as np
import pyarrow as pa
import pytest

from deltaweb.iceberg.avro import (
    container,
    encoded_long,
    encoded_longs,
    encoded_map,
    encoded_texts,
    joined,
    optional,
)

MOST, LEAST = (1 << 63) - 1, -(1 << 63)


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (-1, "01"),
        (1, "02"),
        (-64, "7f"),
        (64, "8001"),
        (8191, "fe7f"),
        (8192, "808001"),
        (MOST, "feffffffffffffffff01"),
        (LEAST, "ffffffffffffffffff01"),
    ],
)
def test_a_number_is_zigzag_with_seven_bits_a_byte(value: int, encoded: str) -> None:
    assert encoded_long(value).hex() == encoded


def test_a_column_of_numbers_is_what_each_of_them_is() -> None:
    values = [0, -1, 300, 1 << 40, LEAST, MOST, 7]

    column = encoded_longs(np.array(values, np.int64))

    assert column.to_pylist() == [encoded_long(value) for value in values]


def test_texts_have_their_lengths_in_bytes() -> None:
    column = encoded_texts(pa.array(["", "ü", None]))

    assert column.to_pylist() == [b"\x00", b"\x04\xc3\xbc", None]
    assert optional(column).to_pylist() == [b"\x02\x00", b"\x02\x04\xc3\xbc", b"\x00"]


def test_a_map_has_the_entries_that_a_row_has() -> None:
    first = pa.array([b"a", None, None], pa.binary())
    second = pa.array([b"b", b"c", None], pa.binary())

    column = encoded_map([(1, first), (2, second)], 3)

    assert column.to_pylist() == [
        b"\x02\x04" + b"\x02a" + b"\x04b" + b"\x00",
        b"\x02\x02" + b"\x04c" + b"\x00",
        b"\x00",
    ]


def test_a_row_of_constants_is_as_long_as_the_column() -> None:
    assert joined([b"a", b"b"], 2).to_pylist() == [b"ab", b"ab"]


def test_equal_rows_give_equal_files() -> None:
    rows = pa.array([b"\x02", b"\x04"], pa.binary())

    files = [container(rows, {"type": "int"}, {"a": "b"}) for _ in range(2)]

    assert files[0] == files[1]
    assert files[0].startswith(b"Obj\x01")
