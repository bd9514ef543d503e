"""A condition on rows, as a tree of values.

A condition is true, false or unknown (null) for a row, as in SQL, and a row belongs
to the result when it is true. Every literal is of its column's exact type, so that
files, row groups and rows are all judged by the same comparison. Numbers that are
not a number compare as IEEE 754 says: NaN is unequal to everything.

    Comparison      a < 5
    In              a IN (1, 2)
    Like            a LIKE 'x%'
    IsNull          a IS NULL
    Not, And, Or    the connectives
    Constant        TRUE, FALSE, NULL
"""

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.scan.operators import OPERATORS

Expression: TypeAlias = Any
"""A `pyarrow.compute.Expression`; pyarrow has no types."""

ValueRange: TypeAlias = tuple[pa.Scalar | None, pa.Scalar | None]
"""The least and the greatest value; None is open."""

_LAST_CHARACTER: Final = "\U0010ffff"
_LIKE_PART = re.compile(r"\\?.", re.DOTALL)
_WILDCARDS = {"%": ".*", "_": "."}
_REGEX_SPECIAL = frozenset(r"\.+*?()|[]{}^$")


@dataclass(frozen=True)
class Comparison:
    """A column beside a literal of the column's type, which is not null."""

    column: ColumnPath
    operator: str
    value: pa.Scalar


@dataclass(frozen=True)
class In:
    """A column that holds one of the literals, none of which is null."""

    column: ColumnPath
    values: tuple[pa.Scalar, ...]


@dataclass(frozen=True)
class Like:
    """A text column that matches a pattern of `%` and `_`, escaped by a backslash."""

    column: ColumnPath
    pattern: str

    @property
    def prefix(self) -> str:
        """The text that every match starts with."""
        literal = re.match(r"(?:[^%_\\]|\\.)*", self.pattern, re.DOTALL)
        text = literal.group() if literal else ""
        return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


@dataclass(frozen=True)
class IsNull:
    """A column that holds nothing; never unknown."""

    column: ColumnPath


@dataclass(frozen=True)
class Not:
    """The opposite; unknown stays unknown."""

    part: "Predicate"


@dataclass(frozen=True)
class And:
    """All of the parts."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True)
class Or:
    """At least one of the parts."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True)
class Constant:
    """True, false or unknown whatever the row."""

    value: bool | None


NOTHING: Final = Constant(value=False)

Predicate: TypeAlias = Comparison | In | Like | IsNull | Not | And | Or | Constant


def predicate_columns(predicate: Predicate) -> set[ColumnPath]:
    return set(_columns(predicate))


def compared_columns(predicate: Predicate) -> set[ColumnPath]:
    """Return the columns that are compared with values, not only with NULL."""
    match predicate:
        case And(parts) | Or(parts):
            return {path for part in parts for path in compared_columns(part)}
        case Not(part):
            return compared_columns(part)
        case IsNull() | Constant():
            return set()
        case _:
            return {predicate.column}


def _columns(predicate: Predicate) -> Iterator[ColumnPath]:
    match predicate:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _columns(part)
        case Not(part):
            yield from _columns(part)
        case Constant():
            return
        case _:
            yield predicate.column


def value_range(predicate: Predicate, column: ColumnPath) -> ValueRange:
    """Return the values of a column outside which a condition is not true.

    The end of a text that a pattern begins is not exact.
    """
    match predicate:
        case Comparison(path, sign, value) if path == column:
            is_open = sign == "!="
            low = None if is_open or OPERATORS[sign].of_high is None else value
            high = None if is_open or OPERATORS[sign].of_low is None else value
            return low, high
        case In(path, values) if path == column and values:
            return _least(values), _greatest(values)
        case Like(path) if path == column and predicate.prefix:
            prefix = predicate.prefix
            return pa.scalar(prefix), pa.scalar(prefix + _LAST_CHARACTER)
        case And(parts):
            lows, highs = _ranges_of(parts, column)
            return _greatest(_known(lows)), _least(_known(highs))
        case Or(parts):
            lows, highs = _ranges_of(parts, column)
            low = _least(lows) if len(_known(lows)) == len(parts) else None
            high = _greatest(highs) if len(_known(highs)) == len(parts) else None
            return low, high
    return None, None


