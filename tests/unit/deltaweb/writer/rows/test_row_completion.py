"""What a table adds to rows by itself: defaults, and generated values."""

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import (
    PrimitiveType,
    StructField,
    StructType,
    schema_of_arrow,
)
from deltaweb.delta.writing.errors import ConstraintViolatedError
from deltaweb.expressions.errors import ExpressionError
from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import TableBuilder

PLAIN = schema_of_arrow(
    pa.schema([("n", pa.int32()), ("twice", pa.int64()), ("note", pa.string())])
)


def table_of(*said: dict[str, str]) -> TableBuilder:
    """A table whose columns, in their order, have metadata."""
    names = ("n", "twice", "note")
    fields = [
        StructField(name, column.data_type, metadata=metadata)
        for name, column, metadata in zip(names, PLAIN.fields, said, strict=True)
    ]
    features = ("allowColumnDefaults", "generatedColumns")
    properties = {f"delta.feature.{name}": "supported" for name in features}
    return TableBuilder().columns(StructType(tuple(fields))).properties(properties)


TABLE = table_of(
    {"CURRENT_DEFAULT": "7"},
    {"delta.generationExpression": "n * 2"},
    {"CURRENT_DEFAULT": "'none'", "__CHAR_VARCHAR_TYPE_STRING": "varchar(6)"},
)


def rows(table: DeltaTable) -> list[tuple[object, ...]]:
    found = table.snapshot().read().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


def test_columns_that_rows_leave_out_take_what_the_table_says(table: DeltaTable):
    table.append(pa.table({"n": [1, None]}))
    table.append(pa.table({"note": ["said", None]}))

    assert rows(table) == [
        (1, 2, "none"),
        (7, 14, "said"),
        (7, 14, None),
        (None, None, "none"),
    ]


def test_a_value_that_is_generated_may_be_said_and_must_be_right(table: DeltaTable):
    table.append(pa.table({"n": [1], "twice": [2]}))

    with pytest.raises(ConstraintViolatedError, match="generated twice"):
        table.append(pa.table({"n": [1], "twice": [3]}))
    with pytest.raises(ConstraintViolatedError, match="generated twice"):
        table.append(pa.table({"n": [1], "twice": pa.array([None], pa.int64())}))


def test_changes_generate_again_and_default_nothing(table: DeltaTable) -> None:
    table.append(pa.table({"n": [1, 2], "note": ["a", None]}))

    table.update({"n": "n + 10"}, "n = 2")
    (
        table.merge(pa.table({"n": [1, 5]}), on="t.n = s.n")
        .when_matched_update({"n": "s.n + 2"})
        .when_not_matched_insert({"n": "s.n"})
        .execute()
    )

    assert rows(table) == [(12, 24, None), (3, 6, "a"), (5, 10, "none")]
    with pytest.raises(ConstraintViolatedError, match="generated"):
        table.update({"twice": "1"})


def test_all_columns_of_a_source_may_be_fewer_than_the_tables(table: DeltaTable):
    source = pa.table({"n": [4], "note": ["x"]})
    table.merge(
        source, on="t.n = s.n"
    ).when_matched_update().when_not_matched_insert().execute()

    assert rows(table) == [(4, 8, "x")]


def test_texts_have_lengths(table: DeltaTable) -> None:
    table.append(pa.table({"n": [1], "note": ["äöüäöü"]}))

    with pytest.raises(ConstraintViolatedError, match=r"varchar\(6\) of note"):
        table.append(pa.table({"n": [1], "note": ["sevenup"]}))
    with pytest.raises(ConstraintViolatedError, match="varchar"):
        table.update({"note": "concat(note, '!')"})


@pytest.mark.parametrize(
    "column",
    [
        StructField("c", PrimitiveType("string", spelling="char(4)")),
        StructField(
            "c",
            PrimitiveType("string"),
            metadata={"__CHAR_VARCHAR_TYPE_STRING": "char(4)"},
        ),
    ],
    ids=["spelled", "said beside"],
)
def test_texts_of_one_length_may_be_shorter(column: StructField) -> None:
    table = TableBuilder().columns(StructType((column,))).build()

    table.append(pa.table({"c": ["ab", None, "abcd"]}))
    table.update({"c": "'z'"}, "c = 'abcd'")

    found = table.snapshot().read()["c"].to_pylist()
    assert sorted(map(str, found)) == ["None", "ab", "z"]
    with pytest.raises(ConstraintViolatedError, match="char"):
        table.append(pa.table({"c": ["abcde"]}))


def test_what_cannot_be_worked_out_is_named_before_a_file_is_written() -> None:
    table = table_of({"CURRENT_DEFAULT": "rand()"}, {}, {}).build()

    with pytest.raises(ExpressionError, match="rand"):
        table.append(pa.table({"twice": [1]}))

    assert not any(len(some) for some in table.store.list_data_files())
    table.append(pa.table({"n": [1]}))
