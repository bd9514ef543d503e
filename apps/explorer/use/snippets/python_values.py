"""Values of conditions as Python writes them, and what that imports."""

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal

from deltaweb.web.explorer.rows.filters import RowFilter
from deltaweb.web.explorer.rows.sql_dialects import Operand
from deltaweb.web.pages.snippets import python_text

PYTHON_OPERATORS = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
_FLOATS = {"float", "double"}


def python_value(operand: Operand, type_name: str) -> str:
    """Return an operand as an expression of Python."""
    match operand:
        case Decimal() if type_name in _FLOATS:
            number = repr(float(operand))
            return number if number[-1].isdigit() else f"float({python_text(number)})"
        case Decimal():
            return f"Decimal({python_text(f'{operand:f}')})"
        case datetime():
            return _datetime(operand)
        case date():
            return f"date({operand.year}, {operand.month}, {operand.day})"
        case str():
            return python_text(operand)
        case _:
            return repr(operand)


def value_imports(filters: Iterable[RowFilter]) -> list[str]:
    """Return the lines of the standard library that the values need."""
    names: set[str] = set()
    decimals = False
    for wanted in filters:
        match wanted.operand:
            case datetime(tzinfo=None):
                names.add("datetime")
            case datetime():
                names |= {"datetime", "timezone"}
            case date():
                names.add("date")
            case Decimal():
                decimals |= wanted.type_name not in _FLOATS
    lines = [f"from datetime import {', '.join(sorted(names))}"] if names else []
    return lines + ["from decimal import Decimal"] * decimals


def _datetime(moment: datetime) -> str:
    parts = [moment.year, moment.month, moment.day, moment.hour, moment.minute]
    parts += [moment.second] * bool(moment.second or moment.microsecond)
    parts += [moment.microsecond] * bool(moment.microsecond)
    zone = ["tzinfo=timezone.utc"] if moment.tzinfo else []
    return f"datetime({', '.join([*map(str, parts), *zone])})"
