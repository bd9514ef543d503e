"""Lists of values that mean to every client what their values mean one by one.

A client brings a column and all values of a list to one type, by the rules of its mode:
beside a text Spark compares texts, or values where ANSI is on, and in one type of many
digits it may round. Here each value is judged alone, so that a list counts only where
no rule can make a difference.
"""

import re
from collections.abc import Sequence
from typing import Final

from deltaweb.conditions.casts import type_name
from deltaweb.conditions.tree import Literal
from deltaweb.delta.protocol.schema import MAX_DECIMAL_PRECISION, DataType, DecimalType
from deltaweb.delta.values.value_text import INTEGER_BITS, fits_bits, parse_number

INTEGER_DIGITS: Final = {"byte": 3, "short": 5, "integer": 10, "long": 20}
"""Digits of the decimal type that stands for a type of whole numbers."""

_FLOATS: Final = frozenset({"float", "double"})
_LOCAL_TIMES: Final = frozenset({"date", "timestamp_ntz"})
_PLAIN: Final = {
    **dict.fromkeys(INTEGER_BITS, re.compile(r"0|-?[1-9][0-9]*")),
    "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    "boolean": re.compile(r"true|false"),
}
"""Texts that are what a value of the type is as text."""


def means_each_value(data_type: DataType, values: Sequence[Literal]) -> bool:
    """Whether a list beside a column of a type is the same to every client."""
    own = type_name(data_type)
    values = [value for value in values if value.kind != "null"]
    kinds = {value.kind for value in values}
    if own != "string" and "string" in kinds:
        return _is_plain(own, values)
    if own in _LOCAL_TIMES and "timestamp" in kinds and len(kinds) > 1:
        return False
    if own != "decimal" and own not in INTEGER_BITS:
        return True
    if kinds & _FLOATS:
        return len(kinds) == 1
    return "number" not in kinds or fits_decimal(
        data_type, [value.text for value in values]
    )


def _is_plain(own: str, values: Sequence[Literal]) -> bool:
    """Whether texts in a list are equal as texts where they are as values."""
    plain = _PLAIN.get(own)
    others = "number" if own in INTEGER_BITS else own
    return plain is not None and all(
        (
            value.kind in {"string", others}
            and "." not in value.text
            and (value.kind != "string" or plain.fullmatch(value.text))
        )
        for value in values
    )


def fits_decimal(data_type: DataType, numbers: Sequence[str]) -> bool:
    """Whether one decimal type has all digits of a column and of numbers beside it.

    Args:
        numbers: As they are written; a whole one is a number of 32 or 64 bits.
    """
    if isinstance(data_type, DecimalType):
        whole, scale = data_type.precision - data_type.scale, data_type.scale
    else:
        whole, scale = INTEGER_DIGITS[type_name(data_type)], 0
    for text in numbers:
        number = parse_number(text.strip())
        scale = max(scale, -int(number.as_tuple().exponent))
        whole = max(whole, number.adjusted() + 1, _integer_digits(text))
    return not scale or whole + scale <= MAX_DECIMAL_PRECISION


def _integer_digits(text: str) -> int:
    """Digits of the decimal type that stands for a whole number; 0 for a fraction."""
    if "." in text:
        return 0
    for name in ("integer", "long"):
        if fits_bits(int(text), INTEGER_BITS[name]):
            return INTEGER_DIGITS[name]
    return 0
