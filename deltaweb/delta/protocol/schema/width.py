"""How wide a schema is: counted from its JSON, before anything is built of it."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from deltaweb.environment.bounded_json import parse_json

MAX_SHOWN_FIELDS: Final = 10_000
"""Fields, nested ones too, of a schema that a page still builds."""

MAX_SHOWN_LENGTH: Final = 4_000_000
"""Characters of such a schema as JSON: comments may be long where columns are few."""


class SchemaWidth(NamedTuple):
    """How many columns a schema has."""

    num_columns: int = 0
    num_fields: int = 0


def is_too_wide(schema_string: str) -> bool:
    """Tell whether a schema has more than a page builds and shows."""
    if len(schema_string) > MAX_SHOWN_LENGTH:
        return True
    # Each field is an object; text with as few braces need not be parsed to know.
    if schema_string.count("{") <= MAX_SHOWN_FIELDS:
        return False
    return schema_width(schema_string).num_fields > MAX_SHOWN_FIELDS


def schema_width(schema_string: str) -> SchemaWidth:
    """Count the columns of a schema as the log writes it; none of what is no schema.

    Each object of the JSON becomes its counts as soon as it ends, so memory holds two
    numbers a column, however much the log says of each.
    """
    try:
        found = parse_json(schema_string, object_pairs_hook=_counted)
    except (ValueError, RecursionError):
        return SchemaWidth()
    return found if isinstance(found, SchemaWidth) else SchemaWidth()


def _counted(pairs: list[tuple[str, Any]]) -> SchemaWidth:
    """Count what an object of the JSON nests: a field, or a type with parts."""
    parts = dict(pairs)
    if isinstance(fields := parts.get("fields"), list):
        below = _sum(fields)
        return SchemaWidth(len(fields), below)
    below = _sum(parts.get(key) for key in ("type", *_ITEMS))
    return SchemaWidth(0, below + ("name" in parts and "type" in parts))


_ITEMS: Final = ("elementType", "keyType", "valueType")


def _sum(parts: Iterable[object]) -> int:
    return sum(part.num_fields for part in parts if isinstance(part, SchemaWidth))
