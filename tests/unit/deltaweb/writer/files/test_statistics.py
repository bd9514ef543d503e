"""Statistics are true bounds of the rows, and JSON can say them."""

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.errors import PropertyError
from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.protocol.table_properties import INDEXED_COLUMNS, STATISTICS_COLUMNS
from deltaweb.writer.files.statistics import FileStatistics, statistics_columns
from tests.support import cases


def statistics_of(*tables: pa.Table) -> dict[str, Any]:
    """The statistics of a file of some row groups."""
    columns = statistics_columns(schema_of_arrow(tables[0].schema), {})
    statistics = FileStatistics(columns)
    for table in tables:
        statistics.add(table)
    parsed: dict[str, Any] = json.loads(statistics.to_json(), parse_float=Decimal)
    return parsed


def collect(values: list[Any], data_type: pa.DataType) -> tuple[Any, Any, Any]:
    """Minimum, maximum and null count of one column, of a row group a value."""
    groups = [pa.table({"c": pa.array([value], data_type)}) for value in values]
    found = statistics_of(*groups)
    return (
        found["minValues"].get("c"),
        found["maxValues"].get("c"),
        found["nullCount"].get("c"),
    )


def at(microsecond: int) -> datetime:
    return datetime(2026, 11, 21, 8, 30, 0, microsecond, tzinfo=UTC)


@cases(
    "values, data_type, expected",
    {
        "whole numbers": ([3, None, -7], pa.int64(), (-7, 3, 1)),
        "a long stays exact": ([2**62], pa.int64(), (2**62, 2**62, 0)),
        "doubles": ([1.5, -2.0], pa.float64(), (-2, 1.5, 0)),
        "NaN bounds nothing": ([1.5, math.nan], pa.float64(), (None, None, 0)),
        "no infinite bound": ([1.5, math.inf], pa.float64(), (1.5, None, 0)),
        "dates": (
            [date(2026, 1, 2), date(2025, 3, 4)],
            pa.date32(),
            ("2025-03-04", "2026-01-02", 0),
        ),
        "decimals": (
            [Decimal("1.25"), Decimal("-3.10")],
            pa.decimal128(12, 2),
            (Decimal("-3.10"), Decimal("1.25"), 0),
        ),
        "decimals of many digits are exact": (
            [Decimal("-12345678901234567890123456789012345.678")],
            pa.decimal128(38, 3),
            (Decimal("-12345678901234567890123456789012345.678"),) * 2 + (0,),
        ),
        "booleans": ([True], pa.bool_(), (None, None, 0)),
        "binary": ([b"a", None], pa.binary(), (None, None, 1)),
        "nulls alone": ([None], pa.string(), (None, None, 1)),
        "lists": ([[1], None], pa.list_(pa.int64()), (None, None, 1)),
        "texts by code point": (["é", "z"], pa.string(), ("z", "é", 0)),
    },
)
def test_a_column_is_bounded_by_its_type(values, data_type, expected):
    assert collect(values, data_type) == expected


def test_both_zeros_are_within_the_bounds() -> None:
    statistics = FileStatistics((("c",),))
    statistics.add(pa.table({"c": [0.0, -0.0]}))

    assert '"minValues":{"c":-0.0},"maxValues":{"c":0.0}' in statistics.to_json()


def test_timestamps_are_rounded_outward_to_the_millisecond() -> None:
    assert collect([at(123_456), at(123_001)], pa.timestamp("us", "UTC")) == (
        "2026-11-21T08:30:00.123Z",
        "2026-11-21T08:30:00.124Z",
        0,
    )
    assert collect([-1], pa.timestamp("us")) == (
        "1969-12-31T23:59:59.999",
        "1970-01-01T00:00:00.000",
        0,
    )


def test_a_year_that_readers_do_not_parse_is_no_bound() -> None:
    assert collect([2**62, 0], pa.timestamp("us", "UTC")) == (
        "1970-01-01T00:00:00.000Z",
        None,
        0,
    )


@cases(
    "text",
    {
        "ASCII": "x" * 40,
        "beyond ASCII": "x" * 32 + "é",
        "the last of ASCII": "x" * 32 + "\x7f\x7f",
        "the last of all": "x" * 32 + "\U0010ffff!",
    },
)
def test_a_string_is_cut_and_its_maximum_stays_above(text: str) -> None:
    smallest, largest, _ = collect([text], pa.string())

    assert smallest == text[:32]
    assert largest.encode() > text.encode()


def test_nested_columns_are_mirrored() -> None:
    rows = pa.table({"a": [{"b": {"c": 1}}, None, {"b": {"c": 5}}]})

    assert statistics_of(rows) == {
        "numRecords": 3,
        "minValues": {"a": {"b": {"c": 1}}},
        "maxValues": {"a": {"b": {"c": 5}}},
        "nullCount": {"a": {"b": {"c": 1}}},
    }


class TestStatisticsColumns:
    SCHEMA = schema_of_arrow(
        pa.schema(
            [
                pa.field("a", pa.struct({"b": pa.int64(), "c.d": pa.string()})),
                *[pa.field(f"c{i:02d}", pa.int64()) for i in range(40)],
            ]
        )
    )

    def test_they_are_the_first_32_leaves(self) -> None:
        columns = statistics_columns(self.SCHEMA, {})

        assert columns[:3] == (("a", "b"), ("a", "c.d"), ("c00",))
        assert len(columns) == 32

    @pytest.mark.parametrize(("count", "found"), [("0", 0), ("1", 1), ("-1", 42)])
    def test_a_table_says_how_many(self, count: str, found: int) -> None:
        columns = statistics_columns(self.SCHEMA, {INDEXED_COLUMNS: count})

        assert len(columns) == found

    @pytest.mark.parametrize("count", ["-2", "many", ""])
    def test_a_count_that_is_none_is_refused(self, count: str) -> None:
        with pytest.raises(PropertyError, match="dataSkippingNumIndexedCols"):
            statistics_columns(self.SCHEMA, {INDEXED_COLUMNS: count})

    def test_a_table_may_name_them(self) -> None:
        named = {STATISTICS_COLUMNS: "C39, `a`.`c.d`", INDEXED_COLUMNS: "1"}

        assert statistics_columns(self.SCHEMA, named) == (("a", "c.d"), ("c39",))


VALUES = st.one_of(
    st.tuples(st.just(pa.int64()), st.lists(st.integers(-(2**63), 2**63 - 1))),
    st.tuples(st.just(pa.float64()), st.lists(st.floats(allow_nan=False))),
    st.tuples(
        st.just(pa.string()),
        st.lists(st.text(st.sampled_from("a\x7f\x80é\U0010ffff"), max_size=70)),
    ),
    st.tuples(st.just(pa.timestamp("us")), st.lists(st.integers(-(2**60), 2**60))),
    st.tuples(
        st.just(pa.decimal128(20, 4)),
        st.lists(st.decimals(-(10**15), 10**15, places=4)),
    ),
)


@given(VALUES)
def test_every_value_is_within_the_bounds(drawn: tuple[Any, list[Any]]) -> None:
    data_type, values = drawn
    low, high, _ = collect(values or [None], data_type)
    read: Any = Decimal if pa.types.is_decimal(data_type) else str
    if pa.types.is_integer(data_type) or pa.types.is_floating(data_type):
        read = int if pa.types.is_integer(data_type) else float
    if pa.types.is_timestamp(data_type):
        read = datetime.fromisoformat

    for value in values:
        exact = pa.scalar(value, data_type).as_py() if low or high else value
        assert low is None or read(low) <= exact
        assert high is None or read(high) >= exact
