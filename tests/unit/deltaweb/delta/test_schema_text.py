from typing import Any

import pytest

from deltaweb.delta import schema_text
from deltaweb.delta.schema import (
    ArrayType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
    parse_schema,
)

LONG, STRING = PrimitiveType("long"), PrimitiveType("string")
SCHEMA = StructType(
    (
        StructField("id", LONG, nullable=False, metadata={"comment": "it's \\ a key"}),
        StructField("odd `name`", DecimalType(18, 2)),
        StructField("tags", ArrayType(STRING, contains_null=False)),
        StructField("rates", MapType(STRING, PrimitiveType("double"))),
        StructField(
            "place",
            StructType((StructField("city", STRING, metadata={"comment": "c"}),)),
        ),
        StructField("nothing", PrimitiveType("void")),
        StructField("at", PrimitiveType("timestamp")),
    )
)


class TestDDL:
    def test_says_types_nullability_comments_and_partitions(self) -> None:
        text = schema_text.ddl(SCHEMA, "default.my orders", ["id"])

        assert text == (
            "CREATE TABLE default.`my orders` (\n"
            "  id BIGINT NOT NULL COMMENT 'it\\'s \\\\ a key',\n"
            "  `odd ``name``` DECIMAL(18,2),\n"
            "  tags ARRAY<STRING>,\n"
            "  rates MAP<STRING, DOUBLE>,\n"
            "  place STRUCT<city: STRING COMMENT 'c'>,\n"
            "  nothing VOID,\n"
            "  at TIMESTAMP\n"
            ")\n"
            "USING DELTA\n"
            "PARTITIONED BY (id);"
        )

    def test_leaves_partitions_out_where_there_are_none(self) -> None:
        assert "PARTITIONED" not in schema_text.ddl(SCHEMA, "t", [])


class TestPyarrow:
    @pytest.mark.parametrize(
        "schema",
        [pytest.param(SCHEMA, id="nested"), pytest.param(StructType(()), id="empty")],
    )
    def test_makes_the_schema_of_the_rows_when_run(self, schema: StructType) -> None:
        names: dict[str, Any] = {}

        exec(schema_text.pyarrow(schema), names)  # noqa: S102 # the code is ours

        assert names["schema"].equals(arrow_schema(schema))


class TestSpark:
    def test_makes_the_same_schema_when_run(self) -> None:
        pytest.importorskip("pyspark.sql.types")
        names: dict[str, Any] = {}

        exec(schema_text.spark(SCHEMA), names)  # noqa: S102 # the code is ours

        assert parse_schema(names["schema"].json()) == SCHEMA
