"""Comparisons: how each is written, and what it says of two values and of a range.

This is the one table of them. Trees of conditions have the sign; SQL, hints and
addresses are read and written by it, and values, ranges and denials judged by it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, TypeAlias

Holds: TypeAlias = Callable[[Any, Any], Any]
"""Compares two values, arrays or expressions."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A comparison of a value with another.

    Attributes:
        name: In an address; "" for one that is in none.
        names: Other names of it in hints and in parsers of SQL, in small letters.
        denied: The sign of what is true where it is false.
        of_low: How the least of some values compares with another where one of them
            may; None where it does not matter.
        of_high: The same of the greatest; of `!=` one of both is enough.
    """

    sign: str
    name: str
    shown: str
    names: str
    swapped: str
    denied: str
    holds: Holds
    of_low: Holds | None
    of_high: Holds | None

    @property
    def python(self) -> str:
        return "==" if self.holds is eq else self.sign


_TABLE: Final = (
    Operator("=", "eq", "=", "== equal equals equalto", "=", "!=", eq, le, ge),
    Operator("!=", "ne", "≠", "<> neq notequal", "!=", "=", ne, lt, gt),
    Operator("<", "lt", "<", "lessthan", ">", ">=", lt, lt, None),
    Operator(
        "<=",
        "le",
        "≤",
        "lte lessthanorequal lessthanorequalto",
        ">=",
        ">",
        le,
        le,
        None,
    ),
    Operator(">", "gt", ">", "greaterthan", "<", "<=", gt, None, gt),
    Operator(
        *(">=", "ge", "≥", "gte greaterthanorequal greaterthanorequalto", "<=", "<"),
        *(ge, None, ge),
    ),
    Operator("<=>", "", "<=>", "nullsafeequal nullsafeeq", "<=>", "", eq, le, ge),
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
    for name in (one.sign, *one.name.split(), *one.names.split())
}
"""Signs by every name, in small letters."""
