"""Texts and parts of variants as values of other types: casts of Spark's ANSI mode.

Each function returns a value, or raises ValueError where Spark finds none. A date is
its days and a time its microseconds since 1970-01-01, so that no year is out of range.
A time of day alone is no value of any: where Spark takes it for an instant, that is
one of the day of reading, and two readings of a row would differ.

Source: Spark, `SparkDateTimeUtils.stringToDate` and `parseTimestampString`,
`UTF8String.toLongExact`, `Cast.castToDouble`, `Decimal.fromStringANSI` and
`VariantGet.cast`.
"""

import base64
import math
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.protocol.schema import DataType, DecimalType, PrimitiveType
from deltaweb.delta.values.time_zones.rules import ZoneRules
from deltaweb.delta.values.time_zones.written import written_zone
from deltaweb.delta.values.value_text import (
    INTEGER_BITS,
    MICROS_PER_DAY,
    MICROS_PER_SECOND,
    Value,
    fits_bits,
    parse_date,
    parse_number,
    parse_timestamp,
    parse_timestamp_ntz,
)

_BLANKS: Final = "".join(map(chr, (*range(0x21), 0x7F)))
"""What Spark trims: white space and control characters of one byte."""
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_NUMBER: Final = re.compile(
    r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?"
)
_NOT_FINITE: Final = {
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), float("inf")),
    **dict.fromkeys(("-inf", "-infinity"), float("-inf")),
    "nan": float("nan"),
}
_TRUE: Final = frozenset({"t", "true", "y", "yes", "1"})
_FALSE: Final = frozenset({"f", "false", "n", "no", "0"})
_DAY: Final = r"([+-]?[0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
_DATE: Final = re.compile(rf"{_DAY}(?:[ T].*)?)?)?", re.DOTALL)
_TIME: Final = re.compile(
    rf"{_DAY}(?:[ T]([0-9]{{1,2}})(?::([0-9]{{1,2}})(?::([0-9]{{1,2}})"
    r"(?:\.([0-9]*))?(\D.*)?)?)?)?)?)?"
)
_MICROSECOND_DIGITS: Final = 6
_LAST_UNSIGNED_YEAR: Final = 9_999
LONG_BITS: Final = 64
MAX_EXPONENT: Final = 400
"""A number with more digits fits no type but text."""
UTC: Final = "+00:00"


def trimmed(text: str) -> str:
    """Return a text without what Spark trims at its ends."""
    return text.strip(_BLANKS)


def integer_of(text: str) -> int:
    """Return a whole number, of any size."""
    digits = trimmed(text)
    if not _INTEGER.fullmatch(digits):
        raise ValueError(text[:80])
    return int(digits)


def double_of(text: str) -> float:
    """Return a number, which may be written with a suffix of Java: `1.5d`."""
    number = text.strip(_BLANKS)
    if match := _NUMBER.fullmatch(number):
        return float(match[1])
    if number in {"+NaN", "-NaN"}:
        return float("nan")
    if (found := _NOT_FINITE.get(number.lower())) is not None:
        return found
    raise ValueError(text[:80])


def single_of(text: str) -> float:
    """Return the number of 32 bits that is nearest to a text."""
    double = double_of(text)
    match = _NUMBER.fullmatch(text.strip(_BLANKS))
    return nearest_single(Decimal(match[1])) if match else double


def nearest_single(number: Decimal) -> float:
    """Return the number of 32 bits that is nearest: rounded once, from all digits."""
    with np.errstate(over="ignore"):
        single = np.float32(float(number))
    if not np.isfinite(single):
        return float(single)
    candidates = [
        single,
        *(np.nextafter(single, np.float32(e)) for e in (-np.inf, np.inf)),
    ]
    finite = [float(one) for one in candidates if np.isfinite(one)]
    with localcontext(prec=400):
        distances = [abs(Decimal(one) - number) for one in finite]
    nearest = min(distances)
    best = [one for one, far in zip(finite, distances, strict=True) if far == nearest]
    return float(single) if float(single) in best else best[0]


