"""Statistics are exact where the log is right, and unknown where it is not."""

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta import statistics_lines
from deltaweb.delta.column_ranges import statistics_ranges
from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.schema import (
    ArrayType,
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.delta.statistics import parse_statistics, read_statistics
from deltaweb.delta.statistics_shape import statistics_shape

LONG = PrimitiveType("long")
SCHEMA = StructType(
    (
        StructField("i", LONG),
        StructField("n", PrimitiveType("byte")),
        StructField("f", PrimitiveType("double")),
        StructField("g", PrimitiveType("float")),
        StructField("s", PrimitiveType("string")),
        StructField("b", PrimitiveType("boolean")),
        StructField("d", PrimitiveType("date")),
        StructField("t", PrimitiveType("timestamp")),
        StructField("z", PrimitiveType("timestamp_ntz")),
        StructField("m", DecimalType(38, 18)),
        StructField("bin", PrimitiveType("binary")),
        StructField("list", ArrayType(LONG)),
        StructField(
            "st",
            StructType(
                (
                    StructField("x", LONG),
                    StructField("y", StructType((StructField("z", LONG),))),
                )
            ),
        ),
        StructField("a.b", LONG),
        StructField("v", PrimitiveType("void")),
    )
)


def column(*texts: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(texts, pa.string())])


def parsed(*texts: str | None, columns: Any = None) -> list[dict[str, Any]]:  # noqa: ANN401 # names
    table = parse_statistics(column(*texts), SCHEMA, columns)
    table.validate(full=True)
    assert table.schema.equals(statistics_shape(SCHEMA, columns).arrow)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def bound(name: str, value: object) -> Any:  # noqa: ANN401 # of any type
    """The smallest value that is read where the log says `value`."""
    text = json.dumps({"minValues": {name: value}})
    return (parsed(text, columns=[name])[0]["min"] or {}).get(name)


class TestValues:
    @pytest.mark.parametrize(
        ("name", "value", "expected"),
        [
            pytest.param("i", 2**53 + 1, 2**53 + 1, id="beyond a double"),
            pytest.param("i", -(2**63), -(2**63), id="the least long"),
            pytest.param("f", 1, 1.0, id="a whole number for a double"),
            pytest.param("g", 1.1, pa.scalar(1.1, pa.float32()).as_py(), id="a float"),
            pytest.param(
                "g",
                1.100000023841858,
                pa.scalar(1.1, pa.float32()).as_py(),
                id="a float that was widened",
            ),
            pytest.param("s", "é\U0010ffff", "é\U0010ffff", id="text"),
            pytest.param("s", "", "", id="an empty text"),
            pytest.param("b", False, False, id="a boolean"),
            pytest.param("d", "0001-01-01", date(1, 1, 1), id="a date"),
            pytest.param(
                "t",
                "2021-01-01T00:00:00.123-08:00",
                datetime(2021, 1, 1, 8, 0, 0, 123000, UTC),
                id="an offset",
            ),
            pytest.param(
                "t",
                "2021-01-01T00:00:00.123456Z",
                datetime(2021, 1, 1, 0, 0, 0, 123456, UTC),
                id="micros",
            ),
            pytest.param(
                "z",
                "2021-01-01T00:00:00.123",
                datetime(2021, 1, 1, 0, 0, 0, 123000),  # noqa: DTZ001 # no zone
                id="a time without a zone",
            ),
            pytest.param("a.b", 5, 5, id="a name with a dot"),
        ],
    )
    def test_are_exact(self, name: str, value: object, expected: object) -> None:
        assert bound(name, value) == expected

    def test_of_decimals_keep_every_digit(self) -> None:
        text = '{"minValues":{"m":12345678901234567890.123456789012345678}}'

        assert parsed(text, columns=["m"])[0]["min"]["m"] == Decimal(
            "12345678901234567890.123456789012345678"
        )

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            pytest.param("i", "5", id="text for a number"),
            pytest.param("i", 1.5, id="a fraction for a whole number"),
            pytest.param("i", 2**63, id="a number beyond the range"),
            pytest.param("n", 300, id="a number beyond a byte"),
            pytest.param("i", True, id="a boolean for a number"),
            pytest.param("i", {"x": 1}, id="an object for a number"),
            pytest.param("s", 5, id="a number for text"),
            pytest.param("b", 1, id="a number for a boolean"),
            pytest.param("d", "2021-02-30", id="no day"),
            pytest.param("d", 5, id="a number for a date"),
            pytest.param("t", "noon", id="no time"),
            pytest.param("m", 1e30, id="a decimal with too many digits"),
            pytest.param("m", 10**37, id="a decimal that would overflow"),
            pytest.param("m", 10**38, id="a decimal beyond all types"),
            pytest.param("f", "many", id="text for a double"),
            pytest.param("st", 5, id="a number for a struct"),
            pytest.param("i", None, id="null"),
        ],
    )
    def test_of_a_wrong_type_are_unknown(self, name: str, value: object) -> None:
        known = bound(name, value)

        assert known is None or known == {"x": None, "y": None}

    def test_that_json_cannot_write_as_numbers_are_read_from_text(self) -> None:
        assert math.isnan(bound("f", "NaN"))
        assert bound("f", "-Infinity") == -math.inf

    def test_too_large_for_a_double_say_nothing_beside_broken_rows(self) -> None:
        rows = parsed('{"minValues":{"f":1e400}}', "broken", columns=["f"])

        assert rows[0]["min"] == {"f": None}

    def test_of_one_broken_column_leave_the_others(self) -> None:
        row = parsed(
            '{"numRecords":3,"minValues":{"i":"x","s":"a"},"nullCount":{"i":1}}',
            columns=["i", "s"],
        )[0]

        assert row["num_records"] == 3
        assert row["min"] == {"i": None, "s": "a"}
        assert row["null_count"] == {"i": 1, "s": None}


