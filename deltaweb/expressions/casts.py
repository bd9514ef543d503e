"""Values of one type as those of another, in Spark's ANSI mode.

A day, a text or what a clock shows becomes an instant in the zone of the expression,
and an instant one of these.

Source: Spark SQL Reference, "ANSI Compliance": a value that has no place in the other
type is an error, never null.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.values.text_casts import (
    boolean_of,
    day_text,
    days_of,
    decimal_of,
    double_of,
    fitted_decimal,
    integer_of,
    local_micros_of,
    micros_of,
    nearest_single,
    single_of,
    time_text,
)
from deltaweb.delta.values.time_zones.known import UTC_ZONE, zone_rules
from deltaweb.delta.values.time_zones.rules import ZoneRules, to_clocks, to_instants
from deltaweb.delta.values.value_text import rescaled
from deltaweb.expressions.node import (
    BoundExpression,
    NotTranslatedError,
    NoValueError,
    Values,
    constant,
    type_name,
    typed,
)

TIMESTAMP: Final = pa.timestamp("us", "UTC")
LOCAL_TIME: Final = pa.timestamp("us")
_LONG: Final = pa.int64()
_BEYOND_LONG: Final = 2**63
_zone: ContextVar[ZoneRules] = ContextVar("zone")


@contextmanager
def in_zone(name: str) -> Iterator[None]:
    """Bind the expressions that are made in its context to a time zone."""
    mark = _zone.set(zone_rules(name))
    try:
        yield
    finally:
        _zone.reset(mark)


def current_zone() -> ZoneRules:
    """Return the zone of the expression that is being made."""
    return _zone.get(None) or zone_rules(UTC_ZONE)


def cast(node: BoundExpression, kind: pa.DataType) -> BoundExpression:
    if node.is_null:
        return typed(node, kind)
    if node.kind == kind:
        return node
    convert = _conversion(node.kind, kind)
    if convert is None:
        names = f"{type_name(node.kind)} to {type_name(kind)}"
        message = f"a cast of {names} is not evaluated here"
        raise NotTranslatedError(message)
    if node.constant is not None:
        try:
            [value] = _converted(pa.array([node.constant]), convert, kind)
        except NoValueError:
            pass  # it is an error of the rows that it is looked at for
        else:
            return constant(value)
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
        message = f"it is not a valid {type_name(kind)} ({text})"
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
        (types.is_binary, _to_binary),
    ):
        if is_kind(kind):
            return build(source, kind)
    return None


def _to_boolean(
    source: pa.DataType, _: pa.DataType
) -> Callable[[Values], Values] | None:
    types = pa.types
    if types.is_integer(source) or types.is_floating(source):
        return lambda values: pc.not_equal(values, 0)
    if types.is_decimal(source):
        return lambda values: _mapped(values, bool, pa.bool_())
    if types.is_string(source):
        return lambda values: _mapped(values, boolean_of, pa.bool_())
    return None


def _to_time(
    source: pa.DataType, kind: pa.DataType
) -> Callable[[Values], Values] | None:
    zone, types = current_zone(), pa.types
    if types.is_string(source):
        ticks = local_micros_of if kind.tz is None else partial(micros_of, zone=zone)
        return lambda values: _mapped(values, ticks, _LONG).cast(kind)
    if not (types.is_date32(source) or types.is_timestamp(source)):
        return None
    if kind.tz is not None:
        return lambda values: to_instants(values, zone)
    if types.is_timestamp(source):
        return lambda values: to_clocks(values, zone)
    return lambda values: values.cast(kind)


def _to_binary(
    source: pa.DataType, kind: pa.DataType
) -> Callable[[Values], Values] | None:
    return (lambda values: values.cast(kind)) if pa.types.is_string(source) else None


def _to_text(source: pa.DataType, _: pa.DataType) -> Callable[[Values], Values] | None:
    types = pa.types
    if types.is_integer(source) or types.is_boolean(source):
        return lambda values: values.cast(pa.string())
    if types.is_date32(source):
        return lambda values: _mapped(values.cast(pa.int32()), day_text, pa.string())
    if types.is_decimal(source):
        return lambda values: _mapped(values, _plain_decimal, pa.string())
    if types.is_timestamp(source):
        clock = clock_of(source)
        return lambda values: _mapped(clock(values).cast(_LONG), time_text, pa.string())
    return None


def clock_of(kind: pa.DataType) -> Callable[[Values], Values]:
    """Return what makes of times of a type what clocks of the zone show."""
    zone = current_zone()
    return (
        (lambda values: to_clocks(values, zone)) if kind.tz else lambda values: values
    )


def _plain_decimal(value: Decimal) -> str:
    return f"{value:f}"


def _to_integer(
    source: pa.DataType, kind: pa.DataType
) -> Callable[[Values], Values] | None:
    types = pa.types
    if types.is_integer(source) or types.is_boolean(source):
        return lambda values: values.cast(kind)
    if types.is_floating(source):
        return lambda values: _mapped(values, partial(_whole, kind), kind)
    if types.is_decimal(source):
        return lambda values: _mapped(values, int, kind)
    if types.is_string(source):
        return lambda values: _mapped(values, integer_of, kind)
    return None


def _whole(kind: pa.DataType, number: float) -> int:
    """Return a number without its fraction.

    Spark takes the double after the last whole number of 64 bits for that number.
    """
    whole = int(number)
    return whole - 1 if whole == _BEYOND_LONG and kind == _LONG else whole


def _to_floating(
    source: pa.DataType, kind: pa.DataType
) -> Callable[[Values], Values] | None:
    types = pa.types
    if types.is_integer(source) or types.is_floating(source):
        return lambda values: values.cast(kind, safe=False)
    if types.is_boolean(source):
        return lambda values: values.cast(pa.int8()).cast(kind)
    is_double = kind == pa.float64()
    if types.is_decimal(source):
        nearest = float if is_double else nearest_single
        return lambda values: _mapped(values, nearest, kind)
    if types.is_string(source):
        read = double_of if is_double else single_of
        return lambda values: _mapped(values, read, kind)
    return None


def _to_decimal(
    source: pa.DataType, kind: pa.DataType
) -> Callable[[Values], Values] | None:
    types = pa.types
    if types.is_integer(source):
        return lambda values: rescaled(values.cast(pa.decimal128(20, 0)), kind)
    if types.is_decimal(source) and kind.scale >= source.scale:
        return lambda values: rescaled(values, kind)
    if types.is_decimal(source):
        return lambda values: _mapped(values, partial(_fitted, kind), kind)
    if types.is_string(source):
        return lambda values: _mapped(values, partial(_decimal, kind), kind)
    return None


def _fitted(kind: pa.DataType, number: Decimal) -> Decimal:
    return fitted_decimal(number, kind)


def _decimal(kind: pa.DataType, text: str) -> Decimal:
    return decimal_of(text, kind)


def _to_date(source: pa.DataType, _: pa.DataType) -> Callable[[Values], Values] | None:
    if pa.types.is_timestamp(source):
        clock = clock_of(source)
        return lambda values: pc.floor_temporal(clock(values), unit="day").cast(
            pa.date32()
        )
    if pa.types.is_string(source):
        return lambda values: _mapped(values, days_of, pa.int32()).cast(pa.date32())
    return None


def _mapped(
    values: Values, convert: Callable[..., object], kind: pa.DataType
) -> Values:
    found = [None if value is None else convert(value) for value in values.to_pylist()]
    return pa.array(found, kind)