def decimal_of(text: str, kind: pa.DataType) -> Decimal:
    """Return a decimal of a type, rounded half up to its scale."""
    return fitted_decimal(parse_number(text.strip(_BLANKS)), kind)


def fitted_decimal(number: Decimal, kind: pa.DataType | DecimalType) -> Decimal:
    """Return a decimal rounded half up to the scale of a type."""
    if not number.is_finite():
        raise ValueError(str(number))
    unit = Decimal(1).scaleb(-kind.scale)
    try:
        with localcontext(prec=2 * (kind.precision + 1)):
            rounded = number.quantize(unit, rounding=ROUND_HALF_UP)
    except InvalidOperation:
        raise ValueError(str(number)[:80]) from None
    if rounded and len(rounded.as_tuple().digits) > kind.precision:
        raise ValueError(str(number)[:80])
    return rounded


def boolean_of(text: str) -> bool:
    """Return what `yes`, `T` and their like say."""
    word = trimmed(text).lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(text[:80])
    return word in _TRUE


def days_of(text: str) -> int:
    """Return the day: `2026`, `2026-1`, `2026-1-31`, with or without a time."""
    match = _DATE.fullmatch(trimmed(text))
    if not match:
        raise ValueError(text[:80])
    return parse_date(_day(*match.groups()))


def micros_of(text: str, zone: ZoneRules | None = None) -> int:
    """Return the instant; one without a zone is what clocks show: UTC's for None."""
    moment, own = _moment(text)
    micros, zone = parse_timestamp(moment), own or zone
    return micros if zone is None else zone.instant(micros)


def day_text(days: int) -> str:
    """Return a day as it is written; a year of five digits has its sign."""
    day = np.datetime64(days, "D")
    months = int(day.astype("datetime64[M]").astype(np.int64))
    year, month = 1970 + months // 12, months % 12 + 1
    number = int((day - day.astype("datetime64[M]")).astype(np.int64)) + 1
    sign = "+" if year > _LAST_UNSIGNED_YEAR else ""
    digits = f"{year:04d}" if year >= 0 else f"-{-year:04d}"
    return f"{sign}{digits}-{month:02d}-{number:02d}"


def time_text(micros: int) -> str:
    """Return what a clock shows, without the digits of a fraction that are zeros."""
    days, rest = divmod(micros, MICROS_PER_DAY)
    seconds, fraction = divmod(rest, MICROS_PER_SECOND)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    digits = f".{fraction:06d}".rstrip("0").rstrip(".")
    return f"{day_text(days)} {clock}{digits}"


def local_micros_of(text: str) -> int:
    """Return the time on the clock of a text; its zone, if any, does not move it."""
    moment, _ = _moment(text)
    return parse_timestamp_ntz(moment)


def names_zone(text: str) -> bool:
    """Tell whether a text is an instant by itself: a time with a zone."""
    try:
        _, zone = _moment(text)
    except ValueError:
        return False
    return zone is not None


def _day(year: str, month: str | None, day: str | None) -> str:
    return f"{year}-{month or 1}-{day or 1}"


def _moment(text: str) -> tuple[str, ZoneRules | None]:
    """Return a moment with all of its parts, and the zone that it says."""
    match = _TIME.fullmatch(trimmed(text))
    if not match:
        raise ValueError(text[:80])
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    micros = (fraction or "0")[:_MICROSECOND_DIGITS]
    clock = f"{hour or 0}:{minute or 0}:{second or 0}.{micros}"
    own = trimmed(zone or "")
    return f"{_day(year, month, day)} {clock}", written_zone(own) if own else None


# === Parts of variants ===


class NoCastError(ValueError):
    """A part of a variant is no value of the type."""


