"""A value of a variant as a value of another type, by the rules of `variant_get`.

Numbers lose what is behind the point on their way to a whole number, and are rounded
half up on their way to a decimal; what does not fit is no value. Times are of UTC.
A time of day alone is no value of any: where Spark takes it for an instant, that is
one of the day of reading, and two readings of a row would differ.

Source: Spark SQL, "ANSI Compliance", "Cast", and "variant_get".
"""

import base64
import math
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

from deltaweb.delta.protocol.schema import (
    MAX_DECIMAL_PRECISION,
    DataType,
    DecimalType,
    PrimitiveType,
)
from deltaweb.delta.values.value_text import (
    INTEGER_BITS,
    MAX_TEXT_LENGTH,
    MICROS_PER_DAY,
    MICROS_PER_SECOND,
    Value,
    fits_bits,
    parse_date,
    parse_timestamp,
    parse_timestamp_ntz,
)

UTC: Final = "+00:00"
LONG_BITS: Final = 64
MAX_EXPONENT: Final = 400
"""A number of more digits is none of any type but text."""
_EXACT: Final = Context(prec=2 * MAX_DECIMAL_PRECISION, rounding=ROUND_HALF_UP)
_DECIMAL: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")
_DOUBLE: Final = re.compile(rf"(?:{_DECIMAL.pattern})[dDfF]?")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_NOT_FINITE: Final = re.compile(r"([+-]?)(nan|infinity|inf)", re.IGNORECASE)
_DAY: Final = re.compile(
    r"(?P<year>[+-]?[0-9]{4,6})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2})"
    r"(?P<rest>[ T].*)?)?)?",
    re.DOTALL,
)
_ZONE: Final = re.compile(r"\s?(Z|UTC|[+-][0-9]{2}:?[0-9]{2})$")
_YES: Final = frozenset({"t", "true", "y", "yes", "1"})
_NO: Final = frozenset({"f", "false", "n", "no", "0"})


class NoCastError(ValueError):
    """A value is none of the type."""


def cast_variant(kind: str, value: object, wanted: DataType) -> Value:
    """Return a value without parts as one of a type.

    Args:
        kind: What the value is, by Spark's word: `bigint`, `date`; `text` for one
            whose type its text does not tell, which bytes as Base64 may be.
        value: A bool, or text: digits, a day, a time, Base64 of bytes.

    Returns:
        As `deltaweb.delta.values.value_text` holds values.
    """
    name = wanted.name if isinstance(wanted, PrimitiveType) else "decimal"
    try:
        if isinstance(wanted, DecimalType):
            return _decimal(_number(kind, value), wanted)
        return _CASTS[name](kind, value)
    except (ValueError, KeyError, OverflowError, ArithmeticError):
        raise NoCastError(name) from None


def _number(kind: str, value: object) -> Decimal:
    """Return a value as a number, which may not be finite."""
    text = str(value).strip()
    if isinstance(value, bool):
        return Decimal(value)
    if kind == "timestamp":
        return Decimal(_micros(text)) / MICROS_PER_SECOND
    if kind not in _NUMBERS and kind not in _TEXTS:
        raise NoCastError(kind)
    if kind in _NUMBERS and (match := _NOT_FINITE.fullmatch(text)):
        return Decimal(match[1] + match[2])
    if len(text) > MAX_TEXT_LENGTH or not _DECIMAL.fullmatch(text):
        raise NoCastError(kind)
    number = Decimal(text)
    if number and abs(number.adjusted()) > MAX_EXPONENT:
        raise NoCastError(kind)
    return number


def _decimal(number: Decimal, wanted: DecimalType) -> Decimal:
    if not number.is_finite():
        raise NoCastError(str(number))
    found = number.quantize(Decimal(1).scaleb(-wanted.scale), context=_EXACT)
    if len(found.as_tuple().digits) > wanted.precision:
        raise NoCastError(str(number))
    return found


def _integer(name: str) -> Callable[[str, object], Value]:
    def cast(kind: str, value: object) -> Value:
        if kind in _TEXTS and not _INTEGER.fullmatch(str(value).strip()):
            raise NoCastError(name)
        number = _number(kind, value)
        # An instant before 1970 belongs to the second that it is in.
        whole = math.floor(number) if kind == "timestamp" else int(number)
        if not fits_bits(whole, INTEGER_BITS[name]):
            raise NoCastError(name)
        return whole

    return cast


def _double(kind: str, value: object) -> Value:
    text = str(value).strip()
    if kind in _TEXTS:
        if _NOT_FINITE.fullmatch(text):
            return float(text)
        if len(text) > MAX_TEXT_LENGTH or not _DOUBLE.fullmatch(text):
            raise NoCastError(kind)
        return float(text.rstrip("dDfF"))
    return float(_number(kind, value))


def _boolean(kind: str, value: object) -> Value:
    if isinstance(value, bool):
        return value
    if kind in _NUMBERS:
        return bool(_number(kind, value))
    text = str(value).strip().lower()
    if kind not in _TEXTS or text not in _YES | _NO:
        raise NoCastError(kind)
    return text in _YES


def _string(kind: str, value: object) -> Value:
    if isinstance(value, bool):
        return str(value).lower()
    if kind == "binary":
        return base64.b64decode(str(value)).decode("utf-8", "replace")
    return str(value).removesuffix(UTC) if kind == "timestamp" else str(value)


def _binary(kind: str, value: object) -> Value:
    if kind in {"binary", "text"}:
        return base64.b64decode(str(value), validate=True)
    if kind not in _TEXTS:
        raise NoCastError(kind)
    return str(value).encode("utf-8", "surrogatepass")


def _date(kind: str, value: object) -> Value:
    if kind not in _TEXTS | _TIMES:
        raise NoCastError(kind)
    return parse_date(_day(str(value))[0])


def _day(text: str) -> tuple[str, str]:
    """Return the day of a text, whole, and what follows it."""
    match = _DAY.fullmatch(text.strip())
    if match is None:
        raise NoCastError(text[:MAX_TEXT_LENGTH])
    day = f"{match['year']}-{match['month'] or 1}-{match['day'] or 1}"
    return day, match["rest"] or ""


def _timestamp(kind: str, value: object) -> Value:
    if kind in _NUMBERS:
        micros = int(_number(kind, value) * MICROS_PER_SECOND)
        if not fits_bits(micros, LONG_BITS):
            raise NoCastError(kind)
        return micros
    if kind not in _TEXTS | _TIMES:
        raise NoCastError(kind)
    return _micros(str(value))


def _micros(text: str) -> int:
    return parse_timestamp("".join(_day(text)))


def _local_time(kind: str, value: object) -> Value:
    if kind == "date":
        return parse_date(str(value)) * MICROS_PER_DAY
    if kind not in _TEXTS | _TIMES:
        raise NoCastError(kind)
    day, rest = _day(str(value))
    return parse_timestamp_ntz(day + _ZONE.sub("", rest))


_TEXTS: Final = frozenset({"string", "text", "uuid"})
_TIMES: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
_NUMBERS: Final = frozenset(
    {"tinyint", "smallint", "int", "bigint", "float", "double", "decimal"}
)
_CASTS: Final[Mapping[str, Callable[[str, object], Value]]] = {
    **{name: _integer(name) for name in INTEGER_BITS},
    "float": _double,
    "double": _double,
    "boolean": _boolean,
    "string": _string,
    "binary": _binary,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp_ntz": _local_time,
}
