"""Text of single values to exact values, and exact values to Arrow arrays.

Partition values, statistics and the literals of a condition are all text; this is
the one place that reads it. A value is held as Python holds it, except that a date
is its days and a timestamp its microseconds since 1970-01-01 (UTC), so that no year
is out of range.

Source: PROTOCOL.md, "Partition Value Serialization".
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import (
    MAX_DECIMAL_PRECISION,
    DataType,
    DecimalType,
    PrimitiveType,
    arrow_type,
)

Value: TypeAlias = str | int | float | bool | bytes | Decimal
"""A date is days, a timestamp microseconds since the epoch; both are int."""

INTEGER_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
MICROS_PER_SECOND = 1_000_000
MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND
MAX_TEXT_LENGTH = 1_000
"""Characters of a number, date or time; longer text is not one."""

_WIDE_DIGITS = 76
_LONG_DIGITS = 20
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")
_NOT_FINITE = {"nan": "nan", "infinity": "inf", "inf": "inf"}
_DATE = re.compile(r"([+-]?[0-9]{1,6})-([0-9]{1,2})-([0-9]{1,2})")
_TIMESTAMP = re.compile(
    rf"{_DATE.pattern}(?:[T ]([0-9]{{1,2}}):([0-9]{{1,2}})"
    r"(?::([0-9]{1,2})(?:\.([0-9]{1,9}))?)?"
    r"\s?(Z|UTC|[+-][0-9]{2}:?(?:[0-9]{2})?)?)?"
)
_ESCAPED_BYTES = re.compile(r"(?:\\u00[0-9A-Fa-f]{2})+")
_DAYS_IN_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def parse_value(text: str, data_type: DataType) -> Value:
    """Parse the text of one value that is not null.

    Returns:
        The exact value.
    """
    if isinstance(data_type, DecimalType):
        return fit_decimal(parse_number(text), data_type)
    name = data_type.name if isinstance(data_type, PrimitiveType) else ""
    if name == "string":
        return text
    if name == "binary":
        return _bytes(text)
    if len(text) > MAX_TEXT_LENGTH or name not in _PARSERS:
        raise ValueError(text[:MAX_TEXT_LENGTH])
    value = _PARSERS[name](text)
    bits = INTEGER_BITS.get(name)
    if bits is not None and isinstance(value, int) and not fits_bits(value, bits):
        raise ValueError(text)
    return value


def fits_bits(value: int, bits: int) -> bool:
    """Tell whether a signed integer of `bits` bits holds `value`."""
    return -(1 << (bits - 1)) <= value < 1 << (bits - 1)


def parse_number(text: str) -> Decimal:
    """Parse a finite number exactly; raise ValueError for other text."""
    if len(text) > MAX_TEXT_LENGTH or not _NUMBER.fullmatch(text):
        raise ValueError(text[:MAX_TEXT_LENGTH])
    return Decimal(text)


def fit_decimal(number: Decimal, data_type: DecimalType) -> Decimal:
    """Bring `number` to the type's scale; raise ValueError when digits are lost."""
    if not number:
        return Decimal(0).scaleb(-data_type.scale)
    digits = number.as_tuple().digits
    shift = int(number.as_tuple().exponent) + data_type.scale
    if shift < 0:
        lost, digits = digits[shift:], digits[:shift]
        if any(lost):
            raise ValueError(str(number))
        shift = 0
    if len(digits) + shift > data_type.precision:
        raise ValueError(str(number))
    return Decimal((number.is_signed(), digits + (0,) * shift, -data_type.scale))


def parse_date(text: str) -> int:
    """Parse `year-month-day` to days since 1970-01-01."""
    match = _DATE.fullmatch(text)
    if not match:
        raise ValueError(text)
    return _days(int(match[1]), int(match[2]), int(match[3]))


def parse_timestamp(text: str) -> int:
    """Parse a time to microseconds since 1970-01-01; one without a zone is UTC.

    The specification's form, the same with a fraction, and ISO 8601 with `T`, `Z`
    or an offset are understood; digits below the microsecond are dropped.
    """
    micros, _ = _timestamp(text)
    return micros


def parse_timestamp_ntz(text: str) -> int:
    """Parse a time without a zone to microseconds since 1970-01-01T00:00:00."""
    micros, zone = _timestamp(text)
    if zone is not None:
        raise ValueError(text)
    return micros


def names_zone(text: str) -> bool:
    """Tell whether a time says which zone it is in, or how far that is from UTC."""
    return _timestamp(text)[1] is not None


