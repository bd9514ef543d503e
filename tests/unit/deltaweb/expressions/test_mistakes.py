"""SQL that cannot be right is told from SQL that only Spark evaluates."""

import pytest

from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import ExpressionError, ExpressionMistakenError
from tests.support import cases

LONG, STRING = PrimitiveType("long"), PrimitiveType("string")
TIMES = "at TIMESTAMP, w TIMESTAMP_NTZ, day DATE"
INNER = StructType((StructField("b", LONG),))
SCHEMA = StructType(
    parse_columns_ddl(
        "n BIGINT, day DATE, a STRUCT<b: BIGINT>, many ARRAY<STRUCT<b: BIGINT>>, "
        "by MAP<STRING, BIGINT>"
    )
)


@cases(
    "sql, reason",
    {
        "no SQL": ("n = = 3", "not SQL"),
        "nothing": (" ", "empty"),
        "below a function of Spark": ("hash(m) = 3", "no column 'm'"),
        "after one": ("soundex('a') = m", "no column 'm'"),
        "within a struct": ("hash(a.c) = 3", "no column 'a.c'"),
        "in a lambda": ("exists(many, x -> x.b > m)", "no column 'm'"),
        "no function of the row": ("rand() > 0.5", "changes with each evaluation"),
    },
)
def test_what_no_engine_evaluates_is_a_mistake(sql: str, reason: str) -> None:
    with pytest.raises(ExpressionMistakenError, match=reason):
        SQLCondition(sql, SCHEMA)


def test_a_name_that_is_much_alike_is_asked_for() -> None:
    with pytest.raises(ExpressionMistakenError, match="Did you mean 'day'"):
        SQLCondition("hash(dya) = 3", SCHEMA)


@cases(
    "sql, hint",
    {
        "in a comparison": ("n = DE", "A text stands in quotes: 'DE'. Its columns"),
        "in a list": ("n IN (1, DE)", "A text stands in quotes: 'DE'. Its columns"),
        "alone": ("gold", "A text stands in quotes: 'gold'. Its columns"),
        "first": ("DE = n", "Its columns are"),
        "in backticks": ("n = `DE`", "Its columns are"),
        "a day": ("day >= 2026-1-09", "A day stands in quotes: '2026-01-09'."),
        "a day of a list": ("day IN (2026-01-09)", "A day stands in quotes"),
    },
)
def test_a_value_that_lacks_its_quotes_is_shown_with_them(sql: str, hint: str) -> None:
    with pytest.raises(ExpressionMistakenError) as raised:
        SQLCondition(sql, SCHEMA)

    assert raised.value.hint.startswith(hint)


@cases(
    "sql, hint",
    {
        "a time of day": ("at > '12:00'", "Write its day, too"),
        "no time": ("at > 'noon'", "Correct it: Spark would refuse it, too."),
        "no day": ("day > '12:00'", "Correct it: Spark would refuse it, too."),
        "without a zone": ("w > '12:00'", "Correct it: Spark would refuse it, too."),
    },
)
def test_a_time_without_its_day_is_not_said_to_be_none_of_spark(sql: str, hint: str):
    with pytest.raises(ExpressionMistakenError) as raised:
        SQLCondition(sql, StructType(parse_columns_ddl(TIMES)))

    assert raised.value.hint.startswith(hint)


def test_a_difference_beside_a_number_is_one() -> None:
    assert SQLCondition("n > 2026-01-09", SCHEMA).sql == "n > 2026-01-09"


def test_a_field_of_an_element_is_not_called_a_column() -> None:
    with pytest.raises(ExpressionError, match="is not evaluated here"):
        SQLCondition("many[0].b = 1", SCHEMA)


@cases(
    "sql, meant",
    {
        "a letter is missing": ("hsh(n) = 3", "'hash'"),
        "a letter is too much": ("haash(n) = 3", "'hash'"),
        "another letter": ("Hush(n) = 3", "'hash'"),
        "letters in another order": ("hahs(n) = 3", "'hash'"),
        "in another function": ("hash(hahs(n)) = 3", "'hash'"),
        "at the end": ("tanhh(n) = 3", "'tanh'"),
        "in the middle": ("asiin(n) = 3", "'asin'"),
        "of more than one": ("asin2(n) = 3", "'asin' or 'asinh'"),
    },
)
def test_a_function_that_is_nearly_one_is_asked_for(sql: str, meant: str) -> None:
    with pytest.raises(ExpressionMistakenError, match=f"Did you mean {meant}.$"):
        SQLCondition(sql, SCHEMA)


@pytest.mark.parametrize(
    "sql",
    [
        "hash(N) = hash(4L)",
        "HASH(n) = 3",
        "some_function_of_a_cluster(n) = 3",
        "of_a_cluster.hahs(n) = 3",
        "hash(a.B) = 3",
        "exists(many, x -> x.b > n)",
        "aggregate(many.b, 0L, (sum, b) -> sum + b, sum -> sum) > n",
        "hash(by.some) = 3",
        "timestampadd(MONTH, 1, day) > day",
        "hash(current_catalog) = hash(user)",
    ],
)
def test_what_spark_may_evaluate_is_none(sql: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        SQLCondition(sql, SCHEMA)

    assert type(raised.value) is ExpressionError
