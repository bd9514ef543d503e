"""Literals of a hint beside a column, compared as no client would compare stricter.

Where every client compares alike, so does this. Where clients differ, or a client
cuts what it sends, the literal is one of several values and the comparison is loose.
What would depend on the client's own rules of casting is refused.

    date          with a time of day beside it: clients drop the time, or do not
    timestamp     of a JSON hint: cut to milliseconds by clients
    timestamp     below the microsecond: dropped
    timestamp     without a zone: of the condition's zone, whose clocks leave out times,
                or in a hint of the client's, which is not known
    local times   beside an instant: compared in that zone, whose clocks may have left
                out what lies between them, at most a day
    float column  0.1 is no float: clients compare as floats or as doubles
    NaN           equals itself and is larger than any number to some clients, and
                nothing of that to others
"""

import math
import re
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa

from deltaweb.conditions.bounds import Bounds, between, compared, either_of, not_null
from deltaweb.conditions.columns import TypedColumn, check_value_type
from deltaweb.conditions.common_type import fits_decimal
from deltaweb.conditions.exact import compare
from deltaweb.conditions.tree import Literal
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    type_text,
)
from deltaweb.delta.values.value_text import (
    INTEGER_BITS,
    MICROS_PER_DAY,
    arrow_array,
    fits_bits,
    parse_number,
    parse_timestamp,
    parse_timestamp_ntz,
    parse_value,
)

MAX_EXACT_DOUBLE = 1 << 53
MAX_EXACT_FLOAT = 1 << 24
MAX_DOUBLE_DIGITS = 15
"""Significant digits of a decimal number that survive a double."""

MAX_SHOWN = 60
"""Characters of a literal that an error shows."""

MILLISECOND_US = 1_000
MAX_ZONE_US = 16 * 3_600 * 1_000_000
"""More than any zone was ever off UTC."""
MAX_LEFT_OUT_US = MICROS_PER_DAY
"""No clock leaves out more: the day that islands lost at the date line."""

_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,30}\s*")
_BEYOND_MICROS = re.compile(r"\.[0-9]{6}0*[1-9]")
_ZONE = re.compile(r":.*(?:Z|UTC|[+-][0-9:]+)\s*$")
_DATE = re.compile(r"\s*[0-9]{1,6}-[0-9]{1,2}-[0-9]{1,2}\s*")


@dataclass(frozen=True)
class _Between:
    """A literal that is one of the values from `low` to `high`."""

    low: pa.Scalar
    high: pa.Scalar


_Reading = Literal | _Between | None
"""None is a literal that clients do not agree about."""


def compare_loosely(column: TypedColumn, operator: str, literal: Literal) -> Bounds:
    if literal.value_type:
        check_value_type(column, literal.value_type)
    try:
        readings = _readings(column.data_type, literal)
        return either_of([_compared(column, operator, one) for one in readings])
    except (ValueError, OverflowError, ArithmeticError):
        raise _refusal(column, literal) from None


def _compared(column: TypedColumn, operator: str, reading: _Reading) -> Bounds:
    match reading:
        case Literal():
            return compared(compare(column, operator, reading))
        case _Between(low, high):
            return between(column.path, operator, low, high)
        case _:
            return not_null(column.path)


# === What a literal may mean beside a column ===


def _readings(data_type: DataType, literal: Literal) -> list[_Reading]:
    if literal.kind == "null":
        return [literal]
    name = data_type.name if isinstance(data_type, PrimitiveType) else "decimal"
    if name == "string" and literal.kind == "string":
        other = literal.other_text
        return [literal, Literal("string", other)] if other else [literal]
    return [_reading(literal, name, data_type)]


def _reading(literal: Literal, name: str, data_type: DataType) -> _Reading:
    if isinstance(data_type, DecimalType):
        return _beside_decimal(literal, data_type)
    if name in INTEGER_BITS:
        return _beside_integer(literal, data_type, INTEGER_BITS[name])
    if name in {"float", "double"}:
        return _beside_float(literal, data_type, is_single=name == "float")
    if name == "date":
        return _beside_date(literal, data_type)
    if name in {"timestamp", "timestamp_ntz"}:
        return _beside_timestamp(literal, name, data_type)
    if literal.kind not in {name, "string"} or name not in {"boolean", "binary"}:
        raise ValueError(literal.kind)
    if literal.kind == "string" and name == "binary":
        raise ValueError(literal.kind)
    return literal


def _beside_integer(literal: Literal, data_type: DataType, bits: int) -> Literal:
    if literal.kind == "number":
        # Spark rounds where both do not fit one decimal type.
        if "." in literal.text and not fits_decimal(data_type, [literal.text]):
            raise ValueError(literal.text)
        return literal
    if literal.kind == "string":
        # Clients cast the text to the column's type: 5.5 is 5, null or an error.
        if not _INTEGER.fullmatch(literal.text) or not fits_bits(
            int(literal.text), bits
        ):
            raise ValueError(literal.text)
        return Literal("number", literal.text.strip())
    number = _number(literal, {"float", "double"})
    # Nearer to zero than this, whole numbers are exact as floats too.
    limit = MAX_EXACT_FLOAT if literal.kind == "float" else MAX_EXACT_DOUBLE
    if not abs(number) < limit or (literal.kind == "float" and number % 1):
        raise ValueError(literal.text)
    return Literal("number", str(Decimal(number)))