def _timestamp(text: str) -> tuple[int, str | None]:
    match = _TIMESTAMP.fullmatch(text)
    if not match:
        raise ValueError(text)
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if hours > 23 or minutes > 59 or seconds > 59:  # noqa: PLR2004 # a clock
        raise ValueError(text)
    days = _days(int(year), int(month), int(day))
    time_s = hours * 3600 + minutes * 60 + seconds - _offset_s(zone)
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    total = days * MICROS_PER_DAY + time_s * MICROS_PER_SECOND + micros
    if not fits_bits(total, 64):
        raise ValueError(text)
    return total, zone


def _offset_s(zone: str | None) -> int:
    if zone in {None, "Z", "UTC"}:
        return 0
    digits = str(zone)[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if str(zone)[0] == "-" else seconds


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 of a proleptic Gregorian date of any year."""
    if (
        not 1 <= month <= len(_DAYS_IN_MONTH)
        or not 1 <= day <= _DAYS_IN_MONTH[month - 1]
    ):
        raise ValueError(year, month, day)
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if month == 2 and day > 28 and not is_leap:  # noqa: PLR2004 # a calendar
        raise ValueError(year, month, day)
    # Counting from March puts the leap day at the end of the year.
    years = year - (month <= 2)  # noqa: PLR2004 # February
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return years * 365 + years // 4 - years // 100 + years // 400 + day_of_year - 719468


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(text)
    return int(text)


def _float(text: str) -> float:
    sign, name = ("-", text[1:]) if text[:1] == "-" else ("", text.removeprefix("+"))
    if not_finite := _NOT_FINITE.get(name.lower()):
        return float(sign + not_finite)
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return float(text)


def _boolean(text: str) -> bool:
    lower = text.lower()
    if lower not in {"true", "false"}:
        raise ValueError(text)
    return lower == "true"


def _bytes(text: str) -> bytes:
    """Bytes of a text; escapes that a writer left in the text are one byte each."""
    if _ESCAPED_BYTES.fullmatch(text):
        return bytes.fromhex(text.replace("\\u00", ""))
    return text.encode("utf-8", "surrogatepass")


_PARSERS = {
    "long": _integer,
    "integer": _integer,
    "short": _integer,
    "byte": _integer,
    "float": _float,
    "double": _float,
    "boolean": _boolean,
    "date": parse_date,
    "timestamp": parse_timestamp,
    "timestamp_ntz": parse_timestamp_ntz,
}


def arrow_array(values: Sequence[Value | None], data_type: DataType) -> pa.Array:
    """Build the Arrow array of `values`, typed as rows of the column are."""
    target = arrow_type(data_type)
    if pa.types.is_null(target):
        return pa.nulls(len(values))
    if pa.types.is_timestamp(target):
        return pa.array(values, pa.int64()).cast(target)
    if pa.types.is_date32(target):
        return pa.array(values, pa.int32()).cast(target)
    return pa.array(values, target)


def rescaled(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Bring decimals to the precision and scale of `target`, exactly.

    Arrow scales up without noticing that the result does not fit its 128 bits, so
    that is done in 256 bits, where the product of 38 digits and any scale fits.
    """
    if array.type.precision > MAX_DECIMAL_PRECISION + 1:
        message = f"{array.type} has more than {MAX_DECIMAL_PRECISION} digits"
        raise pa.ArrowInvalid(message)
    if array.type.precision > MAX_DECIMAL_PRECISION:  # of few digits in many bytes
        array = _narrow(array)
    return array.cast(pa.decimal256(_WIDE_DIGITS, target.scale)).cast(target)


def _narrow(array: pa.Array) -> pa.Array:
    """Return decimals of 256 bits as 38 digits; Arrow's cast misses the least one."""
    scale = array.type.scale
    limit = Decimal(1).scaleb(MAX_DECIMAL_PRECISION - scale)
    wide = pa.decimal256(_WIDE_DIGITS, scale)
    values = array.cast(wide)
    fits = pc.and_(
        pc.less(values, pa.scalar(limit, wide)),
        pc.greater(values, pa.scalar(-limit, wide)),
    )
    if not pc.all(fits, min_count=0).as_py():
        message = f"it has more than {MAX_DECIMAL_PRECISION} digits"
        raise pa.ArrowInvalid(message)
    return array.cast(pa.decimal128(MAX_DECIMAL_PRECISION, scale))


def whole_decimals(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return whole numbers as decimals of `target`."""
    digits = array.cast(pa.decimal128(_LONG_DIGITS, 0))
    return rescaled(digits, target)
