"""Decimals of few digits in more than 16 bytes are read, at every depth."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DataFileError, DataFileUnsupportedError
from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.scan.data_file import DataFile
from deltaweb.parquet.values.reading import read_rows
from tests.support.files.changed_schemas import elements_of, with_schema
from tests.support.files.lossy_files import written

UNSCALED = [105, -105, None, 0, 10**38 - 1]
VALUES = [None if one is None else Decimal(f"{one}E-2") for one in UNSCALED]
TYPE = pa.decimal128(38, 2)


def stored(number: int | None, length: int) -> bytes | None:
    return None if number is None else number.to_bytes(length, "big", signed=True)


def file_of(values: pa.Array, *, precision: int = 38, logical: bool = False) -> bytes:
    data = written(pa.table({"d": values}))
    decimal: dict[str, Any] = {
        "converted_type": "DECIMAL",
        "precision": precision,
        "scale": 2,
    }
    if logical:
        decimal["logical_type"] = (5, {1: 2, 2: precision})
    elements = [
        one._replace(**decimal)
        if one.physical_type in {"BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}
        else one
        for one in elements_of(data)
    ]
    return with_schema(data, elements)


def values_of(data: bytes, kind: pa.DataType) -> list[Any]:
    schema = schema_of_arrow(pa.schema({"d": kind}))
    with DataFile("a.parquet", lambda _: pa.BufferReader(data)) as file:
        return [
            value
            for _, columns in file.batches(schema, 0)
            for value in columns["d"].to_pylist()
        ]


@pytest.mark.parametrize("logical", [True, False])
@pytest.mark.parametrize("length", [17, 20, 32])
def test_of_fixed_length(length: int, *, logical: bool) -> None:
    raw = [stored(number, length) for number in UNSCALED]
    data = file_of(pa.array(raw, pa.binary(length)), logical=logical)

    assert values_of(data, TYPE) == VALUES
    shown = [row["d"] for row in read_rows(pa.BufferReader(data), 9)]
    assert shown == [None if one is None else f"{one:f}" for one in VALUES]


def test_of_any_length() -> None:
    raw = [b"\x69", stored(-105, 17), None, stored(0, 32), stored(UNSCALED[4], 20)]

    assert values_of(file_of(pa.array(raw)), TYPE) == VALUES


def test_nulls_alone_and_no_rows() -> None:
    kind = pa.binary(20)

    assert values_of(file_of(pa.array([None, None], kind)), TYPE) == [None, None]
    assert values_of(file_of(pa.array([[], None], pa.list_(kind))), pa.list_(TYPE)) == [
        [],
        None,
    ]


def test_below_lists_and_structs() -> None:
    raw = [stored(number, 20) for number in UNSCALED]
    kind = pa.list_(pa.struct({"x": pa.binary(20)}))
    data = file_of(pa.array([[{"x": one} for one in raw], None, []], kind))

    wanted = [[{"x": one} for one in VALUES], None, []]
    assert values_of(data, pa.list_(pa.struct({"x": TYPE}))) == wanted


@pytest.mark.parametrize("number", [10**38, -(10**38), -(2**255), 2**255 - 1])
def test_a_value_of_too_many_digits_is_refused(number: int) -> None:
    data = file_of(pa.array([stored(number, 32)], pa.binary(32)))

    with pytest.raises(DataFileError, match="column 'd': a value does not fit decimal"):
        values_of(data, TYPE)


def test_more_bytes_are_not_supported() -> None:
    data = file_of(pa.array([stored(1, 33)], pa.binary(33)))

    with pytest.raises(DataFileUnsupportedError, match=r"d has DECIMAL\(38,2\) of 33"):
        values_of(data, TYPE)


@pytest.mark.parametrize("raw", [b"", bytes(33)])
def test_other_lengths_are_not_supported(raw: bytes) -> None:
    with pytest.raises(DataFileUnsupportedError, match="no bytes or more than 32"):
        values_of(file_of(pa.array([raw])), TYPE)
