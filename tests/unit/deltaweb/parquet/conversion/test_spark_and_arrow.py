"""A Parquet schema as Spark's and as Arrow's."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.parquet.conversion import arrow, spark
from deltaweb.parquet.loading import ParquetFooter, load_footer
from tests.support.files.parquet_schemas import element, tree


def _footer(path: Path) -> ParquetFooter:
    with pa.OSFile(str(path)) as source:
        return load_footer(source)


def test_spark_reads_geometries_and_columns_of_nulls() -> None:
    root = tree(
        element("g", "BYTE_ARRAY", logical=("GEOGRAPHY", {})),
        element("n", "INT32", logical=("UNKNOWN", {})),
        columns=2,
    )
    schema, problems = spark.convert(root)

    assert problems == ()
    assert schema is not None
    types = [field["type"] for field in schema["fields"]]
    assert types == ["geography(OGC:CRS84, SPHERICAL)", "integer"]


def test_spark_has_no_type_for_some_columns() -> None:
    uuid = element("u", "FIXED_LEN_BYTE_ARRAY", logical=("UUID", {}), type_length=16)
    schema, problems = spark.convert(tree(uuid))

    assert schema is None
    assert [problem.path for problem in problems] == [("u",)]


def test_the_schema_that_spark_left_is_found(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    written = {"type": "struct", "fields": []}
    metadata = {spark.ROW_METADATA: json.dumps(written)}
    table = pa.table({"a": [1]}).replace_schema_metadata(metadata)
    pq.write_table(table, path)

    assert spark.stored_schema(_footer(path)) == written


def test_text_that_is_no_schema_of_spark_is_none(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    for text in ("{", "[]", "[" * 100_000):
        table = pa.table({"a": [1]}).replace_schema_metadata({spark.ROW_METADATA: text})
        pq.write_table(table, path)

        assert spark.stored_schema(_footer(path)) is None


def test_an_arrow_schema_is_the_one_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    schema = pa.schema(
        [
            pa.field("id", pa.uint16(), nullable=False),
            pa.field("name", pa.string()),
            pa.field("raw", pa.binary(3)),
            pa.field("price", pa.decimal128(12, 2)),
            pa.field("large", pa.decimal256(50, 2)),
            pa.field("half", pa.float16()),
            pa.field("day", pa.date32()),
            pa.field("noon", pa.time64("us")),
            pa.field("at", pa.timestamp("us", "UTC")),
            pa.field("local", pa.timestamp("ms")),
            pa.field("tags", pa.list_(pa.field("element", pa.string()))),
            pa.field("by", pa.map_(pa.string(), pa.int64())),
            pa.field("s", pa.struct([pa.field("x", pa.int8())])),
        ]
    )
    pq.write_table(schema.empty_table(), path, store_schema=False)

    assert arrow.arrow_schema(_footer(path).root) == schema


class TestArrowOfWhatNoWriterMakes:
    def test_is_null_where_nothing_but_nulls_is_required(self) -> None:
        nothing = element("n", "INT32", "required", logical=("UNKNOWN", {}))

        assert arrow.arrow_schema(tree(nothing)).types == [pa.null()]

    def test_is_a_struct_where_a_map_has_keys_of_nulls(self) -> None:
        schema = arrow.arrow_schema(
            tree(
                element("m", logical=("MAP", {}), children=1),
                element("kv", repetition="repeated", children=2),
                element("key", "INT32", "required", logical=("UNKNOWN", {})),
                element("value", "INT32"),
            )
        )

        assert pa.types.is_struct(schema.types[0])

    def test_is_binary_where_a_length_is_beyond_arrows(self) -> None:
        wide = element("b", "FIXED_LEN_BYTE_ARRAY", type_length=2**40)

        assert arrow.arrow_schema(tree(wide)).types == [pa.binary()]
