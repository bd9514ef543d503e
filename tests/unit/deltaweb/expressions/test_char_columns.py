"""Texts of CHAR(n) are padded as Spark reads them, or what names them is refused."""

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.expressions.char_columns import refuse_char
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import ExpressionError
from tests.support.tables.table_builder import TableBuilder

STRING = PrimitiveType("string")


def text(name: str, declared: str = "") -> StructField:
    said: dict[str, str] = {}
    if declared:
        said = {"__CHAR_VARCHAR_TYPE_STRING": declared}
    return StructField(name, STRING, nullable=True, metadata=said)


SCHEMA = StructType(
    (
        text("ch", "char(4)"),
        text("c2", "char(2)"),
        text("v", "varchar(4)"),
        text("s"),
        StructField(
            "st",
            StructType((text("x"),)),
            nullable=True,
            metadata={"__CHAR_VARCHAR_TYPE_STRING": "struct<x:char(3)>"},
        ),
    )
)
ROWS = pa.table(
    {
        "ch": ["ab  ", "ab", "abcd", None],
        "c2": ["ab", "a ", "a", None],
        "v": ["ab  ", "ab", "abcd", None],
        "s": ["ab  ", "ab", "abcd", None],
        "st": [{"x": "a"}, None, {"x": None}, {"x": "abc"}],
    }
)


def holds(sql: str) -> list[bool]:
    (batch,) = ROWS.to_batches()
    found: list[bool] = SQLCondition(sql, SCHEMA).holds(batch).to_pylist()
    return found


@pytest.mark.parametrize(
    ("sql", "places"),
    [
        ("ch = 'ab'", [0, 1]),
        ("'ab' = ch", [0, 1]),
        ("ch = 'ab      '", [0, 1]),
        ("ch <=> ('ab ')", [0, 1]),
        ("ch != 'ab'", [2]),
        ("ch IN ('ab', 'x')", [0, 1]),
        ("ch NOT IN ('ab', 'x')", [2]),
        ("ch BETWEEN 'ab' AND 'abc'", [0, 1]),
        ("ch > 'ab'", [2]),
        ("ch <= 'ab'", [0, 1]),
        ("CASE ch WHEN 'ab' THEN true ELSE false END", [0, 1]),
        ("length(ch) = 4", [0, 1, 2]),
        ("ch LIKE 'ab'", []),
        ("ch = s", [0, 2]),
        ("c2 = 'a'", [1, 2]),
        ("c2 = 'ab' OR ch = 'ab'", [0, 1]),
        ("v = 'ab'", [1]),
        ("s = 'ab'", [1]),
    ],
)
def test_a_column_of_char_is_compared_as_spark_does(sql: str, places: list[int]):
    assert [place for place, found in enumerate(holds(sql)) if found] == places


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("ch = c2", "columns of CHAR of different lengths"),
        ("st.x = 'a'", "'st.x' is in a column with parts of CHAR"),
    ],
)
def test_what_is_not_padded_is_refused(sql: str, said: str) -> None:
    with pytest.raises(ExpressionError, match=said):
        holds(sql)


def test_another_engine_is_not_asked() -> None:
    with pytest.raises(ExpressionError, match=r"'ch' is of CHAR\(4\)"):
        refuse_char("soundex(CH) = 'x'", SCHEMA)
    with pytest.raises(ExpressionError, match="'st' is of STRUCT"):
        refuse_char("st.x = 'a'", SCHEMA)
    refuse_char("soundex(s) = 'ch2' AND v = 'a'", SCHEMA)


@pytest.mark.parametrize("stored", ["ab", "ab  "])
@pytest.mark.parametrize("partition_by", [(), ("ch",)])
def test_a_delete_finds_the_rows(stored: str, partition_by: tuple[str, ...]) -> None:
    columns = StructType((SCHEMA.fields[0], text("n")))
    parted = TableBuilder().columns(columns).partitioned_by(*partition_by)
    table = parted.rows(ch=[stored, "cd  "], n=["1", "2"]).build()

    table.delete("ch = 'ab'")

    assert table.snapshot().read()["n"].to_pylist() == ["2"]
