"""Values of JSON as a file writes them, and what is wrong with others, in our words.

Source: RFC 8259, "JSON Grammar".
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructType,
    type_text,
)
from deltaweb.delta.values.exact_json import ExactNumber, exact_json
from deltaweb.words import cut
from deltaweb.writer.importing.text_values import INTEGER_BITS, why_none

MAX_SHOWN: Final = 60
_FAULTS: Final[Mapping[str, str]] = {
    "Expecting ',' delimiter": "a comma, or the end of what was begun, is missing",
    "Expecting ':' delimiter": "a colon is missing after a name",
    "Expecting property name": "a name in double quotes is missing",
    "Expecting value": "a value is missing, or is not one that JSON has",
    "Extra data": "something follows the end of the row",
    "Illegal trailing comma": "a comma stands before the end",
    "Invalid \\": "a text has an escape that JSON has not",
    "Invalid control "
    "character": "a text has a control character, which is not an escape",
    "Unterminated string": "a text does not end",
}
"""By how the parser's own words begin."""


def json_text(value: object) -> str:
    """Return a value as JSON, its numbers as the file writes them."""
    return exact_json(value, blank=" ")


def json_fault(error: Exception) -> str:
    """Say in half a sentence why a line is no JSON, and where."""
    if isinstance(error, json.JSONDecodeError):
        said = next(
            (words for start, words in _FAULTS.items() if error.msg.startswith(start)),
            "it is not of the grammar",
        )
        return f"it is not JSON: {said}, at character {error.colno:,}"
    if isinstance(error, UnicodeDecodeError):
        return "it is not JSON: it is not UTF-8 text"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "it is not JSON"


def misfit(value: Any, data_type: DataType, path: str = "") -> str:  # noqa: ANN401  # any JSON
    """Say in half a sentence which part of a value is not of its type; empty if all is.

    Args:
        value: As a line of JSON has it, numbers as text.
    """
    match value, data_type:
        case None, _:
            return ""
        case dict(), StructType(fields):
            known = {field.name: field.data_type for field in fields}
            more = sorted(value.keys() - known.keys())
            if more:
                return f"{type_text(data_type)} has no field {more[0]!r}"
            parts = [(f"{path}.{name}", value.get(name), known[name]) for name in known]
        case dict(), MapType(_, inside):
            parts = [(f"{path}[{key!r}]", one, inside) for key, one in value.items()]
        case list(), ArrayType(element):
            parts = [(f"{path}[{n}]", one, element) for n, one in enumerate(value)]
        case _, PrimitiveType() | DecimalType():
            return _scalar_misfit(value, data_type, path)
        case _:
            return (
                f"{_subject(path)}{_shown(value)} is not a valid {type_text(data_type)}"
            )
    return next(filter(None, (misfit(one, kind, at) for at, one, kind in parts)), "")


def _scalar_misfit(value: Any, data_type: DataType, path: str) -> str:  # noqa: ANN401  # any JSON
    is_number = isinstance(value, ExactNumber)
    match data_type:
        case PrimitiveType("string"):
            fits = isinstance(value, str) and not is_number
        case PrimitiveType("boolean"):
            fits = isinstance(value, bool)
        case PrimitiveType(name) if name in INTEGER_BITS:
            fits = is_number and _is_whole(value, INTEGER_BITS[name])
        case PrimitiveType("float" | "double"):
            fits = is_number or value in {"NaN", "Infinity", "-Infinity"}
        case _:
            return ""
    if fits:
        return ""
    if is_number:
        return f"{_subject(path)}{_shown(value)} is {why_none(value, data_type)}"
    return f"{_subject(path)}{_shown(value)} is not a valid {type_text(data_type)}"


def _is_whole(text: str, bits: int) -> bool:
    digits = text.removeprefix("-")
    return digits.isdecimal() and -(1 << bits) <= int(text) < 1 << bits


def _subject(path: str) -> str:
    return f"{path.removeprefix('.')}: " if path else ""


def _shown(value: Any) -> str:  # noqa: ANN401  # any JSON
    return cut(json_text(value), MAX_SHOWN)
