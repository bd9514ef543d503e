"""Literals of SQL beside a column: brought to the column's type, never rounded.

A literal between two values of the column's type, such as 1.5 beside an integer or a
time beside a date, is kept as the value below it and the fact that it is above that.
One beyond the type's range is kept as the side it is on. So a comparison of any
literal becomes comparisons of values of the column's own type.
"""

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext

import pyarrow as pa

from deltaweb.conditions.columns import TypedColumn
from deltaweb.conditions.tree import Literal
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    arrow_type,
)
from deltaweb.delta.scan.operators import OPERATORS
from deltaweb.delta.scan.predicate import And, Comparison, Constant, Or, Predicate
from deltaweb.delta.values.value_text import (
    INTEGER_BITS,
    MICROS_PER_DAY,
    Value,
    arrow_array,
    fits_bits,
    parse_number,
    parse_timestamp,
    parse_timestamp_ntz,
    parse_value,
)

MAX_DIGITS = 500
"""Digits of a number written in full; its exponent counts."""

_TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})


@dataclass(frozen=True)
class Fitted:
    """A literal on the grid of a column's type.

    Attributes:
        value: The greatest value of the type that is not above the literal; where
            the literal is beyond the range, any value of the type.
        beyond: 1 above every value of the type, -1 below, else 0.
    """

    value: pa.Scalar
    is_exact: bool = True
    beyond: int = 0


# === Comparisons ===


def compare(column: TypedColumn, operator: str, literal: Literal) -> Predicate:
    """The comparison of a column with a literal, over the column's own type."""
    if literal.kind == "null":
        return Constant(None)
    fitted = _fit(column.data_type, literal)
    holds = OPERATORS[operator].holds
    if fitted.beyond:
        return _constant(column.path, fitted.value, is_true=holds(0, fitted.beyond))
    if not fitted.is_exact:
        if operator in {"=", "!="}:
            return _constant(column.path, fitted.value, is_true=operator == "!=")
        operator = "<=" if holds(0, 1) else ">"
    return Comparison(column.path, operator, fitted.value)


def _constant(path: ColumnPath, value: pa.Scalar, *, is_true: bool) -> Predicate:
    """The same answer for every value, and unknown for null."""
    if is_true:
        return Or((Comparison(path, "<=", value), Comparison(path, ">", value)))
    return And((Comparison(path, "<", value), Comparison(path, ">", value)))


def like_pattern(pattern: str, escape: str) -> str:
    """The pattern with a backslash as its escape, where Spark takes it."""
    if len(escape) != 1:
        raise PredicateError(reason="ESCAPE needs one character")
    parts = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            following = next(characters, "")
            if following not in {"%", "_", escape}:
                reason = f"the pattern {pattern!r} escapes what needs none"
                raise PredicateError(reason=reason)
            parts.append(f"\\{following}")
        else:
            parts.append("\\\\" if character == "\\" else character)
    return "".join(parts)


# === One literal and one type ===


def _fit(data_type: DataType, literal: Literal) -> Fitted:
    """Bring a literal that is not null, of a kind beside the type, to the type."""
    if isinstance(data_type, DecimalType):
        return _fit_decimal(_number(literal), data_type)
    name = data_type.name if isinstance(data_type, PrimitiveType) else ""
    if name in INTEGER_BITS:
        return _fit_integer(_number(literal), data_type, INTEGER_BITS[name])
    if name in _TIMES:
        return _fit_time(literal, name, data_type)
    if name == "binary":
        return _scalar(bytes.fromhex(literal.text), data_type)
    return _scalar(parse_value(literal.text, data_type), data_type)


def _scalar(value: Value, data_type: DataType) -> Fitted:
    return Fitted(arrow_array([value], data_type)[0])


def _number(literal: Literal) -> Decimal:
    number = parse_number(literal.text.strip())
    if abs(number.adjusted()) > MAX_DIGITS:
        raise ValueError(literal.text)
    return number


def _fit_integer(number: Decimal, data_type: DataType, bits: int) -> Fitted:
    floor = math.floor(number)
    if not fits_bits(floor, bits):
        zero = _scalar(0, data_type).value
        return Fitted(zero, beyond=1 if number > 0 else -1)
    value = pa.scalar(floor, arrow_type(data_type))  # by far quicker than an array
    return Fitted(value, is_exact=floor == number)


def _fit_decimal(number: Decimal, data_type: DecimalType) -> Fitted:
    unit = Decimal(1).scaleb(-data_type.scale)
    with localcontext(prec=3 * MAX_DIGITS):
        floor = number.quantize(unit, rounding=ROUND_FLOOR)
        digits = len(floor.as_tuple().digits) if floor else 0
    if digits > data_type.precision:
        zero = _scalar(Decimal(0).scaleb(-data_type.scale), data_type).value
        return Fitted(zero, beyond=1 if number > 0 else -1)
    return Fitted(_scalar(floor, data_type).value, is_exact=floor == number)


def _fit_time(literal: Literal, name: str, data_type: DataType) -> Fitted:
    # A zone cannot be dropped in silence: a time without one has no instant.
    parse = parse_timestamp_ntz if name == "timestamp_ntz" else parse_timestamp
    micros = parse(literal.text.strip())
    if name != "date":
        return _scalar(micros, data_type)
    days, rest = divmod(micros, MICROS_PER_DAY)
    return Fitted(_scalar(days, data_type).value, is_exact=rest == 0)
