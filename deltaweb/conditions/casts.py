"""Casts that change nothing about a column or a literal."""

from dataclasses import replace

from deltaweb.conditions.tree import Literal
from deltaweb.delta.protocol.schema import DataType, DecimalType, PrimitiveType
from deltaweb.delta.values.value_text import (
    INTEGER_BITS,
    fit_decimal,
    fits_bits,
    parse_number,
)

_NUMBERS = {*INTEGER_BITS, "float", "double", "decimal"}
_INTEGER_DIGITS = {"byte": 3, "short": 5, "integer": 10, "long": 19}
_WIDENED = {
    "byte": {"short", "integer", "long", "float", "double"},
    "short": {"integer", "long", "float", "double"},
    "integer": {"long", "double"},
    "float": {"double"},
}
"""Casts of a column that keep each of its values."""


def type_name(data_type: DataType | None) -> str:
    """The specification's name of a type, `decimal`, or empty."""
    if isinstance(data_type, DecimalType):
        return "decimal"
    return data_type.name if isinstance(data_type, PrimitiveType) else ""


def literal_kind(data_type: DataType | None) -> str:
    """The kind of a literal that is cast to the type; empty for none."""
    name = type_name(data_type)
    return "number" if name in _NUMBERS else name


def keeps_values(source: DataType, target: DataType | None) -> bool:
    """Whether a cast of a column gives the very values that it holds."""
    name, target_name = type_name(source), type_name(target)
    if isinstance(source, DecimalType):
        digits, scale = source.precision - source.scale, source.scale
    elif name and (name == target_name or target_name in _WIDENED.get(name, ())):
        return True
    else:
        digits, scale = _INTEGER_DIGITS.get(name, 0), 0
    if not isinstance(target, DecimalType) or not digits + scale:
        return False
    return target.scale >= scale and target.precision - target.scale >= digits


def cast_literal(literal: Literal, target: DataType | None) -> Literal | None:
    """A literal whose type is stated; None if the cast may change its value."""
    name = type_name(target)
    if literal.kind == "null":
        return literal
    if name != literal.kind and not _is_already(literal, name, target):
        return None
    if literal.kind == "float" and name == "double":
        return literal
    kind = "number" if name in INTEGER_BITS or name == "decimal" else name
    other_text = literal.other_text if kind == "string" else ""
    return replace(literal, kind=kind, other_text=other_text)


def _is_already(literal: Literal, name: str, target: DataType | None) -> bool:
    """Whether a literal is of the type already, however it is written."""
    is_text = literal.kind == "string"
    if name in {"date", "timestamp", "timestamp_ntz", "boolean"}:
        return is_text
    if name in {"float", "double"}:
        return is_text or literal.kind in {"number", "float", "double"}
    try:
        return (is_text or literal.kind == "number") and _fits(literal.text, target)
    except ValueError:
        return False


def _fits(text: str, target: DataType | None) -> bool:
    """Whether a number is of the type; as text it may be spelled in one way alone."""
    if isinstance(target, DecimalType):
        number = parse_number(text)
        return fit_decimal(number, target) == number
    name, whole = type_name(target), int(text)
    if name == "string":
        return str(whole) == text
    return name in INTEGER_BITS and fits_bits(whole, INTEGER_BITS[name])