def _beside_decimal(literal: Literal, data_type: DecimalType) -> Literal:
    number = parse_number(literal.text.strip())
    if literal.kind == "number":
        if not fits_decimal(data_type, [literal.text]):
            raise ValueError(literal.text)
        return literal
    # Beside text and doubles, decimals are compared as doubles.
    digits = len(number.normalize().as_tuple().digits)
    if (
        literal.kind not in {"double", "string"}
        or max(digits, data_type.precision) > MAX_DOUBLE_DIGITS
    ):
        raise ValueError(literal.text)
    return Literal("number", literal.text.strip())


def _beside_float(
    literal: Literal, data_type: DataType, *, is_single: bool
) -> _Reading:
    number = _number(literal, {"number", "float", "double", "string"})
    if math.isnan(number):
        return None
    with np.errstate(over="ignore"):
        single = np.float32(number)
    low = high = number
    if is_single and float(single) != number:
        toward = np.float32(math.inf if float(single) < number else -math.inf)
        low, high = sorted([float(single), float(np.nextafter(single, toward))])
    elif literal.kind == "float":
        low, high = sorted([float(single), number])
    scalars = arrow_array([low, high], data_type)
    return (
        _Between(scalars[0], scalars[1])
        if low != high
        else Literal("number" if math.isfinite(low) else "string", repr(low))
    )


def _number(literal: Literal, kinds: set[str]) -> float:
    if literal.kind not in kinds:
        raise ValueError(literal.kind)
    text = literal.text.strip()
    number = float(parse_value(text, PrimitiveType("double")))
    if math.isinf(number) and text[-1:].isdigit():
        raise ValueError(text)
    return number


def _beside_date(literal: Literal, data_type: DataType) -> _Reading:
    text = literal.text.strip()
    if literal.kind not in {"date", "string", "timestamp_ntz", "timestamp"}:
        raise ValueError(literal.kind)
    if literal.kind in {"date", "string"} and _DATE.fullmatch(text):
        return Literal("date", text)
    if literal.kind == "date" or _ZONE.search(text):
        raise ValueError(text)
    days, rest = divmod(parse_timestamp_ntz(text), MICROS_PER_DAY)
    low, high = days, days + bool(rest)
    if literal.kind == "timestamp" and _has_clocks(literal):
        # Where clocks go forward around midnight, an evening may be after it.
        low, high = low - 1, high + 1
    if low == high:
        return Literal("timestamp", text)
    scalars = arrow_array([low, high], data_type)
    return _Between(scalars[0], scalars[1])


def _beside_timestamp(literal: Literal, name: str, data_type: DataType) -> _Reading:
    text = literal.text.strip()
    if literal.kind not in {"date", "string", "timestamp", "timestamp_ntz"}:
        raise ValueError(literal.kind)
    is_zoned = literal.kind == "timestamp" and literal.zone_is_unknown
    is_local = name == "timestamp_ntz" and not is_zoned
    parse = parse_timestamp_ntz if is_local else parse_timestamp
    low = high = written = parse(text)
    if literal.is_cut:
        low -= low % MILLISECOND_US
        high = low + MILLISECOND_US - 1
        if low <= 0:
            # Before 1970 a cut may go up, toward zero.
            low -= MILLISECOND_US - 1
    elif _BEYOND_MICROS.search(text):
        high += 1
    low, high = _in_zone(literal, name, low, high)
    if low == high == written:
        return Literal(name, text)
    if not (fits_bits(low, 64) and fits_bits(high, 64)):
        raise ValueError(text)
    scalars = arrow_array([low, high], data_type)
    return _Between(scalars[0], scalars[1])


def _in_zone(literal: Literal, name: str, low: int, high: int) -> tuple[int, int]:
    """Return the ends of what a time may be beside a column of the type."""
    if name == "timestamp_ntz":
        if literal.kind == "timestamp" and _has_clocks(literal):
            # A time of clocks that is left out is as late as others after it.
            return low - MAX_LEFT_OUT_US, high + MAX_LEFT_OUT_US
        return low, high
    if _ZONE.search(literal.text):
        return low, high
    if literal.zone_is_unknown:
        return low - MAX_ZONE_US, high + MAX_ZONE_US
    zone = literal.zone
    if zone is None:
        return low, high
    day = np.array([low // MICROS_PER_DAY])
    found = [
        *zone.instants(np.array([low, high], np.int64)),
        *(zone.day_starts(day) if literal.kind == "date" else ()),
    ]
    return int(min(found)), int(max(found))


def _has_clocks(literal: Literal) -> bool:
    """Whether times are compared by clocks that may leave some out: not in UTC."""
    return literal.zone_is_unknown or literal.zone is not None


def _refusal(column: TypedColumn, literal: Literal) -> PredicateError:
    text = literal.text[:MAX_SHOWN]
    reason = (
        f"{text!r} of type {literal.kind} cannot be compared safely with column "
        f"{column.shown} of type {type_text(column.data_type)}"
    )
    return PredicateError(reason=reason)
