"""Hints in SQL, in the spellings that were captured, prune; the rest is skipped."""

import pytest

from deltaweb.conditions.hints import (
    MAX_COMPARISONS,
    MAX_HINTS,
    MAX_SQL_CHARACTERS,
    MAX_TEXT_SHOWN,
    SkippedHint,
    parse_hints,
)
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from tests.support import cases
from tests.support.conditions.hint_cases import (
    SCHEMA,
    SECOND,
    TEXT,
    selected,
    sql_hints,
)


class TestSQLThatPrunes:
    @pytest.mark.parametrize(
        ("sql", "expected"),
        [
            # What the Spark connector 1.4.1 sends.
            ("(CAST(partitionValues.day AS DATE) = DATE '2021-04-27')", "b"),
            (f"(CAST(partitionValues.ts AS TIMESTAMP) > {SECOND})", "abc"),
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
            ("day < TIMESTAMP '2021-04-26 12:00:00'", "ab"),
            ("day < TIMESTAMP '2021-04-25 12:00:00'", "a"),
            ("ts = '2020-05-02 01:02:03'", "ab"),
            ("ts = '2020-05-02 01:02:03Z'", "a"),
            ("ts = TIMESTAMP '2020-05-02 01:02:03.654321Z'", "b"),
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
            ("qty IN ('1', 10)", "ac"),
            ("day NOT IN ('2021-04-27', DATE '2021-04-28')", "a"),
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
            ("at IN (TIMESTAMP '2024-01-03 00:00:00.0000001', NULL)", "bcd"),
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
            # It may be a percent sign that follows, and then no value is like it.
            (r"k NOT LIKE 'it\%%'", "ac"),
            (r"NOT (name LIKE 'C\%%')", "abcd"),
            (r"k LIKE 'it\s'", "ac"),
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


class TestSQLThatIsSkipped:
    @cases(
        "sql, words",
        {
            "null": ("NULL", "is not a condition"),
            "a number": ("1", "is not a condition"),
            "true": ("TRUE", "is not a condition"),
            "a list that rounds": ("big IN (5D, 9007199254740993)", "depends"),
            "a list of fractions and texts": ("big NOT IN (1.5, '9')", "depends"),
            "texts beside a decimal": ("price NOT IN ('1.5')", "depends"),
            "zeros as text in a list": ("qty NOT IN ('01')", "depends"),
            "a double as text": ("amount NOT IN ('5')", "depends"),
            "a day as text": ("day NOT IN ('2021-4-27')", "depends"),
            "a text beside a time in a list": (
                "day NOT IN ('2021-04-27', TIMESTAMP '2021-04-27 00:00:00')",
                "depends",
            ),
            "a time as text": ("ts NOT IN ('2020-05-02T01:02:03Z')", "depends"),
            "a list of more digits than a decimal has": (
                "price IN (1.0000000000000000000000000001, 12345678901)",
                "depends",
            ),
            "more digits than meet in a decimal": (
                "qty = 1.00000000000000000000000000000000001",
                "safely",
            ),
            "false": ("FALSE", "is not a condition"),
            "a text": ("'x'", "is not a condition"),
            "a column of numbers": ("qty", "is not a condition"),
            "two literals": ("1 = 0", "does not compare"),
            "two columns": ("p = qty", "does not compare"),
            "equal to null": ("p = NULL", "compares with NULL"),
            "no column": ("nosuch = 1", "no column 'nosuch'"),
            "no column, tested": ("nosuch IS NULL", "no column"),
            "the prefix alone": ("partitionValues = 1", "no column"),
            "a function": ("abs(p) = 1", "does not compare"),
            "arithmetic": ("p + 1 = 1", "does not compare"),
            "a sum": ("p = 1 + 1", "is not a value"),
            "minus text": ("p = -'x'", "is not a value"),
            "two arguments": ("isnull(p, 1)", "is not a condition"),
            "an unknown function": ("magic(p)", "is not a condition"),
            "rlike": ("p RLIKE '1'", "is not a condition"),
            "ilike": ("k ILIKE 'x'", "is not a condition"),
            "rlike, escaped": ("k RLIKE 'x' ESCAPE '!'", "is not a condition"),
            "like of a number": ("p LIKE '1%'", "not a text column"),
            "like a number": ("k LIKE 5", "no pattern"),
            "prefix of two readings": (r"startswith(k, 'i\t')", "no prefix"),
            "two escapes": (r"k LIKE 'a\%' ESCAPE '!'", "two ways"),
            "starts with a number": ("startswith(k, 5)", "no prefix"),
            "symmetric": ("p BETWEEN SYMMETRIC 2 AND 1", ""),
            "a subquery": ("p IN (SELECT 1)", "no list"),
            "a number is true": ("p IS TRUE", "safely"),
            "a value is null": ("1 IS NULL", "does not test"),
            "cast to text": ("CAST(p AS STRING) = '9'", "may change"),
            "cast of text": ("CAST(k AS INT) = 9", "may change"),
            "a lossy cast": ("CAST(big AS DOUBLE) = 9", "may change"),
            "too few digits": ("CAST(big AS DECIMAL) = 9", "may"),
            "no digits after": ("CAST(price AS DECIMAL(10)) = 9", "may"),
            "cast a struct": ("CAST(st AS STRING) = 'x'", "may change"),
            "cast to a list": ("CAST(day AS ARRAY<INT>) = 1", "may"),
            "cast with a format": ("CAST(day AS DATE FORMAT 'x') = 1", ""),
            "a cast that cuts": ("p = CAST(1.5 AS INT)", "may change"),
            "a cast out of range": ("p = CAST(300 AS TINYINT)", "may"),
            "a number as text": ("k = CAST(1.0 AS STRING)", "may"),
            "zeros as text": ("k = CAST(007 AS STRING)", "may"),
            "a boolean as text": ("k = CAST(TRUE AS STRING)", "may"),
            "a float as a number": ("p = CAST(1F AS INT)", "may"),
            "text as a number": ("p = CAST('x' AS INT)", "may"),
            "a typed null": ("p = CAST(NULL AS INT)", "NULL"),
            "a text with a point": ("p = '9.0'", "safely"),
            "a text out of range": ("p = '99999999999'", "safely"),
            "a boolean for a number": ("p = TRUE", "safely"),
            "a double beyond whole numbers": ("p = 1e300", "safely"),
            "a fraction of a float": ("p = 1.5F", "safely"),
            "beyond whole floats": ("p = 16777217F", "safely"),
            "a number for a text": ("k = 5", "safely"),
            "a number for a boolean": ("ok = 1", "safely"),
            "another word for true": ("ok = 'yes'", "compared safely"),
            "text for bytes": ("raw = 'x'", "safely"),
            "a float for a decimal": ("price = 1.5F", "safely"),
            "a double, many digits": ("long_price = 1.5D", "safely"),
            "digits beyond 38": ("long_price = 1.555", "safely"),
            "text for a decimal": ("price = 'x'", "safely"),
            "a boolean for a double": ("amount = TRUE", "safely"),
            "beyond a double": ("amount = 1e999", "safely"),
            "a number for a date": ("day = 5", "safely"),
            "a zone, a date": ("day = '2021-04-27T00:00:00Z'", "safely"),
            "no date": ("day = '27.4.2021'", "safely"),
            "cut": ("day = CAST('2021-04-27 10:00:00' AS DATE)", ""),
            "a number for a time": ("ts = 5", "safely"),
            "a zone": ("local = '2021-04-27T00:00:00Z'", "safely"),
            "a strange decimal": ("CAST(qty AS DECIMAL(x)) = 1", ""),
            "a list": ("list = 1", "is nested"),
            "a struct": ("st = 1", "is nested"),
            "void": ("nothing = 1", "no values"),
            "padded": ("padded = 'x'", "padded"),
            "padded, said by Spark": ("spark_padded = 'x'", "padded"),
            "a collation": ("loud = 'x'", "collation"),
            "a column or a text": ('"k" = "x"', "double quotes"),
            "half": ("p =", "not SQL"),
            "two": ("p = 1; p = 2", "not one"),
            "empty": ("", "empty"),
            "NUL": ("\0", "no column"),
            "NUL at the end": ("p = 1\0", ""),
            "half a character": ("p = '\ud800'", "no text"),
            "parentheses": ("(" * 3000 + "p = 1" + ")" * 3000, "deeper"),
            "denials": ("NOT " * 3000 + "ok", "deeper"),
            "length": ("p = 1 --" + "x" * MAX_SQL_CHARACTERS, "longer"),
            "comparisons": (
                " OR ".join(f"p > {n}" for n in range(MAX_COMPARISONS + 1)),
                "comparisons",
            ),
            "a long name": ("a" + ".a" * 9000 + " = 1", "no column"),
            "rubbish": ("\x1b\x07\xff\xfe = 1", ""),
            "a number itself": (5, "not text"),
            "nothing": (None, "not text"),
            "an object": ({"op": "and"}, "not text"),
        },
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

        assert hints.skipped == (SkippedHint("p = 9", "it is not a list of text"),)
