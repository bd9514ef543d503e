"""The range of a column outside which a condition is not true."""

from typing import Any

import pyarrow as pa

from deltaweb.delta.scan.predicate import (
    And,
    Comparison,
    Constant,
    In,
    IsNull,
    Like,
    Not,
    Or,
    Predicate,
    value_range,
)
from tests.support import cases

ABOVE = Comparison(("a",), ">", pa.scalar(5))
BELOW = Comparison(("a",), "<=", pa.scalar(9))
OTHER = Comparison(("b",), "=", pa.scalar(7))


@cases(
    "predicate, expected",
    {
        "above": (ABOVE, (5, None)),
        "below": (BELOW, (None, 9)),
        "equal": (Comparison(("a",), "=", pa.scalar(0)), (0, 0)),
        "unequal": (Comparison(("a",), "!=", pa.scalar(5)), (None, None)),
        "a list": (In(("a",), (pa.scalar(4), pa.scalar(0), pa.scalar(2))), (0, 4)),
        "between": (And((ABOVE, BELOW)), (5, 9)),
        "the narrowest": (
            And((ABOVE, Comparison(("a",), ">", pa.scalar(7)), OTHER)),
            (7, None),
        ),
        "either": (Or((In(("a",), (pa.scalar(3),)), And((ABOVE, BELOW)))), (3, 9)),
        "either, one open": (Or((BELOW, ABOVE)), (None, None)),
        "either, with another column": (Or((ABOVE, OTHER)), (None, None)),
        "a pattern": (Like(("a",), "gift%"), ("gift", "gift\U0010ffff")),
        "any text": (Like(("a",), "%gift"), (None, None)),
        "a denial": (Not(ABOVE), (None, None)),
        "no value": (IsNull(("a",)), (None, None)),
        "a constant": (Constant(value=True), (None, None)),
        "another column": (OTHER, (None, None)),
    },
)
def test_it_is_as_narrow_as_the_comparisons_say(
    predicate: Predicate, expected: tuple[Any, Any]
):
    ends = value_range(predicate, ("a",))

    assert tuple(None if end is None else end.as_py() for end in ends) == expected
