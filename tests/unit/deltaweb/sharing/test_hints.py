"""Hints in the spellings that were captured do prune; the rest is skipped, alone."""

import inspect
import json
import sys
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.file_pruning import files_for_predicate
from deltaweb.delta.partition_values import partition_schema, type_partition_values
from deltaweb.delta.predicate import And
from deltaweb.delta.schema import (
    ArrayType,
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.delta.statistics import parse_statistics
from deltaweb.sharing.hints import (
    MAX_COMPARISONS,
    MAX_HINTS,
    MAX_SQL_CHARACTERS,
    MAX_TEXT_SHOWN,
    Hints,
    SkippedHint,
    parse_hints,
)
from deltaweb.sharing.json_hints import MAX_BYTES, MAX_DEPTH

SCHEMA = StructType(
    (
        StructField("day", PrimitiveType("date")),
        StructField("ts", PrimitiveType("timestamp")),
        StructField("p", PrimitiveType("integer")),
        StructField("k", PrimitiveType("string")),
        StructField("price", DecimalType(10, 2)),
        StructField("qty", PrimitiveType("integer")),
        StructField("big", PrimitiveType("long")),
        StructField("long_price", DecimalType(38, 2)),
        StructField("amount", PrimitiveType("double")),
        StructField("rate", PrimitiveType("float")),
        StructField("at", PrimitiveType("timestamp")),
        StructField("local", PrimitiveType("timestamp_ntz")),
        StructField("born", PrimitiveType("date")),
        StructField("ok", PrimitiveType("boolean")),
        StructField("raw", PrimitiveType("binary")),
        StructField("name", PrimitiveType("string")),
        StructField("odd name", PrimitiveType("string")),
        StructField("date", PrimitiveType("date")),
        StructField("list", ArrayType(PrimitiveType("long"))),
        StructField("nothing", PrimitiveType("void")),
        StructField("st", StructType((StructField("x", PrimitiveType("integer")),))),
        StructField("padded", PrimitiveType("string", "char(5)")),
        StructField("limited", PrimitiveType("string", "varchar(5)")),
        StructField("loud", PrimitiveType("string", "string collate UTF8_LCASE")),
        StructField(
            "spark_padded",
            PrimitiveType("string"),
            metadata={"__CHAR_VARCHAR_TYPE_STRING": "char(5)"},
        ),
    )
)
PARTITIONS = ("day", "ts", "p", "k", "price")
FILES: dict[str, dict[str, str | None]] = {
    "a": {"day": "2021-04-26", "ts": "2020-05-02 01:02:03", "p": "8", "k": "it's"},
    "b": {"day": "2021-04-27", "ts": "2020-05-02T01:02:03.654321Z", "p": "9", "k": ""},
    "c": {"day": "2021-04-28", "ts": "2020-05-03 00:00:00.5", "p": "10", "k": "its"},
    "d": {"day": None, "ts": None, "p": None, "k": None, "price": "1.50"},
}
DAY_1 = "2024-01-01T00:00:00.000Z"
STATS: dict[str, dict[str, Any]] = {
    "a": {
        "min": {
            "qty": 1,
            "at": "2024-01-01T00:00:00.000Z",
            "name": "Anna",
            "amount": 1,
        },
        "max": {
            "qty": 5,
            "at": "2024-01-01T00:00:00.000Z",
            "name": "Bert",
            "amount": 9,
        },
    },
    "b": {
        "min": {
            "qty": 6,
            "at": "2024-01-02T00:00:00.000Z",
            "name": "Carl",
            "amount": 10,
        },
        "max": {
            "qty": 9,
            "at": "2024-01-03T00:00:00.000Z",
            "name": "Dora",
            "amount": 20,
        },
    },
    "c": {
        "min": {"qty": 10, "st": {"x": 1}, "born": "2000-01-01", "rate": 1},
        "max": {"qty": 10, "st": {"x": 3}, "born": "2000-12-31", "rate": 2},
    },
    "d": {"min": {"name": "Emil"}, "max": {"name": "Emil"}},
}


def selected(hints: Hints) -> str:
    """The names of the files that the hints leave."""
    maps = pa.array(
        [list(values.items()) for values in FILES.values()],
        pa.map_(pa.string(), pa.string()),
    )
    stats = pa.chunked_array(
        [
            [
                json.dumps(
                    {
                        "numRecords": 3,
                        "minValues": item["min"],
                        "maxValues": item["max"],
                        "nullCount": {"qty": 3 if name == "d" else 0},
                    }
                )
                for name, item in STATS.items()
            ]
        ]
    )
    columns = partition_schema(SCHEMA, PARTITIONS)
    typed = type_partition_values(pa.chunked_array([maps]), columns, stats)
    mask = files_for_predicate(
        And(hints.predicates),
        typed.combine_chunks(),
        lambda paths: parse_statistics(stats, SCHEMA, paths),
    )
    return "".join(name for name, kept in zip(FILES, mask, strict=True) if kept)


def sql_hints(*texts: object, beside_json: str | None = None) -> Hints:
    return parse_hints(
        predicate_hints=list(texts), json_predicate_hints=beside_json, schema=SCHEMA
    )


def json_hints(tree: object) -> Hints:
    text = tree if isinstance(tree, str) else json.dumps(tree)
    return parse_hints(predicate_hints=None, json_predicate_hints=text, schema=SCHEMA)


def column(name: str, value_type: str | None = "int") -> dict[str, Any]:
    leaf = {"op": "column", "name": name}
    return {**leaf, "valueType": value_type} if value_type else leaf


def literal(value: object, value_type: str = "int") -> dict[str, Any]:
    return {"op": "literal", "value": value, "valueType": value_type}


def op(name: str, *children: object) -> dict[str, Any]:
    return {"op": name, "children": list(children)}


SECOND = "TIMESTAMP '2020-05-02 01:02:03'"
TEXT = "CAST(partitionValues.k AS STRING)"
TRUE = {"op": "literal", "value": True, "valueType": "bool"}
EQUAL = op("equal", column("p"), literal("9"))


class TestSQLThatPrunes:
    @pytest.mark.parametrize(
        ("sql", "expected"),
        [
            # What the Spark connector 1.4.1 sends.
            ("(CAST(partitionValues.day AS DATE) = DATE '2021-04-27')", "b"),
            (f"(CAST(partitionValues.ts AS TIMESTAMP) > {SECOND})", "bc"),
            ("(NOT (CAST(partitionValues.p AS INT) = 9))", "ac"),
            (rf"(({TEXT} = 'it\'s') OR ({TEXT} IS NULL))", "abd"),
            # What older connectors send.
            ("(`day` = DATE '2021-04-26')", "a"),
            ("(`p` = 9L)", "b"),
            ("(`p` IN (8, 9))", "ab"),
            ("(NOT (`p` IN (8, 9)))", "c"),
            (r"(`k` = 'it\'s')", "a"),
            ("(`day` = CAST('2021-04-28' AS DATE))", "c"),
            # The operators of the specification, in either order.
            ("p = 9", "b"),
            ("9 = p", "b"),
            ("p > 9", "c"),
            ("9 < p", "c"),
            ("p < 9", "a"),
            ("p >= 9", "bc"),
            ("9 <= p", "bc"),
            ("p <= 9", "ab"),
            ("p <> 9", "ac"),
            ("9 != p", "ac"),
            ("p IS NULL", "d"),
            ("p IS NOT NULL", "abc"),
            # Literals.
            ("k = 'it''s'", "a"),
            ("day = '2021-04-27'", "b"),
            ("day >= '2021-04-27 00:00:00'", "bc"),
            ("day > '2021-04-27 12:00:00'", "c"),
            ("day < TIMESTAMP '2021-04-26 12:00:00'", "a"),
            ("ts = '2020-05-02 01:02:03'", "a"),
            ("ts = TIMESTAMP '2020-05-02 01:02:03.654321'", "b"),
            ("ts = '2020-05-02T01:02:03.6543210Z'", "b"),
            ("ts <= '2020-05-02T01:02:03.6543209Z'", "ab"),
            ("ts > DATE '2020-05-02'", "abc"),
            ("ts >= DATE '2020-05-03'", "c"),
            ("price = 1.5", "d"),
            ("price = 1.50BD", "d"),
            ("price = 1.5D", "d"),
            ("price = '1.5'", "d"),
            ("price < -1.5BD", ""),
            ("p = 9S", "b"),
            ("p = 9Y", "b"),
            ("p = 9D", "b"),
            ("p = 9F", "b"),
            ("p > 8.5", "bc"),
            ("p > 8.5D", "bc"),
            ("p = '9'", "b"),
            ("p = CAST('9' AS INT)", "b"),
            ("p > -1Y", "abc"),
            ("-5 < p", "abc"),
            ("p >= CAST(9 AS DECIMAL(10,0))", "bc"),
            ('k = "it\'s"', "a"),
            # Statistics of data columns.
            ("qty = 5", "a"),
            ("qty > 9", "c"),
            ("NOT (qty <= 5)", "bc"),
            ("qty BETWEEN 6 AND 9", "b"),
            ("qty NOT BETWEEN 6 AND 9", "ac"),
            ("qty IN (1, NULL)", "a"),
            ("qty IN (1.5, NULL)", ""),
            ("qty <=> 10", "c"),
            ("5 <=> qty", "a"),
            ("qty <=> NULL", "d"),
            ("qty IS DISTINCT FROM 10", "abd"),
            ("isnull(qty)", "d"),
            ("isnotnull(`qty`)", "abc"),
            ("at >= '2024-01-02'", "bcd"),
            ("at > '2024-01-01T00:00:00.000999Z'", "bcd"),
            ("name LIKE 'C%'", "bc"),
            (r"name LIKE 'C\%%'", "bc"),
            ("name LIKE 'C!%%' ESCAPE '!'", "c"),
            ("startswith(name, 'Em')", "cd"),
            ("name = 'Emil'", "cd"),
            # A file may hold NaN, which statistics leave out and Spark calls largest.
            ("amount > 20.5", "abcd"),
            ("amount < 9", "acd"),
            ("CAST(rate AS DOUBLE) > 2.5D", "abcd"),
            ("CAST(qty AS DECIMAL(12,1)) = 5.0", "a"),
            ("CAST(qty AS BIGINT) = 5L", "a"),
            ("rate > 2.6", "abcd"),
            ("rate <> 0.1", "abcd"),
            ("rate = 0.1F", "abd"),
            ("amount = 'NaN'", "abcd"),
            ("amount IN ('NaN', 5)", "abcd"),
            ("at IN ('2024-01-02 00:00:00.0000001', NULL)", "bcd"),
            ("price = -CAST(1.5 AS DECIMAL(3,1))", ""),
            ("amount = 0.1F", "cd"),
            ("st.x = 4", "abd"),
            ("`ST`.`X` = 4", "abd"),
            ("born = '2001-01-01'", "abd"),
            ("(((qty))) = ((5))", "a"),
            # Connectives.
            ("p = 8 OR p = 9 OR p = 10", "abc"),
            ("(p = 8) OR ((p = 9) OR (qty = 10))", "abc"),
            ("p = 9 AND qty = 6", "b"),
            ("NOT (p = 9 OR qty = 10)", "a"),
            ("p LIKE '%' OR p = 9", "abcd"),
            ("p NOT IN (9)", "ac"),
            ("k NOT LIKE 'it%'", ""),
            ("ok IS NOT TRUE", "abcd"),
            ("ok", "abcd"),
            ("k LIKE '%''s'", "a"),
            ("k LIKE '_t_'", "c"),
        ],
    )
    def test_leaves_exactly(self, sql: str, expected: str) -> None:
        assert selected(sql_hints(sql)) == expected

    def test_a_real_column_comes_before_the_connectors_name(self) -> None:
        inner = StructType((StructField("day", PrimitiveType("date")),))
        schema = StructType((*SCHEMA.fields, StructField("partitionValues", inner)))

        found = parse_hints(
            predicate_hints=["partitionValues.day = DATE '2021-04-27'"],
            json_predicate_hints=None,
            schema=schema,
        )
        other = parse_hints(
            predicate_hints=["partitionValues.p = 9"],
            json_predicate_hints=None,
            schema=schema,
        )

        assert found.predicates[0].column == ("partitionValues", "day")  # type: ignore[union-attr]
        assert [hint.reason for hint in other.skipped] == [
            "the table has no column 'partitionValues.p'"
        ]

    def test_all_hints_apply(self) -> None:
        assert selected(sql_hints("p >= 9", "qty < 10")) == "b"

    def test_a_part_that_is_not_understood_does_not_stop_the_others(self) -> None:
        hints = sql_hints("p = 9 AND (upper(k) = 'X' AND qty > 0)")

        assert selected(hints) == "b"
        assert [hint.text for hint in hints.skipped] == ["UPPER(k) = 'X'"]


class TestTextsWithBackslashes:
    def test_stand_for_both_readings(self) -> None:
        assert selected(sql_hints("k <> 'its'")) == "a"
        assert selected(sql_hints(r"k <> 'it\s'")) == "ac"
        assert selected(sql_hints(r"k = 'it\s'")) == "c"

    def test_still_prune(self) -> None:
        assert selected(sql_hints(r"name < 'B\\x'")) == "ac"
        assert selected(sql_hints(r"name IN ('B\\x', 'Emil')")) == "acd"


class TestTimesOfAnotherZone:
    """The Spark connector writes its session's times in SQL, and instants in JSON."""

    AFTER = "(CAST(partitionValues.ts AS TIMESTAMP) > TIMESTAMP '2020-05-02 12:00:00')"

    def test_are_utc_alone(self) -> None:
        assert selected(sql_hints(self.AFTER)) == "c"

    def test_are_of_any_zone_beside_json(self) -> None:
        is_null = json.dumps(op("not", op("isNull", column("qty"))))

        assert selected(sql_hints(self.AFTER, beside_json=is_null)) == "abc"

    def test_are_exact_where_they_say_their_zone(self) -> None:
        exact = self.AFTER.replace("12:00:00'", "12:00:00Z'")

        assert selected(sql_hints(exact, beside_json="{}")) == "c"


class TestSQLThatIsSkipped:
    @pytest.mark.parametrize(
        ("sql", "words"),
        [
            pytest.param("NULL", "is not a condition", id="null"),
            pytest.param("1", "is not a condition", id="a number"),
            pytest.param("TRUE", "is not a condition", id="true"),
            pytest.param("FALSE", "is not a condition", id="false"),
            pytest.param("'x'", "is not a condition", id="a text"),
            pytest.param("qty", "is not a condition", id="a column of numbers"),
            pytest.param("1 = 0", "does not compare", id="two literals"),
            pytest.param("p = qty", "does not compare", id="two columns"),
            pytest.param("p = NULL", "compares with NULL", id="equal to null"),
            pytest.param("nosuch = 1", "no column 'nosuch'", id="no column"),
            pytest.param("nosuch IS NULL", "no column", id="no column, tested"),
            pytest.param("partitionValues = 1", "no column", id="the prefix alone"),
            pytest.param("abs(p) = 1", "does not compare", id="a function"),
            pytest.param("p + 1 = 1", "does not compare", id="arithmetic"),
            pytest.param("p = 1 + 1", "is not a value", id="a sum"),
            pytest.param("p = -'x'", "is not a value", id="minus text"),
            pytest.param("isnull(p, 1)", "is not a condition", id="two arguments"),
            pytest.param("magic(p)", "is not a condition", id="an unknown function"),
            pytest.param("p RLIKE '1'", "is not a condition", id="rlike"),
            pytest.param("k ILIKE 'x'", "is not a condition", id="ilike"),
            pytest.param("k RLIKE 'x' ESCAPE '!'", "selects no", id="rlike, escaped"),
            pytest.param("p LIKE '1%'", "no column of text", id="like of a number"),
            pytest.param("k LIKE 5", "no pattern", id="like a number"),
            pytest.param(r"k LIKE 'a\%' ESCAPE '!'", "two ways", id="two escapes"),
            pytest.param("startswith(k, 5)", "no prefix", id="starts with a number"),
            pytest.param("p BETWEEN SYMMETRIC 2 AND 1", "", id="symmetric"),
            pytest.param("p IN (SELECT 1)", "no list", id="a subquery"),
            pytest.param("p IS TRUE", "does not test", id="a number is true"),
            pytest.param("1 IS NULL", "is not a column", id="a value is null"),
            pytest.param("CAST(p AS STRING) = '9'", "may change", id="cast to text"),
            pytest.param("CAST(k AS INT) = 9", "may change", id="cast of text"),
            pytest.param("CAST(big AS DOUBLE) = 9", "may change", id="a lossy cast"),
            pytest.param("CAST(big AS DECIMAL) = 9", "may", id="too few digits"),
            pytest.param("CAST(price AS DECIMAL(10)) = 9", "may", id="no digits after"),
            pytest.param("CAST(st AS STRING) = 'x'", "may change", id="cast a struct"),
            pytest.param("CAST(day AS ARRAY<INT>) = 1", "may", id="cast to a list"),
            pytest.param(
                "CAST(day AS DATE FORMAT 'x') = 1", "", id="cast with a format"
            ),
            pytest.param("p = CAST(1.5 AS INT)", "may change", id="a cast that cuts"),
            pytest.param("p = CAST(300 AS TINYINT)", "may", id="a cast out of range"),
            pytest.param("k = CAST(1.0 AS STRING)", "may", id="a number as text"),
            pytest.param("k = CAST(007 AS STRING)", "may", id="zeros as text"),
            pytest.param("k = CAST(TRUE AS STRING)", "may", id="a boolean as text"),
            pytest.param("p = CAST(1F AS INT)", "may", id="a float as a number"),
            pytest.param("p = CAST('x' AS INT)", "may", id="text as a number"),
            pytest.param("p = CAST(NULL AS INT)", "NULL", id="a typed null"),
            pytest.param("p = '9.0'", "safely", id="a text with a point"),
            pytest.param("p = '99999999999'", "safely", id="a text out of range"),
            pytest.param("p = TRUE", "safely", id="a boolean for a number"),
            pytest.param("p = 1e300", "safely", id="a double beyond whole numbers"),
            pytest.param("p = 1.5F", "safely", id="a fraction of a float"),
            pytest.param("p = 16777217F", "safely", id="beyond whole floats"),
            pytest.param("k = 5", "safely", id="a number for a text"),
            pytest.param("ok = 1", "safely", id="a number for a boolean"),
            pytest.param("ok = 'yes'", "is no boolean", id="another word for true"),
            pytest.param("raw = 'x'", "safely", id="text for bytes"),
            pytest.param("price = 1.5F", "safely", id="a float for a decimal"),
            pytest.param("long_price = 1.5D", "safely", id="a double, many digits"),
            pytest.param("long_price = 1.555", "safely", id="digits beyond 38"),
            pytest.param("price = 'x'", "safely", id="text for a decimal"),
            pytest.param("amount = TRUE", "safely", id="a boolean for a double"),
            pytest.param("amount = 1e999", "safely", id="beyond a double"),
            pytest.param("day = 5", "safely", id="a number for a date"),
            pytest.param("day = '2021-04-27T00:00:00Z'", "safely", id="a zone, a date"),
            pytest.param("day = '27.4.2021'", "safely", id="no date"),
            pytest.param("day = CAST('2021-04-27 10:00:00' AS DATE)", "", id="cut"),
            pytest.param("ts = 5", "safely", id="a number for a time"),
            pytest.param("local = '2021-04-27T00:00:00Z'", "safely", id="a zone"),
            pytest.param("CAST(qty AS DECIMAL(x)) = 1", "", id="a strange decimal"),
            pytest.param("list = 1", "is nested", id="a list"),
            pytest.param("st = 1", "is nested", id="a struct"),
            pytest.param("nothing = 1", "no values", id="void"),
            pytest.param("padded = 'x'", "padded", id="padded"),
            pytest.param("spark_padded = 'x'", "padded", id="padded, said by Spark"),
            pytest.param("loud = 'x'", "collation", id="a collation"),
            pytest.param('"k" = "x"', "double quotes", id="a column or a text"),
            pytest.param("p =", "not SQL", id="half"),
            pytest.param("p = 1; p = 2", "not one", id="two"),
            pytest.param("", "empty", id="empty"),
            pytest.param("\0", "no column", id="NUL"),
            pytest.param("p = 1\0", "", id="NUL at the end"),
            pytest.param("p = '\ud800'", "no text", id="half a character"),
            pytest.param("(" * 3000 + "p = 1" + ")" * 3000, "deeper", id="parentheses"),
            pytest.param("NOT " * 3000 + "ok", "deeper", id="denials"),
            pytest.param("p = 1 --" + "x" * MAX_SQL_CHARACTERS, "longer", id="length"),
            pytest.param(
                " OR ".join(f"p > {n}" for n in range(MAX_COMPARISONS + 1)),
                "comparisons",
                id="comparisons",
            ),
            pytest.param("a" + ".a" * 9000 + " = 1", "no column", id="a long name"),
            pytest.param("\x1b\x07\xff\xfe = 1", "", id="rubbish"),
            pytest.param(5, "no text", id="a number itself"),
            pytest.param(None, "no text", id="nothing"),
            pytest.param({"op": "and"}, "no text", id="an object"),
        ],
    )
    def test_says_why_and_selects_nothing(self, sql: object, words: str) -> None:
        hints = sql_hints(sql, "p = 9")

        assert selected(hints) == "b"
        (skipped,) = hints.skipped
        assert words in skipped.reason
        assert skipped.text.isprintable()
        assert skipped.reason.isprintable()
        assert len(skipped.text) <= MAX_TEXT_SHOWN

    def test_hints_beyond_the_first_thousand_are_not_read(self) -> None:
        hints = sql_hints(*["p = 9"] * (MAX_HINTS + 5))

        assert hints.skipped == (
            SkippedHint("p = 9", f"the hints make over {MAX_COMPARISONS} comparisons"),
        ) * (MAX_HINTS - MAX_COMPARISONS) + (
            SkippedHint("p = 9", f"5 hints are beyond the first {MAX_HINTS}"),
        )

    def test_all_hints_together_are_bounded(self) -> None:
        long = f"p IN ({', '.join(['9'] * 6000)})"

        hints = sql_hints(long, long, "p = 9")

        assert selected(hints) == "b"
        assert [hint.reason for hint in hints.skipped] == [
            "it has more than 7997 parts"
        ]

    def test_a_value_that_is_no_list_is_skipped_as_a_whole(self) -> None:
        hints = parse_hints(
            predicate_hints="p = 9", json_predicate_hints=None, schema=SCHEMA
        )

        assert hints == Hints((), (SkippedHint("p = 9", "it is no list of texts"),))


class TestJSONThatPrunes:
    @pytest.mark.parametrize(
        ("tree", "expected"),
        [
            pytest.param(
                op(
                    "and",
                    op("not", op("isNull", column("day", "date"))),
                    op("equal", column("day", "date"), literal("2021-04-27", "date")),
                    op("greaterThan", column("qty"), literal("5")),
                ),
                "b",
                id="as the Spark connector sends it",
            ),
            pytest.param(op("equal", column("p"), literal("9")), "b", id="equal"),
            pytest.param(op("lessThan", column("p"), literal("9")), "a", id="less"),
            pytest.param(
                op("lessThanOrEqual", column("p"), literal("9")), "ab", id="at most"
            ),
            pytest.param(op("greaterThan", column("p"), literal("9")), "c", id="more"),
            pytest.param(
                op("greaterThanOrEqual", column("p"), literal("9")), "bc", id="at least"
            ),
            pytest.param(op("lessThan", literal("9"), column("p")), "c", id="swapped"),
            pytest.param(op("isNull", column("p")), "d", id="null"),
            pytest.param(
                op("not", op("equal", column("p"), literal("9"))), "ac", id="denied"
            ),
            pytest.param(
                op(
                    "or",
                    op("equal", column("p"), literal("9")),
                    op("equal", column("qty"), literal("10")),
                ),
                "bc",
                id="or",
            ),
            pytest.param(
                op("equal", column("p", "integer"), literal("9", "integer")),
                "b",
                id="valueType integer",
            ),
            pytest.param(op("=", column("p"), literal("9")), "b", id="op ="),
            pytest.param(op("GREATERTHAN", column("P"), literal("9")), "c", id="case"),
            pytest.param(op("<>", column("p"), literal("9")), "ac", id="unequal"),
            pytest.param(op("isNotNull", column("p")), "abc", id="not null"),
            pytest.param(
                op("in", column("p"), literal("8"), literal(9)), "ab", id="in"
            ),
            pytest.param(
                op("not", op("nullSafeEqual", literal("9"), column("p"))),
                "acd",
                id="null-safe",
            ),
            pytest.param(op("<=>", column("p"), literal("9")), "b", id="op <=>"),
            pytest.param(op("equal", column("p"), literal(9)), "b", id="a bare number"),
            pytest.param(
                op("equal", column("p", None), literal("9")), "b", id="no valueType"
            ),
            pytest.param(
                op("equal", column("p", "long"), literal("9", "long")), "b", id="long"
            ),
            pytest.param(
                op("greaterThan", column("p", "double"), literal("8.5", "double")),
                "bc",
                id="a double beside whole numbers",
            ),
            pytest.param(
                op("equal", column("price", "double"), literal("1.5", "double")),
                "d",
                id="a double beside a decimal",
            ),
            pytest.param(
                op("equal", column("k", "string"), literal("it's", "string")),
                "a",
                id="text",
            ),
            pytest.param(
                op("equal", column("k", "string"), literal(r"it\'s", "string")),
                "",
                id="a backslash is itself",
            ),
            pytest.param(
                op("lessThan", column("st.x"), literal("1")), "abd", id="nested"
            ),
            pytest.param(
                op(
                    "lessThan",
                    column("ts", "timestamp"),
                    literal("2020-05-02T01:02:03.654Z", "timestamp"),
                ),
                "ab",
                id="below a time that was cut",
            ),
            pytest.param(
                op(
                    "not",
                    op(
                        "greaterThanOrEqual",
                        column("ts", "timestamp"),
                        literal("2020-05-02T01:02:03.654Z", "timestamp"),
                    ),
                ),
                "ab",
                id="not at least a time that was cut",
            ),
            pytest.param(
                op(
                    "equal",
                    column("ts", "timestamp"),
                    literal("2020-05-02T01:02:03.654Z", "timestamp"),
                ),
                "b",
                id="equal to a time that was cut",
            ),
            pytest.param(
                op(
                    "greaterThan",
                    column("at", "timestamp"),
                    literal("2024-01-01T00:00:00.001Z", "timestamp"),
                ),
                "bcd",
                id="a time beside statistics",
            ),
            pytest.param(
                op("not", column("ok", "bool")), "abcd", id="a boolean column denied"
            ),
            pytest.param(
                op(
                    "equal",
                    column("ok", "bool"),
                    TRUE,
                ),
                "abcd",
                id="a bare boolean",
            ),
            pytest.param(op("and", op("isNull", column("p"))), "d", id="and of one"),
        ],
    )
    def test_leaves_exactly(self, tree: object, expected: str) -> None:
        hints = json_hints(tree)

        assert not hints.skipped
        assert selected(hints) == expected

    def test_a_part_that_does_not_fit_the_schema_does_not_stop_the_others(self) -> None:
        hints = json_hints(
            op(
                "and",
                op("equal", column("p"), literal("9")),
                op("equal", column("k", "int"), literal("9")),
                op("and", op("isNull", column("nosuch"))),
            )
        )

        assert selected(hints) == "b"
        assert [hint.reason for hint in hints.skipped] == [
            "the valueType integer is not that of column 'k', which is string",
            "the table has no column 'nosuch'",
        ]

    def test_as_many_levels_as_are_allowed_are_read(self) -> None:
        tree: object = op("isNull", column("p"))
        for _ in range(MAX_DEPTH - 2):
            tree = op("not", tree)

        assert selected(json_hints(tree)) == "d"

    def test_a_long_or_of_equalities_is_one_list(self) -> None:
        values = [op("equal", column("p"), literal(str(n))) for n in range(9, 5000)]

        assert selected(json_hints(op("or", *values))) == "bc"


class TestJSONThatIsSkipped:
    @pytest.mark.parametrize(
        ("tree", "words"),
        [
            pytest.param("", "no JSON", id="empty"),
            pytest.param("{", "no JSON", id="half"),
            pytest.param("5", "no JSON object", id="a number"),
            pytest.param("null", "no JSON object", id="null"),
            pytest.param([EQUAL], "no JSON object", id="a list"),
            pytest.param({}, "no name `op`", id="no op"),
            pytest.param({"op": True}, "no name `op`", id="op is true"),
            pytest.param(op("xor", EQUAL, EQUAL), "'xor' is not", id="unknown"),
            pytest.param(op("and", EQUAL, op("xor")), "'xor' is not", id="within and"),
            pytest.param(op("and"), "not the children", id="and of none"),
            pytest.param({"op": "or"}, "not the children", id="no children"),
            pytest.param(
                {"op": "not", "children": 5}, "not the children", id="no list"
            ),
            pytest.param(op("not", EQUAL, EQUAL), "not the children", id="not of two"),
            pytest.param(
                op("equal", column("p")), "not the children", id="equal to none"
            ),
            pytest.param(op("and", 5), "no JSON object", id="a child is a number"),
            pytest.param(literal("true", "bool"), "'literal' is not", id="a literal"),
            pytest.param(column("p"), "no condition", id="a column of numbers"),
            pytest.param(
                op("equal", column("p"), column("qty")),
                "with a value",
                id="two columns",
            ),
            pytest.param(
                op("equal", literal("1"), literal("1")), "name a column", id="no column"
            ),
            pytest.param(
                op("isNull", literal("1")), "name a column", id="a null literal"
            ),
            pytest.param(
                op("isNull", {"op": "column", "name": None}),
                "name a column",
                id="no name",
            ),
            pytest.param(op("isNull", column("zz")), "no column 'zz'", id="unknown"),
            pytest.param(
                op("equal", column("p"), literal("9", "decimal")),
                "'decimal' is not understood",
                id="an unknown type",
            ),
            pytest.param(
                op("equal", column("p"), {"op": "literal", "value": "9"}),
                "'None' is not understood",
                id="no type",
            ),
            pytest.param(
                op("equal", column("p"), literal(None)), "with a value", id="null"
            ),
            pytest.param(
                op("equal", column("p"), literal("x")),
                "no whole number",
                id="no number",
            ),
            pytest.param(
                op("equal", column("p"), literal("3000000000")), "32 bits", id="no int"
            ),
            pytest.param(
                op("equal", column("k", "string"), literal("9")),
                "integer is not that of column 'k'",
                id="a number beside text",
            ),
            pytest.param(
                op("equal", column("p", "string"), literal("9", "string")),
                "string is not that of column 'p'",
                id="text beside numbers",
            ),
            pytest.param(
                op("equal", column("day", "date"), literal("x", "date")),
                "safely",
                id="no date",
            ),
            pytest.param(
                op(
                    "equal",
                    column("ts", "timestamp"),
                    literal("-290308-12-21T19:59:05.224192Z", "timestamp"),
                ),
                "safely",
                id="the end of time",
            ),
            pytest.param(
                op("equal", column("list"), literal("1")), "is nested", id="a list"
            ),
            pytest.param("[" * 100_000, "nests deeper", id="brackets"),
            pytest.param('{"a":' * 5_000, "nests deeper", id="objects"),
            pytest.param(" " * (MAX_BYTES + 1), "longer", id="length"),
            pytest.param('"\ud800\0', "no JSON", id="rubbish"),
            pytest.param('"' + '\\"' * 500_000, "no JSON", id="quotes without end"),
            pytest.param(
                op("or", *[op("isNull", column("p"))] * (MAX_COMPARISONS + 1)),
                "comparisons",
                id="comparisons",
            ),
        ],
    )
    def test_says_why_and_selects_nothing(self, tree: object, words: str) -> None:
        hints = json_hints(tree)

        assert selected(hints) == "abcd" if hints.predicates else not hints.predicates
        assert words in hints.skipped[-1].reason
        assert all(len(hint.text) <= MAX_TEXT_SHOWN for hint in hints.skipped)

    @pytest.mark.parametrize("hint", [5, b"{}", ["{}"], {"op": "and"}, 1.5, object()])
    def test_what_is_no_text_is_skipped(self, hint: object) -> None:
        hints = parse_hints(
            predicate_hints=None, json_predicate_hints=hint, schema=SCHEMA
        )

        assert hints.skipped == (
            SkippedHint(f"a {type(hint).__name__}", "it is no text"),
        )


WORDS = (
    "( ) NOT - + ~ p k day ok = < > <=> IN LIKE AND OR IS NULL TRUE 5 5L 'x' . , CAST "
    "AS DATE INT DECIMAL BETWEEN CASE WHEN THEN END SELECT FROM [ ] { } : ? ; X'0' -- "
    "DATE'2021-04-27' 1e999 ESCAPE `p` partitionValues. /* */ \\ ' \" \0 \ud800"
)
words = st.sampled_from(WORDS.split(" "))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["column", "literal", "p", "day", "int", "date", "9"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["op", "children", "name", "value", "valueType", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


class TestWhateverIsSent:
    @given(hints=st.lists(st.lists(words, max_size=12).map(" ".join), max_size=3))
    def test_words_of_sql_never_raise(self, hints: Sequence[str]) -> None:
        selected_files = selected(sql_hints("p = 9", *hints))

        assert selected_files in {"", "b"}

    @given(hint=st.text() | st.binary() | json_values)
    def test_no_value_ever_raises(self, hint: object) -> None:
        found = parse_hints(
            predicate_hints=hint, json_predicate_hints=hint, schema=SCHEMA
        )

        assert isinstance(found, Hints)

    def test_little_stack_is_left(self) -> None:
        tree: object = EQUAL
        for _ in range(MAX_DEPTH - 3):
            tree = op("not", tree)
        text = json.dumps(tree)

        def deeper(levels: int) -> Hints:
            if levels:
                return deeper(levels - 1)
            return parse_hints(
                predicate_hints=["(" * 19 + "p = 9" + ")" * 19],
                json_predicate_hints=text,
                schema=SCHEMA,
            )

        free = sys.getrecursionlimit() - len(inspect.stack(0))
        found = [deeper(free - frames_left) for frames_left in range(60, 600, 10)]

        for hints in found:
            assert len(hints.predicates) + len(hints.skipped) == 2
        reasons = {hint.reason for hints in found for hint in hints.skipped}
        assert reasons == {"it nests too deeply", "it nests deeper than 20 levels"}

    @given(tree=json_values)
    def test_no_json_ever_raises(self, tree: object) -> None:
        assert isinstance(json_hints(json.dumps(tree)), Hints)