class TestTexts:
    @pytest.mark.parametrize(
        "text",
        [
            pytest.param(None, id="null"),
            pytest.param("", id="empty"),
            pytest.param("{}", id="an empty object"),
            pytest.param('{"numRecords":3', id="torn"),
            pytest.param("nonsense", id="no JSON"),
            pytest.param("[1]", id="a list"),
            pytest.param("{}{}", id="two objects"),
            pytest.param('{"numRecords":1}\n{"numRecords":2}', id="two lines"),
            pytest.param('{"a":' + "[" * 50_000, id="deep and torn"),
            pytest.param('{"numRecords":' + "1" * 5000 + "}", id="a huge number"),
            pytest.param('{"a":"\x00"}', id="a NUL byte"),
        ],
    )
    def test_that_say_nothing_leave_their_neighbours(self, text: str | None) -> None:
        rows = parsed('{"numRecords":7}', text, '{"numRecords":8}', columns=["i"])

        assert [row["num_records"] for row in rows] == [7, None, 8]

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param('\n{"numRecords": 5\n}\n', id="over lines"),
            pytest.param('{"numRecords":4,"numRecords":5}', id="a key twice"),
            pytest.param(
                '{"numRecords":5,"x":' + "[" * 900 + "]" * 900 + "}", id="deep"
            ),
            pytest.param('{"numRecords":5,"tightBounds":true}', id="unknown keys"),
        ],
    )
    def test_of_unusual_form_are_read(self, text: str) -> None:
        rows = parsed('{"numRecords":7}', text, columns=["i"])

        assert [row["num_records"] for row in rows] == [7, 5]

    @pytest.mark.parametrize(
        "broken",
        [
            pytest.param(b'{"minValues":{"s":"\xff"}}', id="in a bound"),
            pytest.param(b'{"\xff":1}', id="in a name"),
        ],
    )
    def test_that_are_not_utf_8_say_nothing(self, broken: bytes) -> None:
        texts = pa.array([b'{"numRecords":7,"minValues":{"s":"a"}}', broken, b"{}"])
        data = pa.StringArray.from_buffers(len(texts), *texts.buffers()[1:])

        table = parse_statistics(pa.chunked_array([data]), SCHEMA, ["s"])

        assert table["num_records"].to_pylist() == [7, None, None]
        assert [(row or {}).get("s") for row in table["min"].to_pylist()] == [
            "a", None, None,
        ]  # fmt: skip

    def test_too_long_are_not_looked_at(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(statistics_lines, "MAX_STATS_BYTES", 16)
        monkeypatch.setattr("deltaweb.delta.statistics_json.MAX_STATS_BYTES", 16)

        rows = parsed('{"numRecords":7}', '{"numRecords":77}', columns=["i"])

        assert [row["num_records"] for row in rows] == [7, None]

    def test_of_no_files_have_the_columns_of_many(self) -> None:
        assert parsed(columns=["i"]) == []
        none = parse_statistics(pa.chunked_array([], pa.string()), SCHEMA, ["i"])
        assert none.schema.names == ["num_records", "min", "max", "null_count"]

    def test_in_many_slices_stay_row_for_row(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(statistics_lines, "MIN_SLICE_ROWS", 3)
        monkeypatch.setattr(statistics_lines, "SLICE_ROWS", 3)
        monkeypatch.setattr(statistics_lines, "SLICE_BYTES", 40)
        monkeypatch.setattr(statistics_lines, "RETRY_ROWS", 1)
        texts = [json.dumps({"numRecords": i}) for i in range(20)]
        texts[7] = "broken"

        rows = parsed(*texts, columns=["i"])

        expected = [None if i == 7 else i for i in range(20)]
        assert [row["num_records"] for row in rows] == expected


class TestShape:
    def test_is_of_the_columns_asked_for_alone(self) -> None:
        shape = statistics_shape(SCHEMA, ["st.y", "list", "bin", "a.b"])

        assert shape.bounds.names == ("st", "a.b")
        assert shape.counts.names == ("bin", "list", "st", "a.b")

    def test_gives_no_bounds_to_columns_without_an_order(self) -> None:
        shape = statistics_shape(SCHEMA)

        assert {"bin", "list", "v"}.isdisjoint(shape.bounds.names)
        assert {"bin", "list", "v"} <= set(shape.counts.names)

    def test_of_no_column_bears_broken_rows(self) -> None:
        rows = parsed("broken", '{"numRecords":7,"minValues":{"i":1}}', columns=[])

        assert [row["num_records"] for row in rows] == [None, 7]

    def test_of_no_column_has_the_number_of_records(self) -> None:
        assert parsed('{"numRecords":7}', columns=[])[0]["num_records"] == 7

    def test_names_a_column_that_is_none(self) -> None:
        with pytest.raises(ColumnNotFoundError, match="'zz'"):
            parsed("{}", columns=["zz"])


STRUCTS = pa.struct(
    [
        ("numRecords", pa.int64()),
        ("minValues", pa.struct([("i", pa.int64()), ("t", pa.timestamp("ns"))])),
        ("maxValues", pa.struct([("i", pa.int32()), ("s", pa.large_string())])),
        ("nullCounts", pa.struct([("i", pa.int64()), ("st", pa.int64())])),
    ]
)


COLUMNS = ["i", "n", "m", "st"]


class TestStructs:
    def test_are_picked_by_name_and_brought_to_type(self) -> None:
        structs = pa.chunked_array(
            [
                pa.array(
                    [
                        {
                            "numRecords": 3,
                            "minValues": {"i": 1, "t": None},
                            "maxValues": {"i": 5, "s": "z"},
                            "nullCounts": {"i": 0, "st": 1},
                        },
                        None,
                    ],
                    STRUCTS,
                )
            ]
        )

        table = read_statistics(None, structs, SCHEMA, ["i", "s", "t", "st"])

        table.validate(full=True)
        first, second = table.to_pylist()
        assert first["num_records"] == 3
        assert (first["min"]["i"], first["max"]["i"], first["max"]["s"]) == (1, 5, "z")
        assert first["null_count"]["i"] == 0
        assert first["null_count"]["st"] is None
        assert second["num_records"] is None

    @pytest.mark.parametrize(
        "structs",
        [
            pytest.param(pa.array([{"other": 1}]), id="none of the fields"),
            pytest.param(
                pa.array([{"minValues": 5, "numRecords": "x"}]), id="other types"
            ),
            pytest.param(pa.array([{"minValues": {"i": "x"}}]), id="text for a number"),
            pytest.param(pa.array([{"maxValues": {"n": 300}}]), id="beyond the range"),
            pytest.param(pa.array([{"minValues": {"st": {"x": 1.5}}}]), id="fractions"),
            pytest.param(
                pa.array([{"minValues": {"m": Decimal(10) ** 30}}]), id="overflow"
            ),
        ],
    )
    def test_that_do_not_fit_are_unknown(self, structs: pa.Array) -> None:
        table = read_statistics(
            None, pa.chunked_array([structs]), SCHEMA, ["i", "n", "st"]
        )

        row = table.to_pylist()[0]
        assert row["num_records"] is None
        assert not any((row["min"] or {}).get(name) for name in ("i", "n", "m"))
        assert not any((row["max"] or {}).get(name) for name in ("i", "n", "m"))

    def test_of_no_column_have_a_row_a_file(self) -> None:
        structs = pa.chunked_array([pa.array([{"minValues": {"i": 1}}] * 3)])

        assert read_statistics(None, structs, SCHEMA, []).num_rows == 3
        none = pa.chunked_array([], structs.type)
        assert read_statistics(None, none, SCHEMA, ["i"]).num_rows == 0

    def test_that_are_missing_give_way_to_json_row_by_row(self) -> None:
        structs = pa.chunked_array([pa.array([None, {"numRecords": 2}, None])])
        texts = column('{"numRecords":10}', '{"numRecords":20}', None)

        table = read_statistics(texts, structs, SCHEMA, ["i"])

        assert table["num_records"].to_pylist() == [10, 2, None]

    def test_that_are_filled_with_nulls_give_way_to_json(self) -> None:
        nothing = {"numRecords": None, "minValues": {"i": None}}
        structs = pa.chunked_array([pa.array([nothing, {"numRecords": 2}], STRUCTS)])
        texts = column('{"numRecords":10,"minValues":{"i":3}}', None)

        table = read_statistics(texts, structs, SCHEMA, ["i"])

        assert table["num_records"].to_pylist() == [10, 2]
        assert table["min"].to_pylist()[0] == {"i": 3}

    def test_that_are_not_utf_8_are_unknown(self) -> None:
        texts = pa.array([b"\xff"])
        data = pa.StringArray.from_buffers(1, *texts.buffers()[1:])
        bounds = pa.StructArray.from_arrays([data], ["s"])
        records = pa.array([5])
        structs = pa.StructArray.from_arrays(
            [records, bounds], ["numRecords", "minValues"]
        )

        table = read_statistics(None, pa.chunked_array([structs]), SCHEMA, ["s"])

        assert table["num_records"].to_pylist() == [5]
        assert table["min"].to_pylist() == [{"s": None}]

    def test_that_are_absent_leave_all_to_json(self) -> None:
        table = read_statistics(column('{"numRecords":10}'), None, SCHEMA, ["i"])

        assert table["num_records"].to_pylist() == [10]

    def test_of_decimals_are_rescaled(self) -> None:
        value = Decimal("1.5")
        structs = pa.chunked_array([pa.array([{"minValues": {"m": value}}])])

        table = read_statistics(None, structs, SCHEMA, ["m"])

        assert table["min"].to_pylist() == [{"m": value}]

    def test_that_are_all_there_leave_json_alone(self) -> None:
        structs = pa.chunked_array([pa.array([{"numRecords": 2}])])

        table = read_statistics(column('{"numRecords":10}'), structs, SCHEMA, ["i"])

        assert table["num_records"].to_pylist() == [2]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "x", "2021-01-01", "2021-01-01T00:00:00Z", "NaN", "5"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["x", "y", "z"]), inner, max_size=2)
    ),
    max_leaves=3,
)
values = st.dictionaries(st.sampled_from(list(SCHEMA.names)), json_values, max_size=4)
objects = st.fixed_dictionaries(
    {},
    optional={
        "numRecords": json_values,
        "minValues": values | json_values,
        "maxValues": values,
        "nullCount": values,
    },
)


