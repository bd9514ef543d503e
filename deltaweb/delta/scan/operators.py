"""Comparisons: how each is written, and what it says of two values and of a range.

This is the one table of them. Trees of conditions have the sign; SQL, hints and
addresses are read and written by it, and values, ranges and denials judged by it.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Holds: TypeAlias = Callable[[Any, Any], Any]
"""Compares two values, arrays or expressions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A comparison of a value with another.

    Attributes:
        sign: In trees of conditions and in SQL.
        name: In an address; "" for one that is in none.
        shown: As people read it.
        python: In Python.
        names: Other names of it in hints and in parsers of SQL, in small letters.
        holds: Whether it is true of two values.
        swapped: The sign of the same with its sides swapped.
        denied: The sign of what is true where it is false.
        of_low: How the least of some values compares with another where one of them
            may; None where it does not matter.
        of_high: The same of the greatest; of `!=` one of both is enough.
    """

    sign: str
    name: str
    shown: str
    python: str
    names: str
    holds: Holds
    swapped: str
    denied: str
    of_low: Holds | None
    of_high: Holds | None


_TABLE: Final = (
    Operator(
        sign="=",
        name="eq",
        shown="=",
        python="==",
        names="equal equals equalto",
        holds=operator.eq,
        swapped="=",
        denied="!=",
        of_low=operator.le,
        of_high=operator.ge,
    ),
    Operator(
        sign="!=",
        name="ne",
        shown="≠",
        python="!=",
        names="<> neq notequal",
        holds=operator.ne,
        swapped="!=",
        denied="=",
        of_low=operator.lt,
        of_high=operator.gt,
    ),
    Operator(
        sign="<",
        name="lt",
        shown="<",
        python="<",
        names="lessthan",
        holds=operator.lt,
        swapped=">",
        denied=">=",
        of_low=operator.lt,
        of_high=None,
    ),
    Operator(
        sign="<=",
        name="le",
        shown="≤",
        python="<=",
        names="lte lessthanorequal lessthanorequalto",
        holds=operator.le,
        swapped=">=",
        denied=">",
        of_low=operator.le,
        of_high=None,
    ),
    Operator(
        sign=">",
        name="gt",
        shown=">",
        python=">",
        names="greaterthan",
        holds=operator.gt,
        swapped="<",
        denied="<=",
        of_low=None,
        of_high=operator.gt,
    ),
    Operator(
        sign=">=",
        name="ge",
        shown="≥",
        python=">=",
        names="gte greaterthanorequal greaterthanorequalto",
        holds=operator.ge,
        swapped="<=",
        denied="<",
        of_low=None,
        of_high=operator.ge,
    ),
    Operator(
        sign="<=>",
        name="",
        shown="<=>",
        python="==",
        names="nullsafeequal nullsafeeq",
        holds=operator.eq,
        swapped="<=>",
        denied="!=",
        of_low=operator.le,
        of_high=operator.ge,
    ),
)

OPERATORS: Final[Mapping[str, Operator]] = {one.sign: one for one in _TABLE}
"""By their signs."""
OF_ADDRESSES: Final[Mapping[str, Operator]] = {
    one.name: one for one in _TABLE if one.name
}
"""By their names in addresses."""
NULL_TESTS: Final[Mapping[str, str]] = {"null": "is null", "notnull": "is not null"}
"""What an address says instead of a comparison, and how people read it."""
SIGNS: Final[Mapping[str, str]] = {
    name: one.sign
    for one in _TABLE
    for name in (one.sign, one.python, one.name, *one.names.split())
    if not (one.sign == "<=>" and name == one.python)
}
"""Signs by every name, in small letters."""
