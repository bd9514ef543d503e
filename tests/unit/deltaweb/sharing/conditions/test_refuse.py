"""SQL means what SQL says, or is refused with a sentence."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.errors import PredicateError
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
)
from deltaweb.delta.scan.predicate import to_expression
from deltaweb.sharing.conditions.refuse import parse_predicate
from deltaweb.sharing.conditions.sql_text import (
    MAX_LENGTH,
    MAX_NESTING_DEPTH,
    MAX_TOKENS,
)
from tests.support.conditions.drawn_examples import examples

SCHEMA = StructType(
    (
        StructField("i", PrimitiveType("integer")),
        StructField("j", PrimitiveType("integer")),
        StructField("l", PrimitiveType("long")),
        StructField("f", PrimitiveType("float")),
        StructField("x", PrimitiveType("double")),
        StructField("m", DecimalType(5, 2)),
        StructField("s", PrimitiveType("string")),
        StructField("c", PrimitiveType("string", "varchar(10)")),
        StructField("b", PrimitiveType("boolean")),
        StructField("d", PrimitiveType("date")),
        StructField("t", PrimitiveType("timestamp")),
        StructField("n", PrimitiveType("timestamp_ntz")),
        StructField("y", PrimitiveType("binary")),
        StructField("v", PrimitiveType("void")),
        StructField("list", ArrayType(PrimitiveType("long"))),
        StructField(
            "st",
            StructType(
                (
                    StructField(
                        "in", StructType((StructField("x", DecimalType(3, 0)),))
                    ),
                    StructField("a.b", PrimitiveType("long")),
                )
            ),
        ),
        StructField("odd name", PrimitiveType("string")),
        StructField("p.q", PrimitiveType("long")),
        StructField("date", PrimitiveType("date")),
    )
)
ROWS = arrow_schema(SCHEMA)


def matches(sql: str, **row: object) -> bool:
    """Tell whether the condition is true for the row; columns left out are null."""
    names = {
        name: row.get(name.replace(" ", "_").replace(".", "_")) for name in ROWS.names
    }
    table = pa.Table.from_pylist([names], ROWS)
    return bool(table.filter(to_expression(parse_predicate(sql, SCHEMA))).num_rows)


class TestComparisons:
    @pytest.mark.parametrize(
        ("sql", "row"),
        [
            pytest.param("i = 5", {"i": 5}, id="equal"),
            pytest.param("I == 5", {"i": 5}, id="a name in another case"),
            pytest.param("5 < i", {"i": 6}, id="the value first"),
            pytest.param("i <> 5", {"i": 6}, id="unequal"),
            pytest.param("(((i))) >= ((5))", {"i": 5}, id="parentheses"),
            pytest.param("i = - -5", {"i": 5}, id="minus minus"),
            pytest.param(
                "l = 9007199254740993", {"l": 2**53 + 1}, id="beyond a double"
            ),
            pytest.param("l = 5L", {"l": 5}, id="Spark's suffix"),
            pytest.param("i = '5'", {"i": 5}, id="a number in quotes"),
            pytest.param("i < j", {"i": 1, "j": 2}, id="two columns"),
            pytest.param("f = 0.1", {"f": 0.1}, id="a float by its own rounding"),
            pytest.param("x = 1e3", {"x": 1000.0}, id="an exponent"),
            pytest.param("x > '-Infinity'", {"x": 0.0}, id="infinity"),
            pytest.param("m = 1.5", {"m": Decimal("1.50")}, id="a decimal"),
            pytest.param("s = 'it''s'", {"s": "it's"}, id="the standard's quote"),
            pytest.param("s = 'it\\'s'", {"s": "it's"}, id="Spark's quote"),
            pytest.param("c = 'x'", {"c": "x"}, id="text of a fixed length"),
            pytest.param("b", {"b": True}, id="a column alone"),
            pytest.param("b = TRUE", {"b": True}, id="a boolean"),
            pytest.param("NOT b", {"b": False}, id="a column denied"),
            pytest.param("b = 'false'", {"b": False}, id="a boolean in quotes"),
            pytest.param(
                "d = DATE '2024-02-29'", {"d": date(2024, 2, 29)}, id="a date"
            ),
            pytest.param(
                "d = CAST('2024-02-29' AS DATE)",
                {"d": date(2024, 2, 29)},
                id="a value cast",
            ),
            pytest.param(
                "date = '2024-02-29'",
                {"date": date(2024, 2, 29)},
                id="a column called as a type",
            ),
            pytest.param(
                "d < '2024-02-29 00:00:01'",
                {"d": date(2024, 2, 29)},
                id="a date before a time of its day",
            ),
            pytest.param(
                "t = '2024-01-01T02:00:00+02:00'",
                {"t": datetime(2024, 1, 1, tzinfo=UTC)},
                id="a zone",
            ),
            pytest.param(
                "t = TIMESTAMP '2024-01-01 00:00:00.000001'",
                {"t": datetime(2024, 1, 1, 0, 0, 0, 1, UTC)},
                id="a time",
            ),
            pytest.param(
                "t > DATE '2023-12-31'",
                {"t": datetime(2024, 1, 1, tzinfo=UTC)},
                id="a day for a time",
            ),
            pytest.param(
                "n = TIMESTAMP_NTZ '2024-01-01 00:00:00'",
                {"n": datetime(2024, 1, 1)},  # noqa: DTZ001 # no zone
                id="no zone",
            ),
            pytest.param("y = X'00ff'", {"y": b"\x00\xff"}, id="bytes"),
            pytest.param("y = CAST('ab' AS BINARY)", {"y": b"ab"}, id="text as bytes"),
            pytest.param(
                "st.`in`.x = 7", {"st": {"in": {"x": Decimal(7)}}}, id="nested"
            ),
            pytest.param("st.`a.b` = 7", {"st": {"a.b": 7}}, id="a dot in backticks"),
            pytest.param("`p.q` = 7", {"p_q": 7}, id="a top-level dot"),
            pytest.param("`odd name` = 'x'", {"odd_name": "x"}, id="a space"),
            pytest.param("i = 5 -- why", {"i": 5}, id="a comment"),
            pytest.param("i = 5" + "::INT" * 5000, {"i": 5}, id="a chain of casts"),
            pytest.param(
                "i BETWEEN j AND 5", {"i": 3, "j": 2}, id="a column as an end"
            ),
            pytest.param("-5 < -4", {}, id="two negative numbers"),
            pytest.param("1 = 1", {}, id="two numbers"),
            pytest.param("'a' < 'b'", {}, id="two texts"),
            pytest.param("TRUE", {}, id="true"),
            pytest.param("i = 99999 AND i = 99999 OR i = 1", {"i": 1}, id="precedence"),
        ],
    )
    def test_are_true(self, sql: str, row: dict[str, Any]) -> None:
        assert matches(sql, **row)

    @pytest.mark.parametrize(
        ("sql", "row"),
        [
            pytest.param("i = NULL", {"i": None}, id="null equals nothing"),
            pytest.param("NOT i = 5", {}, id="null is not unequal"),
            pytest.param("i IN (1, NULL)", {"i": 2}, id="a list with null"),
            pytest.param("i NOT IN (1, NULL)", {"i": 2}, id="a list with null, denied"),
            pytest.param("NOT (i <=> NULL)", {}, id="null is null"),
            pytest.param("x = 'NaN'", {"x": float("nan")}, id="NaN equals nothing"),
            pytest.param("x IN ('NaN', 1)", {"x": float("nan")}, id="NaN in a list"),
            pytest.param("FALSE", {}, id="false"),
            pytest.param("NULL", {}, id="unknown"),
            pytest.param("s LIKE NULL", {"s": "x"}, id="like null"),
            pytest.param("i IN (NULL)", {"i": 1}, id="a list of null"),
            pytest.param("i IN (1.5, NULL)", {"i": 1}, id="a list of no whole number"),
            pytest.param("i NOT IN (1.5, NULL)", {"i": 1}, id="the same denied"),
        ],
    )
    def test_are_not_true(self, sql: str, row: dict[str, Any]) -> None:
        assert not matches(sql, **row)


class TestTests:
    @pytest.mark.parametrize(
        ("sql", "row", "expected"),
        [
            pytest.param("i IS NULL", {}, True, id="null"),
            pytest.param("i IS NOT NULL", {}, False, id="not null"),
            pytest.param("st IS NULL", {"st": {"in": None}}, False, id="a struct"),
            pytest.param("list IS NULL", {}, True, id="a list"),
            pytest.param("b IS TRUE", {}, False, id="is true"),
            pytest.param("b IS NOT TRUE", {}, True, id="is not true"),
            pytest.param("i <=> 5", {"i": 5}, True, id="null-safe"),
            pytest.param("5 <=> i", {}, False, id="null-safe, swapped"),
            pytest.param("i <=> 5.5", {"i": 5}, False, id="null-safe, between"),
            pytest.param("i IS DISTINCT FROM 5", {}, True, id="distinct"),
            pytest.param("i IN (1, 2.0, '3')", {"i": 3}, True, id="in"),
            pytest.param("i IN (1.5)", {"i": 1}, False, id="in, between"),
            pytest.param("NOT i IN (1.5)", {"i": 1}, True, id="not in, between"),
            pytest.param("i BETWEEN 1 AND 2.5", {"i": 2}, True, id="between"),
            pytest.param("i NOT BETWEEN 1 AND 2", {"i": 3}, True, id="not between"),
            pytest.param("s LIKE 'a%_c'", {"s": "axbc"}, True, id="like"),
            pytest.param("s LIKE '%'", {"s": "a\nb"}, True, id="a line end"),
            pytest.param("s LIKE 'a\\%'", {"s": "a%"}, True, id="an escape"),
            pytest.param(
                "s LIKE 'a!%' ESCAPE '!'", {"s": "ab"}, False, id="own escape"
            ),
            pytest.param(
                "s LIKE '\\\\\\\\' ESCAPE '!'",
                {"s": "\\\\"},
                True,
                id="a backslash beside another escape",
            ),
            pytest.param(
                r"s LIKE '\\\\a.%'", {"s": "\\a.b"}, True, id="an escaped backslash"
            ),
            pytest.param(r"s LIKE '%\\\\'", {"s": "a\\"}, True, id="one at the end"),
            pytest.param(
                r"s LIKE '\\\\a.%'", {"s": "\\abc"}, False, id="a dot beside an escape"
            ),
            pytest.param("x IN (0, 1)", {"x": -0.0}, True, id="a zero below zero"),
            pytest.param("s NOT LIKE 'a%'", {"s": "b"}, True, id="not like"),
            pytest.param("s ILIKE 'A%'", {"s": "ab"}, True, id="ilike"),
        ],
    )
    def test_answer_as_sql_does(
        self,
        sql: str,
        row: dict[str, Any],
        expected: bool,  # noqa: FBT001 # a table
    ) -> None:
        assert matches(sql, **row) is expected


class TestRefusing:
    @pytest.mark.parametrize(
        ("sql", "words"),
        [
            pytest.param("", "empty", id="nothing"),
            pytest.param(" \n", "empty", id="blanks"),
            pytest.param("i =", "not SQL at '='", id="half a comparison"),
            pytest.param("i = 'x", "not a condition in SQL", id="an open quote"),
            pytest.param("i = 1 i = 2", "not SQL at", id="no connective"),
            pytest.param(
                "i = 1; DROP TABLE t", "not one condition", id="two statements"
            ),
            pytest.param("SELECT 1", "'SELECT 1' is not a condition", id="a query"),
            pytest.param("i IN (SELECT 1)", "no list of values", id="a subquery"),
            pytest.param("zz = 1", "no column 'zz'; its columns are i, j", id="column"),
            pytest.param("st.zz = 1", "no column 'st.zz'", id="a nested column"),
            pytest.param("abs(i) = 1", "functions, arithmetic", id="a function"),
            pytest.param("i + 1 = 2", "functions, arithmetic", id="arithmetic"),
            pytest.param("CAST(i AS INT) = 1", "casts of columns", id="a column cast"),
            pytest.param(
                "i = CAST(j AS INT)", "casts a column", id="cast on the right"
            ),
            pytest.param(
                "i = abs(1)", r"'ABS\(1\)' is not a value", id="a function value"
            ),
            pytest.param(
                "i = CAST('1' AS ARRAY<INT>)", "is not a value", id="an array"
            ),
            pytest.param(
                "d = CAST(5 AS DATE)", "is not a value", id="a number as date"
            ),
            pytest.param("i = ?", "is not a value", id="a placeholder"),
            pytest.param("i = -'x'", "is not a value", id="minus text"),
            pytest.param("i = 'x'", "'x' is no int, the type of column 'i'", id="type"),
            pytest.param("s = 5", "5 is no string", id="a number for text"),
            pytest.param("b = 1", "1 is no boolean", id="a number for a boolean"),
            pytest.param("d = '2024-02-30'", "no date", id="no day"),
            pytest.param("t = 5", "no timestamp", id="a number for a time"),
            pytest.param("n = '2024-01-01Z'", "no timestamp_ntz", id="a zone for none"),
            pytest.param("n = '2024-01-01T00:00:00Z'", "without a zone", id="its hint"),
            pytest.param("i = 1e999999", "no int", id="a huge exponent"),
            pytest.param("1e999999 = 1", "too large", id="a huge number alone"),
            pytest.param("1 = 'x'", "different kinds", id="a number beside text"),
            pytest.param("i = s", "of different types", id="columns of two types"),
            pytest.param("list = 1", "'list' is nested", id="a list"),
            pytest.param("v = 1", "'v' has no values", id="void"),
            pytest.param("i", "'i' is not a condition", id="a number alone"),
            pytest.param(
                "i LIKE 'x'", "LIKE needs a column of text", id="like a number"
            ),
            pytest.param("s LIKE 'x!' ESCAPE '!'", "ends with its escape", id="escape"),
            pytest.param("s LIKE 'x' ESCAPE '!!'", "one character", id="two escapes"),
            pytest.param(
                "s RLIKE 'x'", "is not a condition", id="a regular expression"
            ),
            pytest.param(
                "s RLIKE 'x' ESCAPE '!'", "is not a condition", id="its escape"
            ),
            pytest.param("s LIKE 5", "no pattern", id="a number as a pattern"),
            pytest.param("i = TRUE", "true is no int", id="a boolean for a number"),
            pytest.param("s = i.j.k.l.m.n.o", "no column 'i.j.k", id="a long path"),
            pytest.param("i = " + "1+" * 6000 + "1", "is not a value", id="a long sum"),
            pytest.param("l = " + "9" * 600, "no bigint", id="a number of 600 digits"),
            pytest.param("i <=> j", "does not compare a column", id="two null-safe"),
            pytest.param("1 <=> 2", "does not compare a column", id="none null-safe"),
            pytest.param("1 IS NULL", "does not test a column", id="a value tested"),
            pytest.param("1 IN (1)", "'1' is not a column", id="a value in a list"),
            pytest.param("i BETWEEN SYMMETRIC 2 AND 1", "", id="between symmetric"),
            pytest.param("i = 1 \ud800", "no text", id="half a character"),
            pytest.param("i = 1" + " " * MAX_LENGTH, "longer than", id="length"),
            pytest.param("i=1 AND " * MAX_TOKENS, "longer|parts", id="parts"),
            pytest.param("i IN (" + "1," * MAX_TOKENS + "1)", "more than", id="a list"),
            pytest.param("(" * 30 + "b" + ")" * 30, "nests deeper", id="parentheses"),
            pytest.param("NOT " * 5000 + "b", "nests deeper", id="denials"),
            pytest.param("i = " + "-" * 3 + " - " * 900 + "1", "", id="minus signs"),
        ],
    )
    def test_says_what_is_not_understood(self, sql: str, words: str) -> None:
        with pytest.raises(PredicateError) as caught:
            parse_predicate(sql, SCHEMA)

        assert re.search(words, caught.value.message)
        assert len(caught.value.message) < 500

    def test_happens_even_deep_in_the_stack(self) -> None:
        def deeper(levels: int) -> object:
            if levels:
                return deeper(levels - 1)
            depth = MAX_NESTING_DEPTH - 1
            return parse_predicate("i = 1 OR (" * depth + "b" + ")" * depth, SCHEMA)

        with pytest.raises(PredicateError, match="nests deeper"):
            deeper(850)

    def test_leaves_what_is_within_the_bounds(self) -> None:
        depth = MAX_NESTING_DEPTH - 1
        assert matches("i = 9 OR (" * depth + "b" + ")" * depth, b=True)
        assert matches("i = 1 OR " * 3000 + "i = 2", i=2)
        assert matches("i IN (" + ",".join(map(str, range(5000))) + ")", i=4999)


OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
numbers = st.decimals(-(10**6), 10**6, places=3) | st.sampled_from(
    [Decimal(2) ** 31, -(Decimal(2) ** 31), Decimal("999.994"), Decimal(10) ** 40]
)


class TestLiteralsOfOtherTypes:
    @settings(max_examples=examples(300))
    @given(
        operator=st.sampled_from(list(OPERATORS)),
        value=st.integers(-3, 3) | st.sampled_from([2**31 - 1, -(2**31)]),
        literal=numbers | st.integers(-6, 6).map(lambda half: Decimal(half) / 2),
    )
    def test_compare_with_whole_numbers_as_mathematics_does(
        self, operator: str, value: int, literal: Decimal
    ) -> None:
        expected = OPERATORS[operator](Decimal(value), literal)

        assert matches(f"i {operator} {literal:f}", i=value) is expected
        assert matches(f"NOT (i {operator} {literal:f})", i=value) is not expected
        assert not matches(f"i {operator} {literal:f}", i=None)

    @settings(max_examples=examples(200))
    @given(
        operator=st.sampled_from(list(OPERATORS)),
        value=st.decimals(-2, 2, places=2) | st.just(Decimal("999.99")),
        literal=numbers | st.decimals(-2, 2, places=3),
    )
    def test_compare_with_decimals_as_mathematics_does(
        self, operator: str, value: Decimal, literal: Decimal
    ) -> None:
        expected = OPERATORS[operator](value, literal)

        assert matches(f"m {operator} {literal:f}", m=value) is expected

    @settings(max_examples=examples(200))
    @given(
        operator=st.sampled_from(list(OPERATORS)),
        value=st.dates(date(2024, 1, 1), date(2024, 1, 3)),
        literal=st.datetimes(datetime(2024, 1, 1), datetime(2024, 1, 3, 1)),  # noqa: DTZ001 # UTC
    )
    def test_compare_with_dates_as_calendars_do(
        self, operator: str, value: date, literal: datetime
    ) -> None:
        midnight = datetime(value.year, value.month, value.day)  # noqa: DTZ001 # UTC
        expected = OPERATORS[operator](midnight, literal)

        assert matches(f"d {operator} '{literal.isoformat(' ')}'", d=value) is expected
