"""Values of conditions as Python writes them, and what that imports."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Final

from apps.explorer.rows.filters import RowFilter
from apps.pages.snippets import python_text
from deltaweb.conditions.tree import Literal


def python_value(literal: Literal) -> str:
    """Return a literal as an expression of Python."""
    text = literal.text
    match literal.kind:
        case "float" | "double":
            return text if text[-1].isdigit() else f"float({python_text(text)})"
        case "number":
            is_decimal = literal.value_type == "decimal"
            return f"Decimal({python_text(text)})" if is_decimal else text
        case "boolean":
            return text.title()
        case "date":
            day = date.fromisoformat(text)
            return f"date({day.year}, {day.month}, {day.day})"
        case "timestamp" | "timestamp_ntz":
            return _datetime(datetime.fromisoformat(text))
    return python_text(text)


def value_imports(filters: Iterable[RowFilter]) -> list[str]:
    """Return the lines of the standard library that the values need."""
    literals = [wanted.literal for wanted in filters if wanted.literal is not None]
    names = {name for one in literals for name in _NAMES.get(one.kind, ())}
    lines = [f"from datetime import {', '.join(sorted(names))}"] if names else []
    has_decimals = any(one.value_type == "decimal" for one in literals)
    return lines + ["from decimal import Decimal"] * has_decimals


_NAMES: Final = {
    "date": ("date",),
    "timestamp": ("datetime", "timezone"),
    "timestamp_ntz": ("datetime",),
}
"""What is imported for a value, by its kind."""


def _datetime(moment: datetime) -> str:
    parts = [moment.year, moment.month, moment.day, moment.hour, moment.minute]
    parts += [moment.second] * bool(moment.second or moment.microsecond)
    parts += [moment.microsecond] * bool(moment.microsecond)
    zone = ["tzinfo=timezone.utc"] if moment.tzinfo else []
    return f"datetime({', '.join([*map(str, parts), *zone])})"
