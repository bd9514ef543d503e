"""A client's condition read loosely, in both directions.

A server may offer a file too many and never one too few, so what a client means need
only be known from one side: by a condition that holds for at least the rows that the
client's holds for. Under NOT it is the other side that counts, and a condition that
is too wide turns into one that is too narrow. So both sides are kept until the end:
NOT swaps them, and nothing is ever denied after it was widened. What is neither true
nor false is kept beside them: only where a condition is surely true do rows count
toward the limit of a client.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.scan.predicate import (
    And,
    Comparison,
    Constant,
    In,
    IsNull,
    Not,
    Or,
    Predicate,
    unknown_where,
)

MAX_VALUES_COUNTED = 64
"""Values of one list that count as comparisons; the rest is judged by its ends."""

Connective: TypeAlias = type[And] | type[Or]


@dataclass(frozen=True)
class Bounds:
    """A condition of a client, as far as it is understood.

    Attributes:
        if_true: Holds for every row that the client's condition is true for.
        if_false: Holds for every row that the client's condition is false for.
        if_unknown: Holds for every row that the client's condition is unknown for.
    """

    if_true: Predicate
    if_false: Predicate
    if_unknown: Predicate

    @property
    def misses(self) -> Predicate:
        """Holds for every row that the client's condition is not true for."""
        return _joined(Or, [self.if_false, self.if_unknown])


def exactly(predicate: Predicate) -> Bounds:
    """A condition that means to the client just what it means here."""
    if isinstance(predicate, Comparison):  # as they mostly are
        return Bounds(predicate, Not(predicate), IsNull(predicate.column))
    return Bounds(predicate, Not(predicate), unknown_where(predicate))


def compared(predicate: Predicate) -> Bounds:
    """A comparison, which NaN may pass or not: to Spark it is larger than any number.

    A denial of the opposite holds for NaN, so that it is on both sides.
    """
    match predicate:
        case Comparison(path, ">" | ">=" as operator, value) if pa.types.is_floating(
            value.type
        ):
            opposite = Comparison(path, "<=" if operator == ">" else "<", value)
            return Bounds(Not(opposite), Not(predicate), IsNull(path))
    return exactly(predicate)


def not_null(path: ColumnPath) -> Bounds:
    """A condition that is unknown for null, and either way for every value."""
    has_value = Not(IsNull(path))
    return Bounds(has_value, has_value, IsNull(path))


def between(path: ColumnPath, operator: str, low: pa.Scalar, high: pa.Scalar) -> Bounds:
    """A comparison with a literal that is `low`, or `high`, or between them."""
    if operator == "=":
        inside = And((Comparison(path, ">=", low), Comparison(path, "<=", high)))
        return Bounds(inside, Not(IsNull(path)), IsNull(path))
    if operator == "!=":
        return denied(between(path, "=", low, high))
    most, least = (high, low) if operator in {"<", "<="} else (low, high)
    # The false side is a denial, so that NaN, which no comparison holds for, is in it.
    return Bounds(
        compared(Comparison(path, operator, most)).if_true,
        Not(Comparison(path, operator, least)),
        IsNull(path),
    )


def denied(part: Bounds) -> Bounds:
    return Bounds(part.if_false, part.if_true, part.if_unknown)


def never_unknown(part: Bounds, path: ColumnPath) -> Bounds:
    """The same over one column, but false for null."""
    return Bounds(
        part.if_true, Or((part.if_false, IsNull(path))), Constant(value=False)
    )


def all_of(parts: Sequence[Bounds]) -> Bounds:
    """AND, which is false where any part is."""
    return _combined(And, Or, parts)


def any_of(parts: Sequence[Bounds]) -> Bounds:
    """OR, which is true where any part is; equalities of one column become a list."""
    return _combined(Or, And, _listed(parts))


def either_of(readings: Sequence[Bounds]) -> Bounds:
    """A condition that may mean any of several things."""
    if len(readings) == 1:
        return readings[0]
    return _combined(Or, Or, readings)


def _combined(
    if_true: Connective, if_false: Connective, parts: Sequence[Bounds]
) -> Bounds:
    # Unknown where any part is: mostly where one of a few columns is null.
    unknown = _joined(Or, (part.if_unknown for part in parts))
    if isinstance(unknown, Or):
        unknown = Or(tuple(dict.fromkeys(unknown.parts)))
    return Bounds(
        _joined(if_true, (part.if_true for part in parts)),
        _joined(if_false, (part.if_false for part in parts)),
        unknown,
    )


def count_comparisons(predicate: Predicate) -> int:
    """How many columns are held against values to evaluate the condition."""
    match predicate:
        case And(parts) | Or(parts):
            return sum(count_comparisons(part) for part in parts)
        case Not(part):
            return count_comparisons(part)
        case In(_, values):
            return min(len(values), MAX_VALUES_COUNTED) + 1
        case Constant():
            return 0
        case _:
            return 1


def _joined(kind: Connective, parts: Iterable[Predicate]) -> Predicate:
    """One flat connective; chains of two parts each would nest as deep as long."""
    flat: list[Predicate] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else [part])
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def _listed(parts: Sequence[Bounds]) -> list[Bounds]:
    values: dict[ColumnPath, list[pa.Scalar]] = {}
    rest: list[Bounds] = []
    for part in parts:
        match part:
            case Bounds(Comparison(path, "=", value) as equal, Not(denial)) if (
                denial is equal
            ):
                values.setdefault(path, []).append(value)
            case _:
                rest.append(part)
    lists = [
        exactly(
            Comparison(path, "=", items[0])
            if len(items) == 1
            else In(path, tuple(items))
        )
        for path, items in values.items()
    ]
    return [*lists, *rest]
