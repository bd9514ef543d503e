import json

import pytest

from deltaweb.conditions.json_text import json_hint_text

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
