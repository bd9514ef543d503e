"""Rows become the table's types where no value changes, and are refused otherwise."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import (
    StructType,
    arrow_schema,
    schema_of_arrow,
    with_fields,
)
from deltaweb.delta.writing.errors import SchemaMismatchError
from deltaweb.writer.rows.row_schema import RowSchema, merged_schema
from tests.support import cases


def table_schema(*fields: pa.Field) -> StructType:
    return schema_of_arrow(pa.schema(list(fields)))


def fitted(schema: StructType, rows: pa.Table) -> list[dict[str, Any]]:
    fit = RowSchema(schema, rows.schema)
    batches = [fit.fit(batch) for batch in rows.to_batches()]
    found: list[dict[str, Any]] = pa.Table.from_batches(batches).to_pylist()
    return found


def misfits(schema: StructType, rows: pa.Table) -> dict[str, str]:
    with pytest.raises(SchemaMismatchError) as caught:
        fitted(schema, rows)
    return dict(caught.value.misfits)


@cases(
    "target, values, expected",
    {
        "a narrower int": (pa.int32(), pa.array([1, None]), [1, None]),
        "a double": (pa.float64(), pa.array([1]), [1.0]),
        "a decimal": (pa.decimal128(10, 2), pa.array([7]), [Decimal("7.00")]),
        "texts": (pa.string(), pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
        "a time of nanoseconds": (
            pa.timestamp("us", "UTC"),
            pa.array([1_500], pa.timestamp("ns", "UTC")),
            [datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)],
        ),
        "a list": (pa.list_(pa.int32()), pa.array([[1, 2]]), [[1, 2]]),
        "a struct": (
            pa.struct({"x": pa.int16(), "y": pa.string()}),
            pa.array([{"X": 1}]),
            [{"x": 1, "y": None}],
        ),
        "nulls of no type": (pa.int32(), pa.nulls(1), [None]),
        "structs of no type": (pa.struct({"x": pa.int32()}), pa.nulls(1), [None]),
        "maps of no type": (pa.map_(pa.string(), pa.int32()), pa.nulls(1), [None]),
        "elements of no type": (
            pa.list_(pa.struct({"x": pa.int32()})),
            pa.array([[None], None, []], pa.list_(pa.null())),
            [[None], None, []],
        ),
    },
)
def test_values_take_the_type_of_their_column(target, values, expected):
    schema = table_schema(pa.field("c", target))

    rows = fitted(schema, pa.table({"C": values}))

    assert [row["c"] for row in rows] == expected


VIEWS = {
    "numbers": (pa.int32(), pa.int64(), [[1, None], None, [], [4]]),
    "structs": (
        pa.struct({"x": pa.int32()}),
        pa.struct({"x": pa.int64()}),
        [[{"x": 1}, None], None, [], [{"x": None}]],
    ),
    "lists": (
        pa.list_(pa.int32()),
        pa.list_view(pa.int64()),
        [[[1], None], None, [], [[], [4]]],
    ),
}


@cases("view", {"short": pa.list_view, "large": pa.large_list_view})
@cases("kind, given, values", VIEWS)
def test_views_of_lists_become_lists(view, kind, given, values):
    schema = table_schema(pa.field("c", pa.list_(kind)))
    found = pa.array(values, view(given))
    within = table_schema(pa.field("c", pa.struct({"v": pa.list_(kind)})))
    structs = pa.StructArray.from_arrays([found], ["v"])

    rows = fitted(schema, pa.table({"c": found}))
    parts = fitted(schema, pa.table({"c": found.slice(1, 3)}))
    inner = fitted(within, pa.table({"c": structs}))

    assert [row["c"] for row in rows] == values
    assert [row["c"] for row in parts] == values[1:]
    assert [row["c"]["v"] for row in inner] == values


def test_a_column_that_rows_lack_is_null() -> None:
    schema = table_schema(pa.field("a", pa.int64()), pa.field("b", pa.string()))

    assert fitted(schema, pa.table({"a": [1]})) == [{"a": 1, "b": None}]


def test_every_column_that_does_not_fit_is_named_at_once() -> None:
    schema = table_schema(
        pa.field("a", pa.int64()),
        pa.field("b", pa.struct({"c": pa.string()})),
        pa.field("d", pa.date32(), nullable=False),
    )
    rows = pa.table({"a": ["x"], "b": [{"c": 1, "e": 2}], "f": [1], "F": [1]})

    assert set(misfits(schema, rows)) == {"a", "F", "b.c", "b.e", "d"}


def test_a_value_that_has_no_place_in_its_column_is_refused() -> None:
    schema = table_schema(pa.field("a", pa.int8()), pa.field("b", pa.int16()))

    assert set(misfits(schema, pa.table({"a": [300], "b": [70_000]}))) == {"a", "b"}


def test_bytes_are_no_text() -> None:
    schema = table_schema(pa.field("a", pa.string()))

    assert set(misfits(schema, pa.table({"a": [b"x"]}))) == {"a"}


@pytest.mark.parametrize(
    ("table", "rows", "advice"),
    [
        (pa.timestamp("us"), pa.timestamp("us", "UTC"), "local_timestamp"),
        (pa.timestamp("us"), pa.timestamp("us", "America/New_York"), "local_timestamp"),
        (pa.timestamp("us", "UTC"), pa.timestamp("ns"), "assume_timezone"),
        (
            pa.list_(pa.timestamp("us", "UTC")),
            pa.list_(pa.timestamp("s")),
            "assume_timezone",
        ),
    ],
)
def test_an_instant_is_no_time_of_a_clock(table, rows, advice):
    schema = table_schema(pa.field("a", table))

    [said] = misfits(schema, pa.table({"a": pa.nulls(1, rows)})).values()

    assert advice in said


def test_a_schema_grows_by_what_rows_have_more_at_any_depth() -> None:
    old = table_schema(
        pa.field("a", pa.struct({"b": pa.int64()})),
        pa.field("l", pa.list_(pa.struct({"x": pa.int64()}))),
    )
    new = table_schema(
        pa.field("z", pa.string(), nullable=False),
        pa.field("A", pa.struct({"c": pa.string()})),
        pa.field("l", pa.list_(pa.struct({"y": pa.int64()}))),
    )

    grown = arrow_schema(merged_schema(old, new))

    assert grown.names == ["a", "l", "z"]
    assert [field.name for field in grown.field("a").type] == ["b", "c"]
    assert [field.name for field in grown.field("l").type.value_type] == ["x", "y"]
    assert grown.field("z").nullable


XY = pa.struct({"x": pa.int32(), "y": pa.int32()})
NESTED = pa.schema(
    {
        "st": pa.struct({"in": XY}),
        "ar": pa.list_(XY),
        "mp": pa.map_(pa.string(), XY),
    }
)
ROW = {"x": 1, "y": 10}
NESTED_ROW = {"st": {"in": ROW}, "ar": [ROW, None], "mp": [("k", ROW), ("n", None)]}


def exchanged() -> StructType:
    """A schema whose fields are stored under the names of each other."""
    names = {"x": "y", "y": "x"}
    return with_fields(
        schema_of_arrow(NESTED),
        lambda one, _: replace(one, physical_name=names.get(one.name, "")),
    )


class TestRowsOfAMappedTable:
    @pytest.mark.parametrize("is_whole", [False, True])
    def test_go_by_the_names_of_the_table(self, is_whole: bool):  # noqa: FBT001 (a parameter)
        schema = exchanged()
        rows = pa.Table.from_pylist([NESTED_ROW, dict.fromkeys(NESTED.names)], NESTED)

        fit = RowSchema(schema, rows.schema, is_whole=is_whole)

        found = pa.Table.from_batches([fit.fit(rows.to_batches()[0])])
        assert found.to_pylist() == rows.to_pylist()
        assert fit.schema == schema_of_arrow(NESTED)

    def test_are_refused_by_the_names_that_they_are_stored_under(self):
        schema = with_fields(
            schema_of_arrow(NESTED),
            lambda one, _: replace(one, physical_name=f"col-{one.name}", field_id=9),
        )
        stored = pa.struct({"col-x": pa.int32(), "col-y": pa.int32()})
        rows = pa.table(
            {"ar": pa.array([[{"col-x": 1, "col-y": 2}]], pa.list_(stored))}
        )

        assert set(misfits(schema, rows)) == {"ar.element.col-x", "ar.element.col-y"}


def test_whole_rows_lack_nothing():
    schema = schema_of_arrow(NESTED)
    some = pa.schema({"st": pa.struct({"in": pa.struct({"x": pa.int32()})})})

    with pytest.raises(SchemaMismatchError) as caught:
        RowSchema(schema, some, is_whole=True)

    assert set(caught.value.misfits) == {"st.in.y", "ar", "mp"}


def test_a_field_that_is_there_twice_is_named():
    twice = pa.struct([("x", pa.int32()), ("X", pa.int32()), ("y", pa.int32())])

    found = misfits(
        schema_of_arrow(NESTED), pa.table({"ar": pa.array([], pa.list_(twice))})
    )

    assert "ar.element.X" in found
