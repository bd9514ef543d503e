"""The text of a value, the same on every page, in CSV, in JSON and from commands.

It is of values as `python_values` has them, and loads nothing of Arrow.
"""

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal


def cell_text(value: object) -> str:
    """Return a value that is not null as text, the same wherever one is written.

    Nested values are JSON, bytes hexadecimal, times ISO 8601 in UTC with a Z.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, dict | list | tuple):
        return json.dumps(json_shape(value), ensure_ascii=False)
    return str(plain_value(value))


def number_text(value: float | Decimal) -> str:
    """Return a number with all its digits, a decimal with its scale.

    A double has the fewest digits that mean it, as its number in JSON has. What is no
    number, or is endless, is spelled as Spark and the log spell it.
    """
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value).replace("inf", "Infinity").replace("nan", "NaN")


def json_shape(value: object) -> object:
    """Return a nested value as JSON holds it; pairs of a map are lists of two."""
    if isinstance(value, dict):
        return {key: json_shape(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_shape(item) for item in value]
    return plain_value(value)


def plain_value(value: object) -> object:
    """Return text for what JSON has no exact form of, and any other value as it is."""
    match value:
        case datetime():
            return _time_text(value)
        case date():
            return value.isoformat()
        case Decimal():
            return number_text(value)
        case bytes():
            return value.hex()
        case float() if not math.isfinite(value):
            return number_text(value)
        case _:
            return value


def _time_text(moment: datetime) -> str:
    if moment.tzinfo is None:
        return moment.isoformat()
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
