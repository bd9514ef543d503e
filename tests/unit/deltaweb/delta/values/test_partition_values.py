import time
from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import PartitionValueError, SchemaError
from deltaweb.delta.protocol.schema import (
    OPAQUE,
    DataType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
    schema_of_arrow,
)
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.values.partition_values import (
    canonical_texts,
    partition_schema,
    partition_texts,
    type_partition_values,
    utc_partition_text,
)
from tests.support import cases
from tests.support.logs.spelled_partitions import SPELLINGS

MAPS = pa.map_(pa.string(), pa.string())
ALL_TYPES = [
    *("string", "long", "integer", "short", "byte", "float", "double", "boolean"),
    *("binary", "date", "timestamp", "timestamp_ntz"),
]


def typed(data_type: DataType, *maps: list[tuple[str, str | None]] | None):
    columns = StructType((StructField("p", data_type),))
    values = pa.chunked_array([pa.array([item], MAPS) for item in maps], MAPS)
    paths = pa.chunked_array([[f"{i}.parquet" for i in range(len(maps))]], pa.string())
    rows = type_partition_values(values, columns, paths)
    assert rows.type == pa.struct(list(arrow_schema(columns)))
    return rows


def values_of(rows: pa.ChunkedArray) -> list[Any]:
    return [row["p"] for row in rows.to_pylist()]


class TestTyping:
    @pytest.mark.parametrize("name", ALL_TYPES)
    def test_of_nothing_in_all_its_spellings_is_null(self, name: str) -> None:
        rows = typed(
            PrimitiveType(name), [("p", "")], [("p", None)], [("q", "1")], [], None
        )

        assert values_of(rows) == [None] * 5

    def test_takes_a_folder_s_word_for_null_as_text(self) -> None:
        name = "__HIVE_DEFAULT_PARTITION__"

        assert values_of(typed(PrimitiveType("string"), [("p", name)])) == [name]
        with pytest.raises(PartitionValueError, match=name):
            typed(PrimitiveType("long"), [("p", name)])

    def test_keeps_the_order_of_the_files(self) -> None:
        rows = typed(
            PrimitiveType("date"),
            [("p", "2020-02-29")],
            [("p", None)],
            [("p", "0001-01-01")],
            [("p", "2020-02-29")],
        )

        leap_day = date(2020, 2, 29)
        assert values_of(rows) == [leap_day, None, date(1, 1, 1), leap_day]

    def test_takes_the_last_of_a_name_that_comes_twice(self) -> None:
        assert values_of(typed(PrimitiveType("long"), [("p", "1"), ("p", "2")])) == [2]

    def test_reads_unusual_spellings_beside_plain_ones(self) -> None:
        rows = typed(PrimitiveType("integer"), [("p", "+5")], [("p", "6")])

        assert values_of(rows) == [5, 6]

    def test_of_no_files_has_the_type_of_many(self) -> None:
        columns = StructType((StructField("p", PrimitiveType("long")),))
        none = pa.chunked_array([], MAPS)

        rows = type_partition_values(none, columns, pa.chunked_array([], pa.string()))

        assert len(rows) == 0
        assert rows.type == pa.struct([("p", pa.int64())])

    def test_of_no_columns_has_a_row_a_file(self) -> None:
        values = pa.chunked_array([[[("p", "1")], None]], MAPS)

        rows = type_partition_values(values, StructType(()), values)

        assert rows.to_pylist() == [{}, {}]

    @cases(
        "name, text",
        {
            "out of range": ("byte", "128"),
            "no number": ("long", "x"),
            "no day": ("date", "2020-02-30"),
            "no boolean": ("boolean", "maybe"),
        },
    )
    def test_names_file_column_and_value_of_a_bad_one(self, name: str, text: str):
        with pytest.raises(PartitionValueError) as caught:
            typed(PrimitiveType(name), [("p", None)], [("p", text)])

        error = caught.value
        assert (error.path, error.column, error.value) == ("1.parquet", "p", text)


class TestPartitionSchema:
    SCHEMA = StructType(parse_columns_ddl("a BIGINT NOT NULL, b ARRAY<BIGINT>"))

    def test_lets_every_partition_be_null(self) -> None:
        assert partition_schema(self.SCHEMA, ["a"]).fields == (
            StructField("a", PrimitiveType("long"), nullable=True),
        )

    @pytest.mark.parametrize("name", ["zz", "A", "b"])
    def test_names_a_column_that_cannot_be_one(self, name: str) -> None:
        with pytest.raises(SchemaError) as caught:
            partition_schema(self.SCHEMA, [name])

        assert caught.value.column == name


class TestUTCText:
    @pytest.mark.parametrize(
        ("text", "respelled"),
        [
            ("2024-03-10 07:00:00", "2024-03-10T07:00:00.000000Z"),
            ("2024-03-10 07:00:00.5", "2024-03-10T07:00:00.500000Z"),
            ("2024-03-10T07:00:00.000000Z", "2024-03-10T07:00:00.000000Z"),
            ("2024-03-10T02:00:00-05:00", "2024-03-10T07:00:00.000000Z"),
            ("0005-01-01 00:00:00", "0005-01-01T00:00:00.000000Z"),
        ],
    )
    def test_names_the_instant_by_its_zone(self, text: str, respelled: str) -> None:
        assert utc_partition_text(text) == respelled

    @pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
    def test_is_the_same_in_any_zone(self, monkeypatch: pytest.MonkeyPatch, zone: str):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        try:
            instant = pa.array([0], pa.int64()).cast(pa.timestamp("us", "UTC"))
            assert partition_texts(instant) == ["1970-01-01T00:00:00.000000Z"]
            assert utc_partition_text("1970-01-01 00:00:00") == (
                "1970-01-01T00:00:00.000000Z"
            )
        finally:
            monkeypatch.undo()
            time.tzset()

    @pytest.mark.parametrize("text", ["soon", "2024-01-01 25:00:00"])
    def test_refuses_what_is_no_instant(self, text: str) -> None:
        with pytest.raises(ValueError, match=text):
            utc_partition_text(text)


class TestCanonicalTexts:
    @pytest.mark.parametrize("name", SPELLINGS)
    def test_of_one_value_are_one(self, name: str) -> None:
        kind, texts = SPELLINGS[name]
        column = schema_of_arrow(pa.schema({"p": kind})).fields[0]

        found = canonical_texts(pa.array(texts, pa.string()), column.data_type)

        assert set(found.to_pylist()) == {texts[0]}

    def test_of_two_values_are_two(self) -> None:
        texts = pa.array(["0.0", "-0.0", "NaN", "nan", "Infinity", "", None])

        found = canonical_texts(texts, PrimitiveType("double")).to_pylist()

        assert found == ["0.0", "-0.0", "NaN", "NaN", "Infinity", None, None]

    def test_of_what_is_no_value_are_themselves(self) -> None:
        texts = pa.array(["x", "07", "", "7"])

        assert canonical_texts(texts, PrimitiveType("integer")).to_pylist() == [
            *("x", "7", None, "7")
        ]

    def test_of_a_type_that_is_not_read_are_themselves(self) -> None:
        texts = pa.array(["INTERVAL '1' DAY", ""])
        kind = PrimitiveType(OPAQUE)

        assert canonical_texts(texts, kind).to_pylist() == ["INTERVAL '1' DAY", None]
