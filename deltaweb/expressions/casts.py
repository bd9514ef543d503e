"""Values of one type as those of another, in Spark's ANSI mode.

Source: Spark SQL Reference, "ANSI Compliance": a value that has no place in the other
type is an error, never null.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.values.value_text import rescaled
from deltaweb.expressions.node import (
    BoundExpression,
    NotTranslatedError,
    NoValueError,
    Values,
    literal,
    typed,
)

TIMESTAMP: Final = pa.timestamp("us", "UTC")
LOCAL_TIME: Final = pa.timestamp("us")
DIGITS: Final = {8: 3, 16: 5, 32: 10, 64: 20}
MAX_DIGITS: Final = 38
_INTEGER: Final = re.compile(r"[ \t\n\r]*[+-]?[0-9]+[ \t\n\r]*")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def cast(node: BoundExpression, kind: pa.DataType) -> BoundExpression:
    """Return a cast.

    Raises:
        NotTranslatedError: If it is not done here exactly.
    """
    if node.is_null:
        return typed(node, kind)
    if node.kind == kind:
        return node
    convert = _conversion(node.kind, kind)
    if convert is None:
        message = f"a cast of {node.kind} to {kind} is not evaluated here"
        raise NotTranslatedError(message)
    return BoundExpression(
        kind, lambda rows: _converted(node.values(rows), convert, kind)
    )


def _converted(
    values: Values, convert: Callable[[Values], Values], kind: pa.DataType
) -> Values:
    try:
        return convert(values)
    except (pa.ArrowInvalid, ValueError, OverflowError) as error:
        text = str(error).partition("\n")[0][:120]
        message = f"it is no {kind} ({text})"
        raise NoValueError(message) from None


def _conversion(
    source: pa.DataType, kind: pa.DataType
) -> Callable[[Values], Values] | None:
    types = pa.types
    for is_kind, build in (
        (types.is_string, _to_text),
        (types.is_integer, _to_integer),
        (types.is_floating, _to_floating),
        (types.is_decimal, _to_decimal),
        (types.is_boolean, _to_boolean),
        (types.is_date32, _to_date),
        (types.is_timestamp, _to_time),
    ):
        if is_kind(kind):
            return build(source, kind)
    return None


def _to_boolean(
    source: pa.DataType, _: pa.DataType
) -> Callable[[Values], Values] | None:
    if pa.types.is_integer(source):
        return lambda values: pc.not_equal(values, 0)
    return None


def _to_time(
    source: pa.DataType, kind: pa.DataType
) -> Callable[[Values], Values] | None:
    if pa.types.is_date32(source) or pa.types.is_timestamp(source):
        return lambda values: values.cast(LOCAL_TIME).cast(kind)
    return None


def _to_text(source: pa.DataType, _: pa.DataType) -> Callable[[Values], Values] | None:
    types = pa.types
    if types.is_integer(source) or types.is_boolean(source):
        return lambda values: values.cast(pa.string())
    if types.is_date32(source):
        return lambda values: _mapped(values, date.isoformat, pa.string())
    if types.is_decimal(source):
        return lambda values: _mapped(values, _plain_decimal, pa.string())
    if types.is_timestamp(source):
        return lambda values: _mapped(values, _time_text, pa.string())
    return None


def _plain_decimal(value: Decimal) -> str:
    return f"{value:f}"


def _time_text(value: datetime) -> str:
    text = value.strftime("%H:%M:%S")
    fraction = f".{value.microsecond:06d}".rstrip("0").rstrip(".")
    return f"{value.date().isoformat()} {text}{fraction}"


def _to_integer(
    source: pa.DataType, kind: pa.DataType
) -> Callable[[Values], Values] | None:
    types = pa.types
    if types.is_integer(source) or types.is_boolean(source):
        return lambda values: values.cast(kind)
    if types.is_floating(source):
        return lambda values: _mapped(values, int, kind)
    if types.is_decimal(source):
        return lambda values: _mapped(values, int, kind)
    if types.is_string(source):
        return lambda values: _mapped(values, _integer, kind)
    return None


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(text[:80])
    return int(text)


def _to_floating(
    source: pa.DataType, kind: pa.DataType
) -> Callable[[Values], Values] | None:
    types = pa.types
    if types.is_integer(source) or types.is_floating(source):
        return lambda values: values.cast(kind, safe=False)
    if types.is_boolean(source):
        return lambda values: values.cast(pa.int8()).cast(kind)
    if types.is_decimal(source) and kind == pa.float64():
        return lambda values: _mapped(values, float, kind)
    return None


def _to_decimal(
    source: pa.DataType, kind: pa.DataType
) -> Callable[[Values], Values] | None:
    types = pa.types
    if types.is_integer(source):
        return lambda values: rescaled(values.cast(pa.decimal128(20, 0)), kind)
    if types.is_decimal(source) and kind.scale >= source.scale:
        return lambda values: rescaled(values, kind)
    return None


def _to_date(source: pa.DataType, _: pa.DataType) -> Callable[[Values], Values] | None:
    if pa.types.is_timestamp(source):
        return lambda values: pc.floor_temporal(
            values.cast(LOCAL_TIME), unit="day"
        ).cast(pa.date32())
    if pa.types.is_string(source):
        return lambda values: _mapped(values, _date, pa.date32())
    return None


def _date(text: str) -> date:
    if not _DATE.fullmatch(text):
        raise ValueError(text[:80])
    return date.fromisoformat(text)


def _time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _mapped(
    values: Values, convert: Callable[..., object], kind: pa.DataType
) -> Values:
    found = [None if value is None else convert(value) for value in values.to_pylist()]
    return pa.array(found, kind)


# === Types that meet ===


def common(
    left: BoundExpression, right: BoundExpression
) -> tuple[BoundExpression, BoundExpression, pa.DataType]:
    """Return two nodes as values of one type, as a comparison sees them.

    Raises:
        NotTranslatedError: If Spark would not compare them, or as what is not sure.
    """
    left, right = _with_type_of(left, right), _with_type_of(right, left)
    if left.is_null and right.is_null:
        kind = pa.bool_()
        return typed(left, kind), typed(right, kind), kind
    kind = common_type(left.kind, right.kind)
    return cast(left, kind), cast(right, kind), kind


def _with_type_of(node: BoundExpression, other: BoundExpression) -> BoundExpression:
    """Return NULL, or a literal text beside another type, as that type."""
    if node.is_null:
        return typed(node, other.kind)
    if not isinstance(node.literal, str) or not pa.types.is_string(node.kind):
        return node
    types, text = pa.types, node.literal.strip()
    try:
        if types.is_date32(other.kind):
            return literal(_date(text), other.kind)
        if types.is_timestamp(other.kind):
            moment = _time(text)
            if other.kind.tz is None:
                moment = moment.replace(tzinfo=None)
            return literal(moment, other.kind)
        if types.is_integer(other.kind):
            return literal(_integer(text), pa.int64())
    except (ValueError, OverflowError, pa.ArrowInvalid):
        message = f"{node.literal[:80]!r} is no {other.kind}"
        raise NotTranslatedError(message) from None
    return node


def common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Return the type that values of two types have in common.

    Raises:
        NotTranslatedError: If there is none.
    """
    types = pa.types
    if left == right:
        return left
    pair = (left, right)
    if all(map(_is_number, pair)):
        return _common_number(left, right)
    times = (types.is_date32, types.is_timestamp)
    if all(any(kind(one) for kind in times) for one in pair):
        zoned = [one for one in pair if types.is_timestamp(one) and one.tz]
        return TIMESTAMP if zoned else LOCAL_TIME
    message = f"{left} and {right} are not compared"
    raise NotTranslatedError(message)


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    )


def _common_number(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_floating(left) or types.is_floating(right):
        return pa.float64()
    if types.is_integer(left) and types.is_integer(right):
        return left if left.bit_width > right.bit_width else right
    one, other = as_decimal(left), as_decimal(right)
    scale = max(one.scale, other.scale)
    whole = max(one.precision - one.scale, other.precision - other.scale)
    if whole + scale > MAX_DIGITS:
        message = f"{left} and {right} have more than {MAX_DIGITS} digits together"
        raise NotTranslatedError(message)
    return pa.decimal128(whole + scale, scale)


def as_decimal(kind: pa.DataType) -> pa.DataType:
    """Return the decimal type that holds every value of a whole number's type."""
    if pa.types.is_decimal(kind):
        return kind
    return pa.decimal128(DIGITS[kind.bit_width], 0)
