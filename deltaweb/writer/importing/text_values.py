"""Texts as values of a type, whole columns at a time, and which of them are none.

What is no value of its type is null here and told by a mask: no text is guessed. A
number has no digits that its type would lose, and a day is one of the calendar.
"""

import re
from decimal import Decimal
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    arrow_type,
    type_text,
)
from deltaweb.writer.importing.local_times import instants_of
from deltaweb.writer.importing.options import TextForm

Array = np.ndarray[Any, np.dtype[Any]]

INTEGER_BITS: Final = {"byte": 7, "short": 15, "integer": 31, "long": 63}
_WHOLE: Final = r"^[+-]?[0-9]{1,19}$"
_NUMBER: Final = r"^[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$"
_WORDS: Final = r"^[+-]?(?:[nN]a[nN]|[iI]nf(?:inity)?)$"
_GROUP_SIGNS: Final = (" ", "'", "\u2019", "\u00a0", "\u202f")
_GROUPED: Final = (
    r"^([+-]?[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+)(?:{decimal}[0-9]*)?$"
)
_TRUE: Final = ("true", "t", "yes", "y", "1")
_FALSE: Final = ("false", "f", "no", "n", "0")
_DAYS: Final = {
    "ymd": r"(?P<y>[0-9]{4})[-/.](?P<m>[0-9]{1,2})[-/.](?P<d>[0-9]{1,2})",
    "dmy": r"(?P<d>[0-9]{1,2})[-/.](?P<m>[0-9]{1,2})[-/.](?P<y>[0-9]{4})",
    "mdy": r"(?P<m>[0-9]{1,2})[-/.](?P<d>[0-9]{1,2})[-/.](?P<y>[0-9]{4})",
}
_CLOCK: Final = (
    r"(?:[T ](?P<h>[0-9]{1,2}):(?P<i>[0-9]{2})(?::(?P<s>[0-9]{2})"
    r"(?:\.(?P<f>[0-9]{1,6})0*)?)?)?"
)
_ZONE: Final = r" ?(?P<z>Z|[+-][0-9]{2}:?[0-9]{2})?"
_MONTH_DAYS: Final = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_DAY_US: Final = 86_400_000_000


class ParsedTexts(NamedTuple):
    """The values of texts.

    Attributes:
        values: Of the type; null for what is none.
        moved_us: How far each local time was moved; None where no text is one.
    """

    values: pa.Array
    is_none: pa.BooleanArray
    moved_us: Array | None = None


def parse_texts(texts: pa.Array, data_type: DataType, form: TextForm) -> ParsedTexts:
    """Return the values of texts, and a mask of those that are none.

    Args:
        texts: string; the text of null is null.
    """
    texts = pc.if_else(pc.equal(texts, form.null_text), None, texts)
    target = arrow_type(data_type)
    if pa.types.is_string(target):
        return ParsedTexts(texts, _none_of(texts))
    if pa.types.is_binary(target):
        return ParsedTexts(texts.cast(target), _none_of(texts))
    trimmed = pc.utf8_trim_whitespace(texts)
    moved_us = None
    match data_type:
        case DecimalType(precision, scale):
            values = _decimals(_numbers(trimmed, form), precision, scale)
        case PrimitiveType("boolean"):
            values = _booleans(trimmed)
        case PrimitiveType(name) if name in INTEGER_BITS:
            values = _integers(_numbers(trimmed, form), INTEGER_BITS[name])
        case PrimitiveType("float" | "double"):
            values = _floats(_numbers(trimmed, form), target)
        case PrimitiveType("date"):
            values = _days(trimmed, form)
        case PrimitiveType("timestamp"):
            values, moved_us = _instants(trimmed, form)
        case PrimitiveType("timestamp_ntz"):
            values, zone = _clock_times(trimmed, form)
            values = pc.if_else(pc.equal(zone, ""), values, None)
        case _:
            values = pa.nulls(len(texts), target)
    values = values.cast(target)
    is_none = pc.and_(values.is_null(), texts.is_valid())
    return ParsedTexts(values, is_none, moved_us)


