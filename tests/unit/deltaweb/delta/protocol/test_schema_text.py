from typing import Any

import pytest

from deltaweb.delta.protocol import schema_text
from deltaweb.delta.protocol.schema import (
    OPAQUE,
    ArrayType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
    parse_schema,
)
from tests.support import cases

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
    @cases("schema", {"nested": SCHEMA, "empty": StructType(())})
    def test_makes_the_schema_of_the_rows_when_run(self, schema: StructType) -> None:
        names: dict[str, Any] = {}

        exec(schema_text.pyarrow(schema), names)  # noqa: S102 # the code is ours

        assert names["schema"].equals(arrow_schema(schema))


class TestSpark:
    def test_makes_the_same_schema_when_run(self) -> None:
        names: dict[str, Any] = {}

        exec(schema_text.spark(SCHEMA), names)  # noqa: S102 # the code is ours

        assert parse_schema(names["schema"].json()) == SCHEMA


class TestATypeThatIsNotKnown:
    @pytest.fixture
    def schema(self) -> StructType:
        kinds = ["day to second", "hour to minute", "month", "year to month"]
        fields = [
            StructField(kind, PrimitiveType(OPAQUE, f"interval {kind}"))
            for kind in kinds
        ]
        return StructType((StructField("id", LONG), *fields))

    def test_is_spelled_in_sql_as_the_log_does(self, schema: StructType) -> None:
        assert "INTERVAL DAY TO SECOND," in schema_text.ddl(schema, "t", [])

    def test_makes_the_intervals_of_spark_when_run(self, schema: StructType) -> None:
        names: dict[str, Any] = {}

        exec(schema_text.spark(schema), names)  # noqa: S102 # the code is ours

        assert parse_schema(names["schema"].json()) == schema

    def test_is_left_to_spark_where_it_is_no_interval(self) -> None:
        shape = StructType((StructField("a", PrimitiveType(OPAQUE, "geometry(0)")),))

        assert 'DataType.fromDDL("geometry(0)")' in schema_text.spark(shape)

    def test_is_a_comment_where_arrow_has_no_type(self, schema: StructType) -> None:
        names: dict[str, Any] = {}
        text = schema_text.pyarrow(schema)

        exec(text, names)  # noqa: S102 # the code is ours

        assert names["schema"].names == ["id"]
        assert '# "month" is or has a value of type interval month' in text
