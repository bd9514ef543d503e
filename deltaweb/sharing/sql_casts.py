"""Casts of SQL that change nothing about a column or a literal."""

from sqlglot import exp

from deltaweb.delta.schema import DecimalType, PrimitiveType
from deltaweb.delta.value_text import INTEGER_BITS, fit_decimal, fits_bits, parse_number
from deltaweb.sharing.hint_literals import HintLiteral
from deltaweb.sharing.sql_literals import TypedColumn

_Type = exp.DataType.Type
_INTEGERS = {
    _Type.TINYINT: "byte",
    _Type.SMALLINT: "short",
    _Type.INT: "integer",
    _Type.BIGINT: "long",
}
_NAMED = {
    **_INTEGERS,
    _Type.FLOAT: "float",
    _Type.DOUBLE: "double",
    _Type.TEXT: "string",
    _Type.VARCHAR: "string",
    _Type.BOOLEAN: "boolean",
    _Type.BINARY: "binary",
    _Type.DATE: "date",
    _Type.TIMESTAMP: "timestamp",
    _Type.TIMESTAMPTZ: "timestamp",
    _Type.TIMESTAMPLTZ: "timestamp",
    _Type.TIMESTAMPNTZ: "timestamp_ntz",
}
_INTEGER_DIGITS = {"byte": 3, "short": 5, "integer": 10, "long": 19}
_WIDENED = {
    "byte": {"short", "integer", "long", "float", "double"},
    "short": {"integer", "long", "float", "double"},
    "integer": {"long", "double"},
    "float": {"double"},
}
"""Casts of a column that keep each of its values."""


def cast_name(data_type: exp.DataType) -> str:
    """The specification's name of a type of SQL, `decimal`, or empty."""
    if data_type.this == _Type.DECIMAL:
        return "decimal"
    return _NAMED.get(data_type.this, "")


def is_number(data_type: exp.DataType) -> bool:
    """Tell whether a type of SQL is one of numbers."""
    return cast_name(data_type) in {*INTEGER_BITS, "float", "double", "decimal"}


def _decimal_type(data_type: exp.DataType) -> DecimalType:
    numbers = [int(part.name) for part in data_type.expressions]
    precision, scale = (*numbers, *(10, 0)[len(numbers) :])[:2]
    return DecimalType(precision, scale)


def keeps_values(column: TypedColumn, target: exp.DataType) -> bool:
    """Tell whether a cast of the column gives the very values that it holds."""
    name = cast_name(target)
    source = column.data_type
    if isinstance(source, DecimalType):
        digits, scale = source.precision - source.scale, source.scale
    elif isinstance(source, PrimitiveType):
        if source.name == name or name in _WIDENED.get(source.name, ()):
            return True
        digits, scale = _INTEGER_DIGITS.get(source.name, 0), 0
    else:
        return False
    if name != "decimal" or not digits + scale:
        return False
    wide = _decimal_type(target)
    return wide.scale >= scale and wide.precision - wide.scale >= digits


def is_already(literal: HintLiteral, name: str, target: exp.DataType) -> bool:
    """Tell whether a literal is of the type already, however it is written."""
    is_text = literal.kind == "string"
    if name in {"date", "timestamp", "timestamp_ntz", "boolean"}:
        return is_text
    if name in {"float", "double"}:
        return is_text or literal.kind in {"number", "float", "double"}
    if not is_text and literal.kind != "number":
        return False
    try:
        return _is_number_of(literal.text, name, target)
    except ValueError:
        return False


def _is_number_of(text: str, name: str, target: exp.DataType) -> bool:
    if name == "decimal":
        number = parse_number(text)
        return fit_decimal(number, _decimal_type(target)) == number
    # A number as text is spelled by rules of the client's own.
    whole = int(text)
    if name == "string":
        return str(whole) == text
    return name in INTEGER_BITS and fits_bits(whole, INTEGER_BITS[name])
