"""Hints in JSON, in the spellings that were captured, prune; the rest is skipped."""

import json

import pytest

from deltaweb.conditions.hints import (
    MAX_COMPARISONS,
    MAX_TEXT_SHOWN,
    SkippedHint,
    parse_hints,
)
from deltaweb.conditions.json import MAX_BYTES, MAX_DEPTH, json_hint_text
from tests.support import cases
from tests.support.conditions.hint_cases import (
    EQUAL,
    SCHEMA,
    TRUE,
    column,
    json_hints,
    literal,
    op,
    pair,
    selected,
)


class TestJSONThatPrunes:
    @cases(
        "tree, expected",
        {
            "as the Spark connector sends it": (
                op(
                    "and",
                    op("not", op("isNull", column("day", "date"))),
                    pair("equal", "day", "2021-04-27", "date"),
                    pair("greaterThan", "qty", "5"),
                ),
                "b",
            ),
            "equal": (pair("equal", "p", "9"), "b"),
            "less": (pair("lessThan", "p", "9"), "a"),
            "at most": (pair("lessThanOrEqual", "p", "9"), "ab"),
            "more": (pair("greaterThan", "p", "9"), "c"),
            "at least": (pair("greaterThanOrEqual", "p", "9"), "bc"),
            "swapped": (op("lessThan", literal("9"), column("p")), "c"),
            "null": (op("isNull", column("p")), "d"),
            "denied": (op("not", pair("equal", "p", "9")), "ac"),
            "or": (op("or", pair("equal", "p", "9"), pair("equal", "qty", "10")), "bc"),
            "valueType integer": (pair("equal", "p", "9", "integer"), "b"),
            "op =": (pair("=", "p", "9"), "b"),
            "case": (pair("GREATERTHAN", "P", "9"), "c"),
            "unequal": (pair("<>", "p", "9"), "ac"),
            "not null": (op("isNotNull", column("p")), "abc"),
            "in": (op("in", column("p"), literal("8"), literal(9)), "ab"),
            "null-safe": (
                op("not", op("nullSafeEqual", literal("9"), column("p"))),
                "acd",
            ),
            "op <=>": (pair("<=>", "p", "9"), "b"),
            "a bare number": (pair("equal", "p", 9), "b"),
            "no valueType": (op("equal", column("p", None), literal("9")), "b"),
            "long": (pair("equal", "p", "9", "long"), "b"),
            "a double beside whole numbers": (
                pair("greaterThan", "p", "8.5", "double"),
                "bc",
            ),
            "a double beside a decimal": (pair("equal", "price", "1.5", "double"), "d"),
            "text": (pair("equal", "k", "it's", "string"), "a"),
            "a backslash is itself": (
                op("equal", column("k", "string"), literal(r"it\'s", "string")),
                "",
            ),
            "nested": (pair("lessThan", "st.x", "1"), "abd"),
            "below a time that was cut": (
                pair("lessThan", "ts", "2020-05-02T01:02:03.654Z", "timestamp"),
                "ab",
            ),
            "not at least a time that was cut": (
                op(
                    "not",
                    pair(
                        "greaterThanOrEqual",
                        "ts",
                        "2020-05-02T01:02:03.654Z",
                        "timestamp",
                    ),
                ),
                "ab",
            ),
            "equal to a time that was cut": (
                pair("equal", "ts", "2020-05-02T01:02:03.654Z", "timestamp"),
                "b",
            ),
            "a time beside statistics": (
                pair("greaterThan", "at", "2024-01-01T00:00:00.001Z", "timestamp"),
                "bcd",
            ),
            "a time of any zone": (
                pair("lessThan", "ts", "2020-05-02 01:00:00", "timestamp"),
                "ab",
            ),
            "a whole number beside a double": (
                op(
                    "greaterThan",
                    column("big", "double"),
                    literal("9007199254740000", "long"),
                ),
                "abcd",
            ),
            "a boolean column denied": (op("not", column("ok", "bool")), "abcd"),
            "a bare boolean": (op("equal", column("ok", "bool"), TRUE), "abcd"),
            "and of one": (op("and", op("isNull", column("p"))), "d"),
        },
    )
    def test_leaves_exactly(self, tree: object, expected: str) -> None:
        hints = json_hints(tree)

        assert not hints.skipped
        assert selected(hints) == expected

    def test_a_part_that_does_not_fit_the_schema_does_not_stop_the_others(self) -> None:
        hints = json_hints(
            op(
                "and",
                pair("equal", "p", "9"),
                pair("equal", "k", "9", "int"),
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
            pytest.param("", "not JSON", id="empty"),
            pytest.param("{", "not JSON", id="half"),
            pytest.param("5", "not a JSON object", id="a number"),
            pytest.param("null", "not a JSON object", id="null"),
            pytest.param([EQUAL], "not a JSON object", id="a list"),
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
            pytest.param(op("and", 5), "not a JSON object", id="a child is a number"),
            pytest.param(literal("true", "bool"), "'literal' is not", id="a literal"),
            pytest.param(column("p"), "not a condition", id="a column of numbers"),
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
            pytest.param(pair("equal", "p", "x"), "not a whole number", id="no number"),
            pytest.param(pair("equal", "p", "3000000000"), "32 bits", id="no int"),
            pytest.param(
                op("equal", column("k", "string"), literal("9")),
                "integer is not that of column 'k'",
                id="a number beside text",
            ),
            pytest.param(
                pair("equal", "p", "9", "string"),
                "string is not that of column 'p'",
                id="text beside numbers",
            ),
            *[
                pytest.param(
                    op("equal", column(name, kind), literal("9", kind)),
                    f"the valueType {kind} is not that of column {name!r}",
                    id=f"{name} cut to {kind}",
                )
                for name, kind in [
                    ("big", "integer"),
                    ("qty", "byte"),
                    ("price", "long"),
                    ("amount", "float"),
                    ("amount", "long"),
                    ("rate", "integer"),
                ]
            ],
            pytest.param(
                op("isNull", column("k", "int")),
                "integer is not that of column 'k'",
                id="a cast to null",
            ),
            pytest.param(
                op("equal", column("big", "double"), literal("9007199254740993")),
                "32 bits",
                id="no int beside a double",
            ),
            pytest.param(
                op("equal", column("big", "double"), literal(str(2**53 + 1), "long")),
                "safely",
                id="a whole number that a double rounds",
            ),
            pytest.param(
                op("equal", column("qty", "float"), literal("16777217", "double")),
                "safely",
                id="a double that a float rounds",
            ),
            pytest.param(pair("equal", "day", "x", "date"), "safely", id="no date"),
            pytest.param(
                pair("equal", "ts", "-290308-12-21T19:59:05.224192Z", "timestamp"),
                "safely",
                id="the end of time",
            ),
            pytest.param(pair("equal", "list", "1"), "which is nested", id="a list"),
            pytest.param("[" * 100_000, "nests deeper", id="brackets"),
            pytest.param('{"a":' * 5_000, "nests deeper", id="objects"),
            pytest.param(" " * (MAX_BYTES + 1), "longer", id="length"),
            pytest.param('"\ud800\0', "not JSON", id="rubbish"),
            pytest.param('"' + '\\"' * 500_000, "not JSON", id="quotes without end"),
            pytest.param(
                op("or", *[op("isNull", column("p"))] * (MAX_COMPARISONS + 1)),
                "comparisons",
                id="comparisons",
            ),
        ],
    )
    def test_says_why_and_selects_nothing(self, tree: object, words: str) -> None:
        hints = json_hints(tree)

        assert selected(hints) == "abcd"
        assert words in hints.skipped[-1].reason
        assert all(len(hint.text) <= MAX_TEXT_SHOWN for hint in hints.skipped)

    @pytest.mark.parametrize("hint", [5, b"{}", ["{}"], {"op": "and"}, 1.5, object()])
    def test_what_is_no_text_is_skipped(self, hint: object) -> None:
        hints = parse_hints(
            predicate_hints=None, json_predicate_hints=hint, schema=SCHEMA
        )

        assert hints.skipped == (
            SkippedHint(f"a {type(hint).__name__}", "it is not text"),
        )