class TestBothWays:
    @settings(max_examples=150)
    @given(st.lists(objects, min_size=1, max_size=5))
    def test_a_row_reads_the_same_alone_and_beside_a_broken_one(
        self, items: list[dict[str, Any]]
    ) -> None:
        texts = [json.dumps(item) for item in items]

        together = parse_statistics(column(*texts, "broken"), SCHEMA)

        alone = [repr(parsed(text)[0]) for text in texts]
        assert [repr(row) for row in together.to_pylist()[:-1]] == alone


class TestRanges:
    def test_of_columns_without_an_order_tell_of_nulls(self) -> None:
        text = '{"numRecords":2,"nullCount":{"list":2,"bin":0}}'
        table = parse_statistics(column(text), SCHEMA, ["list", "bin"])

        ranges = statistics_ranges(table, [("list",), ("bin",)])

        assert ranges[("list",)].all_null[0]
        assert not ranges[("bin",)].some_null[0]

    def test_of_columns_without_statistics_are_left_out(self) -> None:
        table = parse_statistics(column("{}"), SCHEMA, ["i"])

        assert set(statistics_ranges(table, [("i",), ("s",), ("i", "x")])) == {("i",)}

    def test_of_nested_columns_never_rule_nulls_out(self) -> None:
        text = '{"numRecords":2,"nullCount":{"i":0,"st":{"x":0}}}'
        table = parse_statistics(column(text), SCHEMA, ["i", "st"])

        ranges = statistics_ranges(table, [("i",), ("st", "x"), ("st",)])

        assert not ranges[("i",)].some_null[0]
        assert ranges[("st", "x")].some_null[0]
        assert ("st",) not in ranges
