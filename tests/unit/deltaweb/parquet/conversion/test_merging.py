import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.parquet.conversion.merging import (
    MergedSchema,
    SchemaMerger,
)
from deltaweb.parquet.conversion.spark import ROW_METADATA
from deltaweb.parquet.loading import ParquetFooter, load_footer
from tests.support import cases
from tests.support.files.merged_schemas import merge_schemas

INTEGERS = {"byte": pa.int8(), "short": pa.int16(), "integer": pa.int32()}


def footer_of(schema: pa.Schema, row_metadata: object = None) -> ParquetFooter:
    if row_metadata is not None:
        text = json.dumps(row_metadata)
        schema = schema.with_metadata({ROW_METADATA: text})
    sink = io.BytesIO()
    pq.write_table(schema.empty_table(), sink, store_schema=False)
    # pyarrow writes the metadata of a schema only with its own schema.
    if row_metadata is not None:
        writer = pq.ParquetWriter(sink := io.BytesIO(), schema, store_schema=False)
        writer.add_key_value_metadata({ROW_METADATA: text})
        writer.close()
    return load_footer(pa.BufferReader(sink.getvalue()))


def merged(*schemas: dict[str, pa.DataType] | pa.Schema) -> MergedSchema:
    return merge_schemas(
        (f"{number}.parquet", footer_of(pa.schema(schema)))
        for number, schema in enumerate(schemas)
    )


def types_of(result: MergedSchema) -> dict[str, Any]:
    assert result.problems == ()
    assert result.strict is not None
    return {field["name"]: field["type"] for field in result.strict["fields"]}


def problems_of(result: MergedSchema) -> list[str]:
    assert result.strict is None
    assert result.nullable is None
    return [str(problem) for problem in result.problems]


class TestFilesThatAgree:
    def test_have_the_columns_of_all_in_the_order_of_the_first(self) -> None:
        result = merged(
            {"b": pa.int64(), "a": pa.string()}, {"a": pa.string(), "c": pa.date32()}
        )

        assert types_of(result) == {"b": "long", "a": "string", "c": "date"}

    def test_name_a_column_as_the_first_does_whatever_its_case(self) -> None:
        assert types_of(merged({"Day": pa.date32()}, {"day": pa.date32()})) == {
            "Day": "date"
        }

    @pytest.mark.parametrize("first", INTEGERS)
    @pytest.mark.parametrize("second", INTEGERS)
    def test_hold_the_wider_of_two_small_integers(self, first: str, second: str):
        result = merged({"n": INTEGERS[first]}, {"n": INTEGERS[second]})

        wider = max(first, second, key=list(INTEGERS).index)
        assert types_of(result) == {"n": wider}

    def test_take_a_type_for_a_column_of_nulls_from_another(self) -> None:
        for pair in ([pa.null(), pa.string()], [pa.string(), pa.null()]):
            assert types_of(merged(*({"x": kind} for kind in pair))) == {"x": "string"}

    def test_are_merged_below_structs_lists_and_maps(self) -> None:
        def nested(inner: pa.DataType) -> dict[str, pa.DataType]:
            struct = pa.struct({"x": inner})
            return {"m": pa.map_(pa.string(), pa.list_(struct))}

        result = merged(nested(pa.int8()), nested(pa.int32()))

        kind = types_of(result)["m"]
        (field,) = kind["valueType"]["elementType"]["fields"]
        assert field["type"] == "integer"


class TestNullability:
    def test_is_that_of_conversions_or_strict(self) -> None:
        required = pa.schema([pa.field("n", pa.int64(), nullable=False)])

        result = merged(required, required)

        assert result.strict is not None
        assert result.nullable is not None
        assert not result.strict["fields"][0]["nullable"]
        assert result.nullable["fields"][0]["nullable"]

    @pytest.mark.parametrize("is_first", [True, False])
    def test_is_given_to_a_column_that_a_file_lacks(self, is_first: bool) -> None:  # noqa: FBT001
        field = pa.field("n", pa.int64(), nullable=False)
        other = pa.field("x", pa.int64(), nullable=False)
        schemas = [pa.schema([field]), pa.schema([field, other])]

        result = merged(*(schemas if is_first else schemas[::-1]))

        assert result.strict is not None
        flags = {f["name"]: f["nullable"] for f in result.strict["fields"]}
        assert flags == {"n": False, "x": True}


