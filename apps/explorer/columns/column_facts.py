"""What a column's metadata says, in words.

Source: delta_protocol.md, "Column Metadata", "Type Change Metadata"; Spark's
`__CHAR_VARCHAR_TYPE_STRING` and `__COLLATIONS`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.schema import parse_type, type_text
from deltaweb.delta.protocol.schema.field_keys import (
    CHAR_TYPE,
    COLLATIONS,
    COMMENT,
    DEFAULT,
    EXISTS_DEFAULT,
    GENERATION,
    IDENTITY,
    INVARIANTS,
    TYPE_CHANGES,
)
from deltaweb.environment.bounded_json import parse_json

_DEFAULT = (DEFAULT, EXISTS_DEFAULT)


def column_facts(name: str, metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Say what a column's metadata means, the keys nobody knows as they are.

    Args:
        metadata: What the log keeps about it, but for its comment.
    """
    default = next((metadata[key] for key in _DEFAULT if key in metadata), None)
    if default is not None:
        yield "default", json_text(default)
    if GENERATION in metadata:
        yield "generated", json_text(metadata[GENERATION])
    identity = {
        key.removeprefix(IDENTITY): value
        for key, value in metadata.items()
        if key.startswith(IDENTITY)
    }
    if identity:
        start, step = identity.get("start", 1), identity.get("step", 1)
        yield "identity", f"from {json_text(start)} by {json_text(step)}"
    if INVARIANTS in metadata:
        yield "invariant", _invariant(metadata[INVARIANTS])
    if CHAR_TYPE in metadata:
        yield "declared as", json_text(metadata[CHAR_TYPE])
    if COLLATIONS in metadata:
        yield "collation", _collations(name, metadata[COLLATIONS])
    if TYPE_CHANGES in metadata:
        yield "widened", _widenings(metadata[TYPE_CHANGES])
    known = {COMMENT, GENERATION, INVARIANTS, CHAR_TYPE, COLLATIONS, TYPE_CHANGES}
    for key, value in metadata.items():
        if key not in {*known, *_DEFAULT} and not key.startswith(IDENTITY):
            yield key, json_text(value)


def json_text(value: object) -> str:
    """Return text as it is, nothing for null, and any other JSON as its text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _invariant(value: object) -> str:
    """Return the SQL of an invariant, which the log wraps in JSON twice."""
    try:
        unwrapped = parse_json(value) if isinstance(value, str) else value
        return json_text(unwrapped["expression"]["expression"])  # type: ignore[index]  # JSON of any shape
    except (ValueError, TypeError, KeyError, RecursionError):
        return json_text(value)


def _collations(name: str, value: object) -> str:
    """Return how texts are compared: `UTF8_LCASE`, or where a part of the column is."""
    if not isinstance(value, dict):
        return json_text(value)
    parts = (
        (path.removeprefix(name).removeprefix("."), json_text(collation))
        for path, collation in value.items()
    )
    return ", ".join(
        f"{place}: {collation}" if place else collation for place, collation in parts
    )


def _widenings(value: object) -> str:
    """Return what the type of the column, or of a part of it, was before."""
    try:
        return ", ".join(_widening(change) for change in value)  # type: ignore[attr-defined]  # JSON of any shape
    except (TypeError, KeyError, AttributeError, SchemaError):
        return json_text(value)


def _widening(change: Mapping[str, Any]) -> str:
    narrow, wide = (
        type_text(parse_type(change[key])) for key in ("fromType", "toType")
    )
    place = change.get("fieldPath")
    return f"{f'{json_text(place)}: ' if place else ''}{narrow} to {wide}"