def why_none(text: str, data_type: DataType) -> str:  # noqa: PLR0911  # each its own
    match data_type:
        case PrimitiveType(name) if name in INTEGER_BITS:
            if re.fullmatch(r"[+-]?[0-9]+", text.strip()):
                return f"outside of what {type_text(data_type)} holds"
            return "not a whole number"
        case DecimalType(precision, scale):
            if re.fullmatch(r"[+-]?[0-9.,]+", text.strip()):
                return f"more digits than decimal({precision},{scale}) has"
            return "not a number"
        case PrimitiveType("float" | "double"):
            return "not a number"
        case PrimitiveType("boolean"):
            return "neither true nor false"
        case PrimitiveType("date"):
            return "not a day of the calendar"
        case PrimitiveType("timestamp"):
            return "not a time"
        case PrimitiveType("timestamp_ntz"):
            return "not a time without a zone"
    return f"not of type {type_text(data_type)}"


def _none_of(texts: pa.Array) -> pa.BooleanArray:
    return pa.array(np.zeros(len(texts), bool))


def _where(mask: pa.BooleanArray, texts: pa.Array) -> pa.Array:
    return pc.if_else(mask, texts, None)


def _numbers(texts: pa.Array, form: TextForm) -> pa.Array:
    """Write numbers with a point, and nothing between thousands.

    Only a decimal sign that is known leaves a sign between thousands.
    """
    if not form.decimal_sign:
        return texts
    other = "." if form.decimal_sign == "," else ","
    decimal = re.escape(form.decimal_sign)
    # One number has one sign between its thousands.
    for group in (re.escape(other), *_GROUP_SIGNS):
        pattern = _GROUPED.format(group=group, decimal=decimal)
        is_grouped = pc.match_substring_regex(texts, pattern)
        plain = pc.replace_substring_regex(texts, group, "")
        texts = pc.if_else(is_grouped, plain, texts)
    whole = pc.if_else(pc.match_substring(texts, other), "", texts)
    return pc.replace_substring(whole, form.decimal_sign, ".")


def _unsigned_plus(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(texts, r"^\+", "")


def _integers(texts: pa.Array, bits: int) -> pa.Array:
    whole = pa.decimal128(20, 0)
    some = _where(pc.match_substring_regex(texts, _WHOLE), texts)
    numbers = _unsigned_plus(some).cast(whole)
    low, high = (
        pa.scalar(Decimal(-(1 << bits)), whole),
        pa.scalar(Decimal((1 << bits) - 1), whole),
    )
    fits = pc.and_(pc.greater_equal(numbers, low), pc.less_equal(numbers, high))
    return _where(fits, numbers).cast(pa.int64())


def _decimals(texts: pa.Array, precision: int, scale: int) -> pa.Array:
    whole, fraction = precision - scale, rf"(?:\.[0-9]{{0,{scale}}}0*)?"
    fits = rf"^[+-]?0*[0-9]{{0,{whole}}}{fraction}$"
    has_digit = pc.match_substring_regex(texts, r"^[+-]?\.?[0-9]")
    mask = pc.and_(pc.match_substring_regex(texts, fits), has_digit)
    some = pc.replace_substring_regex(
        _where(mask, texts), r"^([+-]?)0+([0-9])", r"\1\2"
    )
    if scale:
        some = pc.replace_substring_regex(some, rf"(\.[0-9]{{0,{scale}}}?)0*$", r"\1")
    some = pc.replace_substring_regex(some, r"\.0*$", "")
    some = pc.replace_substring_regex(some, r"^([+-]?)\.", r"\10.")
    return _unsigned_plus(some).cast(pa.decimal128(precision, scale))


def _floats(texts: pa.Array, target: pa.DataType) -> pa.Array:
    is_word = pc.match_substring_regex(texts, _WORDS)
    mask = pc.or_(pc.match_substring_regex(texts, _NUMBER), is_word)
    values = (
        _unsigned_plus(_where(mask, texts)).cast(pa.float64()).cast(target, safe=False)
    )
    return _where(pc.or_(pc.invert(pc.is_inf(values)), is_word), values)


def _booleans(texts: pa.Array) -> pa.Array:
    lower = pc.utf8_lower(texts)
    is_true = pc.is_in(lower, value_set=pa.array(_TRUE))
    is_false = pc.is_in(lower, value_set=pa.array(_FALSE))
    return pc.if_else(pc.or_(is_true, is_false), is_true, None)


# === Days and times ===


def _parts(texts: pa.Array, pattern: str) -> tuple[dict[str, pa.Array], Array]:
    """Return the named groups of a pattern, and which texts are of it."""
    found = pc.extract_regex(texts, f"^{pattern}$")
    names = [field.name for field in found.type]
    groups = {name: pc.struct_field(found, name) for name in names}
    return groups, found.is_valid().to_numpy(zero_copy_only=False)


def _iso(texts: pa.Array, form: TextForm) -> pa.Array:
    """Write the dates that texts begin with as year, month and day.

    A text that begins with a year is one in every order, as no other order has four
    digits first.
    """
    if form.day_order in ("", "ymd"):
        return texts
    named = re.sub(r"\?P<[dmy]>", "", _DAYS[form.day_order])
    places = {part: form.day_order.index(part) + 1 for part in "ymd"}
    iso = r"\{y}-\{m}-\{d}\4".format(**places)
    return pc.replace_substring_regex(texts, f"^{named}($|[^0-9])", iso)


def _numbers_of(group: pa.Array) -> Array:
    texts = pc.if_else(pc.equal(group.fill_null(""), ""), "0", group.fill_null(""))
    return np.asarray(texts.cast(pa.int64()))


def _day_numbers(groups: dict[str, pa.Array], valid: Array) -> tuple[Array, Array]:
    """Return days since 1970-01-01, and which of them are of the calendar."""
    year, month, day = (_numbers_of(groups[name]) for name in "ymd")
    valid = valid & (year >= 1) & (month >= 1) & (month <= 12)  # noqa: PLR2004  # months
    is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    last = _MONTH_DAYS[np.where(valid, month, 1)] - ((month == 2) & ~is_leap)  # noqa: PLR2004  # February
    valid &= (day >= 1) & (day <= last)
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0)
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return first + np.where(valid, day - 1, 0), valid


