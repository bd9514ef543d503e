"""Columns of a file beside those of its table, as a page has them: at every depth."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apps.explorer.parquet_file.differences import differences
from apps.explorer.parquet_file.schema import node_page
from deltaweb.delta.protocol.schema import StructType, parse_schema
from deltaweb.parquet.conversion.delta import convert
from deltaweb.parquet.inspection.chunks import ChunkSums
from deltaweb.parquet.inspection.nodes import node_batches, node_types
from deltaweb.parquet.loading import ParquetFooter, load_footer

ITEM = pa.struct({"sku": pa.string(), "count": pa.int64()})
TABLE = {"id": pa.int64(), "day": pa.date32(), "items": pa.list_(ITEM)}


def _footer(types: dict[str, pa.DataType], **options: bool) -> ParquetFooter:
    sink = pa.BufferOutputStream()
    arrays = {name: pa.array([None], kind) for name, kind in types.items()}
    pq.write_table(pa.table(arrays), sink, **options)
    return load_footer(pa.BufferReader(sink.getvalue()))


def _nodes(types: dict[str, pa.DataType], **options: bool) -> pa.Table:
    footer = _footer(types, **options)
    sums = ChunkSums()
    return pa.Table.from_batches(node_batches(footer, node_types(footer.root), sums))


@pytest.fixture(scope="module")
def table() -> StructType:
    return parse_schema(json.dumps(convert(_footer(TABLE).root).nullable))


def test_are_told_at_every_depth_with_what_they_mean(table: StructType) -> None:
    item = pa.struct({"count": pa.int32(), "more": pa.float64()})
    nodes = _nodes({"id": pa.time32("ms"), "items": pa.list_(item)})

    found = {one.column: one for one in differences(nodes, table, ["day"])}

    told = {
        name: (one.kind, one.table_type, one.file_type) for name, one in found.items()
    }
    assert told == {
        "id": ("type", "bigint", "INT32 TIME(isAdjustedToUTC=false,unit=MILLIS)"),
        "day": ("partition", "date", None),
        "items.element.sku": ("missing", "string", None),
        "items.element.count": ("type", "bigint", "int"),
        "items.element.more": ("unknown", None, "double"),
    }
    assert found["id"].note.endswith("has no Delta type")
    assert found["items.element.count"].relation == "widened"


def test_are_none_where_only_the_old_way_of_lists_is_another(table: StructType) -> None:
    old = _nodes(TABLE, use_compliant_nested_type=False)

    assert differences(old, table, []) == []


def test_are_none_where_instants_are_stored_in_the_old_way() -> None:
    at = {"at": pa.timestamp("us", "UTC")}
    table = parse_schema(json.dumps(convert(_footer(at).root).nullable))
    old = _nodes(at, use_deprecated_int96_timestamps=True)

    assert old["physical_type"].to_pylist() == ["INT96"]
    assert differences(old, table, []) == []


def test_are_unknown_without_the_columns_of_a_table() -> None:
    assert differences(_nodes(TABLE), None, []) == []


def test_the_schema_of_a_file_has_the_types_of_its_table(table: StructType) -> None:
    page = node_page(_nodes(TABLE), "", 1, table)

    assert {".".join(one.row["path"]): one.table_type for one in page.nodes} == {
        "id": "bigint",
        "day": "date",
        "items": "array<struct>",
        "items.list": None,
        "items.list.element": "struct",
        "items.list.element.sku": "string",
        "items.list.element.count": "bigint",
    }