def cast_variant(kind: str, value: object, wanted: DataType) -> Value:
    """Return a value without parts as one of a type, by the rules of `variant_get`.

    Numbers lose what is behind the point on their way to a whole number, and are
    rounded half up on their way to a decimal; what does not fit is no value. Times are
    of UTC.

    Args:
        kind: What the value is, by Spark's word: `bigint`, `date`; `text` for one
            whose type its text does not tell, which bytes as Base64 may be.
        value: A bool, or text: digits, a day, a time, Base64 of bytes.

    Returns:
        As `deltaweb.delta.values.value_text` holds values.
    """
    name = wanted.name if isinstance(wanted, PrimitiveType) else "decimal"
    kind = "boolean" if isinstance(value, bool) else kind
    try:
        if isinstance(wanted, DecimalType):
            return fitted_decimal(_number(kind, value), wanted)
        return _CASTS[name](kind, value)
    except (ValueError, KeyError, OverflowError, ArithmeticError):
        raise NoCastError(name) from None


def _number(kind: str, value: object) -> Decimal:
    """Return a value as a number, which may not be finite."""
    if isinstance(value, bool):
        return Decimal(value)
    text = str(value)
    if kind in _TEXTS:
        return parse_number(trimmed(text))
    if kind == "timestamp":
        return Decimal(micros_of(text)) / MICROS_PER_SECOND
    if kind not in _NUMBERS:
        raise NoCastError(kind)
    special = _NOT_FINITE.get(text.lower())
    number = parse_number(text) if special is None else Decimal(special)
    if number and abs(number.adjusted()) > MAX_EXPONENT:
        raise NoCastError(kind)
    return number


def _integer(name: str) -> Callable[[str, object], Value]:
    def cast(kind: str, value: object) -> Value:
        if kind in _TEXTS:
            whole = integer_of(str(value))
        else:
            number = _number(kind, value)
            # An instant before 1970 belongs to the second that it is in.
            whole = math.floor(number) if kind == "timestamp" else int(number)
        if not fits_bits(whole, INTEGER_BITS[name]):
            raise NoCastError(name)
        return whole

    return cast


def _floating(read: Callable[[str], float]) -> Callable[[str, object], Value]:
    return lambda kind, value: (
        read(str(value)) if kind in _TEXTS else float(_number(kind, value))
    )


def _boolean(kind: str, value: object) -> Value:
    if kind in _TIMES:
        raise NoCastError(kind)
    return boolean_of(str(value)) if kind in _TEXTS else bool(_number(kind, value))


def _string(kind: str, value: object) -> Value:
    if isinstance(value, bool):
        return str(value).lower()
    if kind == "binary":
        return base64.b64decode(str(value)).decode("utf-8", "replace")
    return str(value).removesuffix(UTC) if kind == "timestamp" else str(value)


def _binary(kind: str, value: object) -> Value:
    if kind in {"binary", "text"}:
        return base64.b64decode(str(value), validate=True)
    return _text(kind, value, _TEXTS).encode("utf-8", "surrogatepass")


def _timestamp(kind: str, value: object) -> Value:
    if kind not in _NUMBERS:
        return micros_of(_text(kind, value))
    micros = int(_number(kind, value) * MICROS_PER_SECOND)
    if not fits_bits(micros, LONG_BITS):
        raise NoCastError(kind)
    return micros


_TEXTS: Final = frozenset({"string", "text", "uuid"})
_TIMES: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
_NUMBERS: Final = frozenset(
    {"tinyint", "smallint", "int", "bigint", "float", "double", "decimal"}
)


def _text(kind: str, value: object, kinds: frozenset[str] = _TEXTS | _TIMES) -> str:
    if kind not in kinds:
        raise NoCastError(kind)
    return str(value)


_CASTS: Final[Mapping[str, Callable[[str, object], Value]]] = {
    **{name: _integer(name) for name in INTEGER_BITS},
    "float": _floating(single_of),
    "double": _floating(double_of),
    "boolean": _boolean,
    "string": _string,
    "binary": _binary,
    "date": lambda kind, value: days_of(_text(kind, value)),
    "timestamp": _timestamp,
    "timestamp_ntz": lambda kind, value: local_micros_of(_text(kind, value)),
}