def _ranges_of(
    parts: Sequence[Predicate], column: ColumnPath
) -> tuple[list[pa.Scalar | None], list[pa.Scalar | None]]:
    found = [value_range(part, column) for part in parts]
    return [low for low, _ in found], [high for _, high in found]


def _known(values: Sequence[pa.Scalar | None]) -> list[pa.Scalar]:
    return [one for one in values if one is not None]


def _least(values: Sequence[pa.Scalar]) -> pa.Scalar | None:
    return min(values, key=lambda one: one.as_py(), default=None)


def _greatest(values: Sequence[pa.Scalar]) -> pa.Scalar | None:
    return max(values, key=lambda one: one.as_py(), default=None)


def unknown_where(predicate: Predicate) -> Predicate:
    """A condition that holds for every row that another is unknown for."""
    sources = dict.fromkeys(_unknown(predicate))
    return next(iter(sources)) if len(sources) == 1 else Or(tuple(sources))


def _unknown(predicate: Predicate) -> Iterator[Predicate]:
    match predicate:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _unknown(part)
        case Not(part):
            yield from _unknown(part)
        case Constant(None):
            yield Constant(value=True)
        case Constant() | IsNull():
            return
        case _:
            yield from map(IsNull, _columns(predicate))


def to_expression(predicate: Predicate) -> Expression:
    """The condition as an Arrow expression over the logical names of columns."""
    match predicate:
        case Not(part):
            return ~to_expression(part)
        case And(parts):
            return _balanced(operator.and_, [to_expression(part) for part in parts])
        case Or(parts):
            return _balanced(operator.or_, [to_expression(part) for part in parts])
        case Constant(value):
            return _constant(value=value)
        case _:
            return _leaf_expression(predicate)


def _balanced(
    combine: Callable[[Expression, Expression], Expression], parts: list[Expression]
) -> Expression:
    """Combine many parts as a shallow tree, since Arrow walks trees by recursion."""
    while len(parts) > 1:
        pairs = [combine(*pair) for pair in zip(parts[::2], parts[1::2], strict=False)]
        parts = [*pairs, *parts[len(pairs) * 2 :]]
    return parts[0]


def _leaf_expression(
    predicate: Comparison | In | Like | IsNull,
) -> Expression:
    column = _field(predicate.column)
    match predicate:
        case Comparison():
            return OPERATORS[predicate.operator].holds(column, predicate.value)
        case In():
            return _in_expression(predicate)
        case Like():
            return match_like(column, predicate)
        case _:
            return column.is_null()


def _constant(*, value: bool | None) -> Expression:
    return pc.scalar(pa.scalar(value, pa.bool_()))


def _field(path: ColumnPath) -> Expression:
    return pc.field(*path)


def match_like(column: Expression, predicate: Like) -> Expression:
    """LIKE over an expression or an array, as a regular expression where it escapes.

    Arrow takes some patterns for a plain start or end, and does not unescape those.
    """
    if "\\" not in predicate.pattern:
        return pc.match_like(column, predicate.pattern)
    pattern = _LIKE_PART.sub(_like_part, predicate.pattern)
    return pc.match_substring_regex(column, f"^(?s:{pattern})$")


def _like_part(part: re.Match[str]) -> str:
    text = part.group()
    if text in _WILDCARDS:
        return _WILDCARDS[text]
    character = text[-1]
    return f"\\{character}" if character in _REGEX_SPECIAL else character


def _in_expression(predicate: In) -> Expression:
    """IN as SQL has it: unknown for null."""
    column = _field(predicate.column)
    unknown = _constant(value=None)
    if not predicate.values:
        return unknown
    values = _value_set(predicate.values)
    return pc.if_else(column.is_valid(), column.isin(values), unknown)


def _value_set(values: Sequence[pa.Scalar]) -> pa.Array:
    """The values for a search that compares floats by their bits.

    So that it finds what is equal, zero is in it with both signs, and NaN is not.
    """
    if not pa.types.is_floating(values[0].type):
        return pa.array(values)
    numbers = {value.as_py() for value in values}
    equal = [number for number in numbers if number == number]  # noqa: PLR0124  # NaN is not
    if 0 in numbers:
        equal += [0.0, -0.0]
    return pa.array(equal, values[0].type)
