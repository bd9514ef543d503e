"""A column with a NaN has no bounds in a footer, wherever it is nested."""

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.values.footer_bounds import (
    floating_leaves,
    leaves_with_nan,
    leaves_without,
)
from tests.support import cases

NAN = math.nan
MAP = pa.map_(pa.string(), pa.float64())
DEEP = pa.list_(pa.struct([("x", pa.float32()), ("y", pa.int64())]))


@cases(
    "values, path",
    {
        "a column": (pa.array([1.0, NAN, None]), "c"),
        "a float": (pa.array([NAN], pa.float32()), "c"),
        "a struct": (pa.array([{"x": 1.0}, {"x": NAN}]), "c.x"),
        "a list": (pa.array([[1.0], None, [NAN]]), "c.list.element"),
        "a map": (pa.array([[("k", NAN)], None], MAP), "c.key_value.value"),
        "any depth": (pa.array([[{"x": NAN, "y": 1}]], DEEP), "c.list.element.x"),
    },
)
def test_a_nan_is_found_by_the_path_that_the_file_has(values: pa.Array, path: str):
    rows = pa.table({"n": [1] * len(values), "c": values})

    found = leaves_with_nan(rows)

    assert found == {path}
    bounded = leaves_without(rows.schema, found)
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, rows.schema, write_statistics=bounded) as writer:
        writer.write_table(rows)
    group = pq.read_metadata(pa.BufferReader(sink.getvalue())).row_group(0)
    chunks = [group.column(at) for at in range(group.num_columns)]
    without = {c.path_in_schema for c in chunks if c.statistics is None}
    assert without == {path}


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1.0, math.inf, None]),
        pa.array(["NaN"]),
        pa.array([[NAN], [1.0]])[1:],
        pa.array([[("k", NAN)], [("k", 1.0)]], MAP)[1:],
        pa.array([{"x": NAN}, {"x": 1.0}])[1:],
        pa.StructArray.from_arrays([pa.array([NAN])], ["x"], mask=pa.array([True])),
    ],
)
def test_what_rows_do_not_have_is_not_found(values: pa.Array) -> None:
    assert not leaves_with_nan(pa.table({"c": values}))


def test_columns_without_a_nan_all_have_bounds() -> None:
    schema = pa.schema([("n", pa.int64()), ("x", pa.float64()), ("m", MAP)])

    assert leaves_without(schema, frozenset()) is True
    assert floating_leaves(schema) == {"x", "m.key_value.value"}
    assert leaves_without(schema, floating_leaves(schema)) == ["n", "m.key_value.key"]
    assert leaves_without(pa.schema([("x", pa.float64())]), frozenset({"x"})) is False