def _days(texts: pa.Array, form: TextForm) -> pa.Array:
    groups, valid = _parts(_iso(texts, form), _DAYS["ymd"])
    days, valid = _day_numbers(groups, valid)
    return pa.array(days.astype(np.int32), pa.int32(), mask=~valid).cast(pa.date32())


def _clock_times(texts: pa.Array, form: TextForm) -> tuple[pa.Array, pa.Array]:
    """Return what clocks show, and the zones that texts have, empty for none."""
    groups, valid = _parts(_iso(texts, form), _DAYS["ymd"] + _CLOCK + _ZONE)
    days, valid = _day_numbers(groups, valid)
    hour, minute, second = (_numbers_of(groups[name]) for name in "his")
    micros = _numbers_of(pc.utf8_rpad(groups["f"], 6, "0"))
    valid &= (hour < 24) & (minute < 60) & (second < 60)  # noqa: PLR2004  # a clock's
    clock = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros
    shown = pa.array(days * _DAY_US + clock, pa.int64(), mask=~valid)
    zone = groups["z"].fill_null("")
    return shown.cast(pa.timestamp("us")), zone


def _instants(texts: pa.Array, form: TextForm) -> tuple[pa.Array, Array]:
    """Return instants, and how far each was moved; the form has the zone of others."""
    shown, zone = _clock_times(texts, form)
    local, moved_us = instants_of(shown, form.time_zone)
    has_zone = pc.not_equal(zone, "")
    ticks = pc.subtract(shown.cast(pa.int64()), pa.array(_offsets_us(zone)))
    zoned = ticks.cast(pa.timestamp("us")).cast(local.type)
    values = pc.if_else(has_zone, zoned, local)
    return values, np.where(np.asarray(has_zone), 0, moved_us)


def _offsets_us(zones: pa.Array) -> Array:
    digits = pc.replace_substring_regex(zones, r"[Z:+-]", "")
    numbers = _numbers_of(digits)
    minutes = numbers // 100 * 60 + numbers % 100
    sign = np.where(np.asarray(pc.starts_with(zones, "-")), -1, 1)
    return np.asarray(sign * minutes * 60_000_000)