class TestConflicts:
    def test_name_their_column_and_both_files_all_at_once(self) -> None:
        result = merged(
            {"day": pa.date32(), "at": pa.struct({"x": pa.int64()})},
            {"day": pa.date32(), "at": pa.struct({"x": pa.int64()})},
            {"day": pa.string(), "at": pa.struct({"X": pa.float64()})},
            {"day": pa.list_(pa.date32()), "at": pa.struct({"x": pa.int64()})},
        )

        assert problems_of(result) == [
            "2.parquet: day: its type is string, but date in 0.parquet",
            "2.parquet: at.x: its type is double, but long in 0.parquet",
            "3.parquet: day: its type is array, but date in 0.parquet",
        ]

    def test_name_every_file_that_has_them(self) -> None:
        schemas = [{"n": pa.int64()}, {"n": pa.string()}, {"n": pa.string()}]

        assert [problem.file for problem in merged(*schemas).problems] == [
            "1.parquet",
            "2.parquet",
        ]

    def test_of_a_column_that_came_later_name_the_file_it_came_from(self) -> None:
        result = merged({"a": pa.int64()}, {"b": pa.int64()}, {"b": pa.string()})

        assert problems_of(result) == [
            "2.parquet: b: its type is string, but long in 1.parquet"
        ]

    def test_stand_beside_columns_that_delta_cannot_hold(self) -> None:
        result = merged({"t": pa.time64("us"), "n": pa.int64()}, {"n": pa.date32()})

        assert [problem.path for problem in result.problems] == [("t",)]
        assert "0.parquet: t: TIME(" in problems_of(result)[0]

    def test_of_decimals_are_of_their_digits(self) -> None:
        result = merged({"d": pa.decimal128(9, 2)}, {"d": pa.decimal128(9, 3)})

        assert problems_of(result) == [
            "1.parquet: d: its type is decimal(9,3), but decimal(9,2) in 0.parquet"
        ]

    def test_are_none_without_files_but_there_is_no_schema(self) -> None:
        assert problems_of(SchemaMerger().merged()) == ["there are no files"]


SPARK = {
    "type": "struct",
    "fields": [
        {
            "name": "n",
            "type": "long",
            "nullable": False,
            "metadata": {"comment": "how many"},
        }
    ],
}


class TestSparksOwnSchema:
    def test_wins_with_its_comments(self) -> None:
        footer = footer_of(pa.schema({"n": pa.int64()}), SPARK)

        assert merge_schemas([("a", footer)]).strict == SPARK

    @cases(
        "stored",
        {
            "no object": [],
            "no fields": {"type": "struct", "fields": 1},
            "a field is none": {"type": "struct", "fields": [1]},
            "no type": {"type": "struct", "fields": [{"name": "n", "type": 3}]},
            "a flag that is none": {
                "type": "struct",
                "fields": [{"name": "n", "nullable": 1}],
            },
            "a type without a name": {
                "type": "struct",
                "fields": [{"name": "n", "type": {"type": []}}],
            },
        },
    )
    def test_that_is_none_is_passed_over(self, stored: object) -> None:
        footer = footer_of(pa.schema({"n": pa.int64()}), stored)

        assert types_of(merge_schemas([("a", footer)])) == {"n": "long"}

    @pytest.mark.parametrize(
        "kind",
        [
            "interval year to month",
            "geometry(OGC:CRS84)",
            "decimal(39,2)",
            {"type": "udt", "class": "x"},
        ],
    )
    def test_of_types_that_delta_has_not_is_a_problem(self, kind: object) -> None:
        field = {"name": "n", "type": kind, "nullable": True, "metadata": {}}
        stored = {"type": "struct", "fields": [field]}
        footer = footer_of(pa.schema({"n": pa.int64()}), stored)

        (problem,) = merge_schemas([("a", footer)]).problems

        assert problem.path == ("n",)
        assert "has no Delta type" in problem.reason

    def test_names_the_features_it_needs(self) -> None:
        field = {"name": "t", "type": "timestamp_ntz"}
        stored = {"type": "struct", "fields": [field]}
        footer = footer_of(pa.schema({"t": pa.timestamp("us")}), stored)

        assert merge_schemas([("a", footer)]).features == ("timestampNtz",)
