"""Timestamps of 96 bits are shown in every year, below lists and structs too."""

import io
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.scan.data_file import DataFile
from deltaweb.parquet.values.reading import read_rows

TIMES = [
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 123456, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(2266, 11, 10, 22, 13, 20, tzinfo=UTC),
    None,
]
TYPE = pa.timestamp("us", "UTC")


def shown(value: Any) -> Any:  # noqa: ANN401  # a value of JSON
    if isinstance(value, datetime):
        return f"{value.replace(tzinfo=None).isoformat(timespec='microseconds')}000"
    if isinstance(value, list):
        return [shown(each) for each in value]
    if isinstance(value, dict):
        return {name: shown(each) for name, each in value.items()}
    return value


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_the_preview_agrees_with_the_rows(*, use_dictionary: bool) -> None:
    rows = pa.table(
        {
            "t": pa.array(TIMES, TYPE),
            "l": pa.array([TIMES, [], None, TIMES[:1], [None]], pa.list_(TYPE)),
            "s": pa.array([{"t": time} for time in TIMES], pa.struct({"t": TYPE})),
        }
    )
    sink = io.BytesIO()
    options = {"use_deprecated_int96_timestamps": True, "store_schema": False}
    pq.write_table(rows, sink, use_dictionary=use_dictionary, **options)
    data = sink.getvalue()
    with DataFile("a.parquet", lambda _: pa.BufferReader(data)) as file:
        (_, held), *_ = file.batches(schema_of_arrow(rows.schema), 0)

    read = pa.table(held).to_pylist()
    assert read == rows.to_pylist()
    assert read_rows(pa.BufferReader(data), 9) == [shown(row) for row in read]
