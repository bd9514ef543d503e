"""Statistics are true bounds of the rows, and JSON can say them."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.column_statistics import collect_statistics


def collect(values: list[Any], data_type: pa.DataType) -> tuple[Any, Any, Any]:
    """Minimum, maximum and null count of one column."""
    statistics: dict[str, Any] = collect_statistics(
        pa.table({"c": pa.array(values, data_type)})
    )
    json.dumps(statistics, allow_nan=False)
    return (
        statistics["minValues"].get("c"),
        statistics["maxValues"].get("c"),
        statistics["nullCount"].get("c"),
    )


def at(microsecond: int) -> datetime:
    return datetime(2026, 11, 21, 8, 30, 0, microsecond, tzinfo=UTC)


class TestCollectStatistics:
    @pytest.mark.parametrize(
        ("values", "data_type", "expected"),
        [
            pytest.param([3, None, -7], pa.int64(), (-7, 3, 1), id="whole numbers"),
            pytest.param(
                [2**62], pa.int64(), (2**62, 2**62, 0), id="a long stays exact"
            ),
            pytest.param([1.5, -2.0], pa.float64(), (-2.0, 1.5, 0), id="doubles"),
            pytest.param(
                [1.5, float("nan")],
                pa.float64(),
                (None, None, 0),
                id="NaN bounds nothing",
            ),
            pytest.param(
                [date(2026, 1, 2), date(2025, 3, 4)],
                pa.date32(),
                ("2025-03-04", "2026-01-02", 0),
                id="dates",
            ),
            pytest.param(
                [Decimal("1.25"), Decimal("-3.10")],
                pa.decimal128(12, 2),
                (-3.1, 1.25, 0),
                id="short decimals",
            ),
            pytest.param(
                [Decimal(1)], pa.decimal128(38, 2), (None, None, 0), id="long decimals"
            ),
            pytest.param([True], pa.bool_(), (None, None, 0), id="booleans"),
            pytest.param([b"a", None], pa.binary(), (None, None, 1), id="binary"),
            pytest.param([None], pa.string(), (None, None, 1), id="nulls alone"),
            pytest.param(
                [[1], None], pa.list_(pa.int64()), (None, None, 1), id="lists"
            ),
        ],
    )
    def test_bounds_a_column_by_its_type(
        self, values: list[Any], data_type: pa.DataType, expected: tuple[Any, Any, Any]
    ) -> None:
        assert collect(values, data_type) == expected

    def test_rounds_timestamps_outward_to_the_millisecond(self) -> None:
        bounds = collect([at(123_456), at(123_001)], pa.timestamp("us", "UTC"))

        assert bounds == (
            "2026-11-21T08:30:00.123Z",
            "2026-11-21T08:30:00.124Z",
            0,
        )

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("x" * 40, id="ASCII"),
            pytest.param("x" * 32 + "é", id="beyond ASCII"),
            pytest.param("x" * 32 + "\x7f\x7f", id="the last of ASCII"),
        ],
    )
    def test_cuts_strings_and_keeps_the_maximum_above_them(self, text: str) -> None:
        smallest, largest, _ = collect([text], pa.string())

        assert smallest == text[:32]
        assert largest.encode() > text.encode()
        assert len(largest) == 33

    def test_mirrors_nested_columns(self) -> None:
        rows = pa.table({"a": [{"b": {"c": 1}}, None, {"b": {"c": 5}}]})

        statistics = collect_statistics(rows)

        assert statistics == {
            "numRecords": 3,
            "minValues": {"a": {"b": {"c": 1}}},
            "maxValues": {"a": {"b": {"c": 5}}},
            "nullCount": {"a": {"b": {"c": 1}}},
        }

    def test_covers_the_first_32_leaf_columns(self) -> None:
        rows = pa.table({f"c{i:02d}": [i] for i in range(40)})

        statistics: dict[str, Any] = collect_statistics(rows)

        assert len(statistics["nullCount"]) == 32
        assert "c31" in statistics["maxValues"]
        assert "c32" not in statistics["maxValues"]
