"""Columns of a file beside those of its table: at the top, and in what nests there."""

import json

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.index.file_survey import surveyed_columns
from deltaweb.parquet.conversion.delta import convert
from deltaweb.parquet.inspection.chunks import ChunkSums
from deltaweb.parquet.inspection.differences import (
    SurveyedColumn,
    column_differences,
    columns_of_rows,
    columns_of_schema,
    table_path,
    words_by_path,
)
from deltaweb.parquet.inspection.nodes import node_batches, node_types
from deltaweb.parquet.inspection.survey import Survey
from deltaweb.parquet.loading import ParquetFooter, load_footer
from tests.support import cases

ITEM = pa.struct({"sku": pa.string(), "count": pa.int64()})
USUAL = {
    "id": pa.int64(),
    "customer": pa.struct({"name": pa.string(), "age": pa.int64()}),
    "items": pa.list_(ITEM),
    "by": pa.map_(pa.string(), ITEM),
}


def _footer(types: dict[str, pa.DataType]) -> ParquetFooter:
    sink = pa.BufferOutputStream()
    arrays = {name: pa.array([None], kind) for name, kind in types.items()}
    pq.write_table(pa.table(arrays), sink)
    return load_footer(pa.BufferReader(sink.getvalue()))


def _table() -> tuple[SurveyedColumn, ...]:
    """Return the columns of a table whose files are as `USUAL`."""
    schema = convert(_footer(USUAL).root).nullable
    return surveyed_columns(parse_schema(json.dumps(schema)), ())


def _differences(types: dict[str, pa.DataType]) -> list[tuple[str, str]]:
    """Return paths and relations: the same by the schema and by a page's rows of it."""
    footer = _footer(types)
    found = node_types(footer.root)
    rows = node_batches(footer, found, ChunkSums())
    by_schema = column_differences(_table(), columns_of_schema(footer.root, found))
    nodes = columns_of_rows(pa.Table.from_batches(rows))
    told, of_rows = (
        [(".".join(one.path), one.relation, one.of_file) for one in differing]
        for differing in (by_schema, column_differences(_table(), nodes))
    )
    assert [one[:2] for one in told] == [one[:2] for one in of_rows]
    for (*_, column), (*_, row) in zip(told, of_rows, strict=True):
        if column is not None and row is not None:
            facts = "name", "field_id", "word", "reason", "stored"
            assert [getattr(column, one) for one in facts] == [
                getattr(row, one) for one in facts
            ]
            assert column.leaves() == row.leaves()
    return [one[:2] for one in told]


def test_a_file_as_the_table_says_has_none() -> None:
    assert _differences(USUAL) == []


@cases(
    "column, kind, expected",
    {
        "a narrower field of a struct": (
            "customer",
            pa.struct({"name": pa.string(), "age": pa.int32()}),
            [("customer.age", "widened")],
        ),
        "a field that is not there, and one too many": (
            "customer",
            pa.struct({"name": pa.string(), "more": pa.int8()}),
            [("customer.age", "missing"), ("customer.more", "unknown")],
        ),
        "another annotation in the struct of a list": (
            "items",
            pa.list_(pa.struct({"sku": pa.binary(), "count": pa.int64()})),
            [("items.element.sku", "other")],
        ),
        "a field that is missing in the values of a map": (
            "by",
            pa.map_(pa.string(), pa.struct({"sku": pa.string()})),
            [("by.value.count", "missing")],
        ),
        "a type that Delta has not, in a list": (
            "items",
            pa.list_(pa.struct({"sku": pa.string(), "count": pa.time32("ms")})),
            [("items.element.count", "refused")],
        ),
        "no list where one should be": ("items", pa.string(), [("items", "other")]),
        "a list where none should": ("id", pa.list_(pa.int64()), [("id", "other")]),
    },
)
def test_a_nested_difference_has_its_path(column, kind, expected):
    assert _differences({**USUAL, column: kind}) == expected


def test_every_part_of_the_table_has_its_type() -> None:
    words = words_by_path(_table())

    assert words["items"] == "array<struct>"
    assert words["items.element.count"] == "bigint"
    assert words["by.key"] == "string"
    assert words["customer.age"] == "bigint"


def test_what_a_difference_costs_is_the_bytes_of_its_column() -> None:
    kind = pa.struct({"name": pa.string(), "age": pa.int32()})
    footer = _footer({**USUAL, "customer": kind})
    survey = Survey(_table())

    survey.add("a", 1_000_000, footer)

    rows = {(row["kind"], row["name"]): row for row in survey.batch().to_pylist()}
    differing = rows["difference", "customer.age"]
    assert differing["bytes"] == 1_000_000
    assert differing["extra_bytes"] == rows["column", "customer.age"]["bytes"] > 0


class TestTablePath:
    FIELD = SurveyedColumn("sku", "col-2", 2, "string", is_partition=False)
    ELEMENT = SurveyedColumn(
        "element", "element", None, "struct", is_partition=False, parts=(FIELD,)
    )
    ITEMS = SurveyedColumn(
        "items", "col-1", 1, "array", is_partition=False, parts=(ELEMENT,)
    )

    @cases(
        "stored, path",
        {
            "a column": ("col-1", "items"),
            "a field in an array": (
                "col-1.list.element.col-2",
                "items.list.element.sku",
            ),
            "what the table does not have": ("col-9.x", "col-9.x"),
        },
    )
    def test_has_the_names_of_the_table(self, stored: str, path: str) -> None:
        assert table_path([self.ITEMS], stored) == path
