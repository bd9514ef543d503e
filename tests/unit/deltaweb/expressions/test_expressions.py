"""Expressions have Spark's values, and what is not sure to be Spark's is refused."""

from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.conditions.hints import reach_of
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, schema_of_arrow
from deltaweb.expressions.compiler import compile_sql, parse_expression
from deltaweb.expressions.condition import SQLAssignment, SQLCondition
from deltaweb.expressions.errors import ExpressionError, ExpressionValueError
from deltaweb.expressions.functions import FUNCTIONS
from tests.support.conditions.expression_cases import (
    CONDITIONS,
    REFUSED,
    ROWS,
    VALUES,
    WITHOUT_VALUE,
)

SCHEMA = schema_of_arrow(ROWS.schema)
[BATCH] = ROWS.to_batches()


def value(sql: str) -> list[Any]:
    found: list[Any] = compile_sql(sql, SCHEMA).values(BATCH).to_pylist()
    return found


@pytest.mark.parametrize("sql", [*CONDITIONS, *VALUES])
def test_an_expression_has_a_value_of_its_type_for_each_row(sql: str) -> None:
    node = compile_sql(sql, SCHEMA)
    values = node.values(BATCH)

    assert len(values) == BATCH.num_rows
    assert values.type == node.kind
    none = BATCH.slice(0, 0)
    assert len(node.values(none)) == 0


@pytest.mark.parametrize("sql", WITHOUT_VALUE)
def test_what_has_no_value_is_an_error_and_not_null(sql: str) -> None:
    column = StructField("c", PrimitiveType("long"))

    with pytest.raises(ExpressionValueError):
        SQLAssignment(sql, column, SCHEMA).values(BATCH)


@pytest.mark.parametrize(("sql", "name"), REFUSED.items())
def test_what_is_not_translated_is_refused_by_name(sql: str, name: str) -> None:
    with pytest.raises(ExpressionError, match=name):
        compile_sql(sql, SCHEMA)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_reached_by_its_name(name: str) -> None:
    counts, _ = FUNCTIONS[name]
    candidates = ["n", "s", "x", "day", "t", "'a'", "1", "b"]
    calls = (
        f"{name}({', '.join(arguments)})"
        for count in range(counts.start, min(counts.stop, 4))
        for arguments in product(candidates, repeat=count)
    )

    assert any(compiles(call) for call in calls)


def compiles(sql: str) -> bool:
    try:
        compile_sql(sql, SCHEMA)
    except ExpressionError:
        return False
    return True


def test_a_value_that_is_no_condition_is_refused() -> None:
    with pytest.raises(ExpressionError, match="a condition is needed"):
        SQLCondition("n + 1", SCHEMA)


def test_a_condition_holds_where_it_is_true_alone() -> None:
    holds = SQLCondition("n > 0", SCHEMA).holds(BATCH)

    assert holds.to_pylist() == [True, False, False, False, True, True]


def test_a_condition_that_is_parsed_serves_any_number_of_readers() -> None:
    for sql in CONDITIONS:
        parsed = parse_expression(sql)
        reach_of(parsed, SCHEMA)
        SQLCondition(parsed, SCHEMA)

        holds = SQLCondition(parsed, SCHEMA).holds(BATCH)

        assert holds.equals(SQLCondition(sql, SCHEMA).holds(BATCH)), sql
        assert parsed.tree == parse_expression(sql).tree


def test_nan_equals_itself_and_is_the_largest() -> None:
    assert value("x = y") == [True, True, None, True, None, False]
    assert value("x > 1e300")[1] is True


def test_a_row_that_is_guarded_never_divides_by_zero() -> None:
    assert value("n <> 0 AND 10 / n > 1")[3] is False
    assert value("CASE WHEN n <> 0 THEN 100 / n ELSE 0 END")[3] == 0


def test_nested_columns_are_reached_by_their_path() -> None:
    rows = pa.record_batch({"a": [{"b.c": 1}, None]})

    node = compile_sql("a.`b.c` + 1", schema_of_arrow(rows.schema))

    assert node.values(rows).to_pylist() == [2, None]


def test_an_assignment_takes_the_type_of_its_column() -> None:
    column = StructField("c", PrimitiveType("double"))

    assert SQLAssignment("i", column, SCHEMA).values(BATCH).type == pa.float64()
    with pytest.raises(ExpressionError, match="string"):
        SQLAssignment("s", column, SCHEMA)
    with pytest.raises(ExpressionError, match="it is boolean"):
        SQLAssignment("b", column, SCHEMA)
    with pytest.raises(ExpressionError, match="it is int"):
        SQLAssignment("i", StructField("c", PrimitiveType("boolean")), SCHEMA)