DAY = {"op": "column", "name": "day", "valueType": "date"}
FIRST = {"op": "literal", "value": "2026-01-01", "valueType": "date"}
AMOUNT = {"op": "column", "name": "amount", "valueType": "long"}
TEN = {"op": "literal", "value": 10, "valueType": "long"}
SINCE = {"op": "greaterThanOrEqual", "children": [DAY, FIRST]}
DAYS = "day >= '2026-01-01'"
MORE = {"op": "greaterThan", "children": [AMOUNT, TEN]}


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (SINCE, DAYS),
        (
            {"op": "and", "children": [SINCE, MORE]},
            f"{DAYS} AND amount > 10",
        ),
        (
            {"op": "or", "children": [MORE, SINCE]},
            f"(amount > 10 OR {DAYS})",
        ),
        ({"op": "not", "children": [MORE]}, "NOT (amount > 10)"),
        ({"op": "isNull", "children": [DAY]}, "day IS NULL"),
        ({"op": "in", "children": [AMOUNT, TEN, TEN]}, "amount IN (10, 10)"),
        ({"op": "in"}, " IN ()"),
        ({"op": 7, "children": [3]}, "7 ()"),
    ],
)
def test_a_hint_reads_as_sql_does(tree, expected: str) -> None:
    assert json_hint_text(json.dumps(tree)) == expected


def test_what_does_not_parse_stands_as_it_came() -> None:
    assert json_hint_text("[day]") == "[day]"
