"""Columns as people write them."""

import pytest

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl, parse_type_ddl

LONG, STRING = PrimitiveType("long"), PrimitiveType("string")


def test_columns_have_types_comments_and_nulls() -> None:
    columns = parse_columns_ddl(
        "id BIGINT NOT NULL COMMENT 'the key, isn''t it', `a b` decimal(12, 3),\n"
        "tags ARRAY<string>, m map<string,array<int>>, s struct<x: long, y date>"
    )

    assert columns == (
        StructField("id", LONG, False, {"comment": "the key, isn't it"}),  # noqa: FBT003
        StructField("a b", DecimalType(12, 3)),
        StructField("tags", ArrayType(STRING)),
        StructField("m", MapType(STRING, ArrayType(PrimitiveType("integer")))),
        StructField(
            "s",
            StructType(
                (StructField("x", LONG), StructField("y", PrimitiveType("date")))
            ),
        ),
    )


@pytest.mark.parametrize(
    ("text", "start", "step", "takes_values"),
    [
        ("ALWAYS AS IDENTITY", 1, 1, False),
        ("BY DEFAULT AS IDENTITY (START WITH -3)", -3, 1, True),
        ("always as identity (increment by -2, start with 5)", 5, -2, False),
    ],
)
def test_columns_may_number_their_rows(text, start, step, takes_values):
    (column,) = parse_columns_ddl(f"k BIGINT GENERATED {text}")

    assert column.metadata == {
        "delta.identity.start": start,
        "delta.identity.step": step,
        "delta.identity.allowExplicitInsert": takes_values,
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a BIGINT GENERATED AS IDENTITY", "ALWAYS or BY DEFAULT is missing, at 'AS'"),
        ("a BIGINT GENERATED ALWAYS AS (b)", "AS IDENTITY is missing"),
        ("a BIGINT GENERATED ALWAYS AS IDENTITY (3)", "START WITH or INCREMENT BY"),
        ("s STRUCT<a: BIGINT GENERATED ALWAYS AS IDENTITY>", "',' is missing"),
        ("", "a column is missing"),
        ("a", "a name is missing, at the end"),
        ("a BIGFLOAT", "there is no type of that name, at 'BIGFLOAT'"),
        ("a INT b INT", "',' is missing, at 'b'"),
        ("a ARRAY<INT", "'>' is missing, at the end"),
        ("a DECIMAL(99)", "no precision 99"),
        ("a INT; DROP", "'; DROP' is not a part of a column"),
        ("a INT, A INT", "it is listed twice"),
        ("a " + "ARRAY<" * 5000, "nested too deeply"),
    ],
)
def test_what_is_no_column_is_told(text: str, reason: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_columns_ddl(text)

    assert reason in str(caught.value)
    assert "id BIGINT" in caught.value.hint


@pytest.mark.parametrize("text", ["", "NOTHING", "INT, b INT", "ARRAY<INT", "INT NOT"])
def test_a_type_alone_is_read_whole_or_refused(text: str) -> None:
    assert parse_type_ddl("array<decimal(9, 2)>") == ArrayType(DecimalType(9, 2))

    with pytest.raises(SchemaError):
        parse_type_ddl(text)
