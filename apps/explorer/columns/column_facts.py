"""What a column's metadata says, in words.

Source: delta_protocol.md, "Column Metadata", "Type Change Metadata"; Spark's
`__CHAR_VARCHAR_TYPE_STRING` and `__COLLATIONS`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.type_widening import TYPE_CHANGES
from deltaweb.delta.protocol.schema import parse_type, type_text

COMMENT = "comment"
_DEFAULT = ("CURRENT_DEFAULT", "EXISTS_DEFAULT")
_GENERATED = "delta.generationExpression"
_INVARIANT = "delta.invariants"
_IDENTITY = "delta.identity."
_DECLARED = "__CHAR_VARCHAR_TYPE_STRING"
_COLLATIONS = "__COLLATIONS"


def column_facts(name: str, metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Say what a column's metadata means, the keys nobody knows as they are.

    Args:
        metadata: What the log keeps about it, but for its comment.
    """
    default = next((metadata[key] for key in _DEFAULT if key in metadata), None)
    if default is not None:
        yield "default", json_text(default)
    if _GENERATED in metadata:
        yield "generated", json_text(metadata[_GENERATED])
    identity = {
        key.removeprefix(_IDENTITY): value
        for key, value in metadata.items()
        if key.startswith(_IDENTITY)
    }
    if identity:
        start, step = identity.get("start", 1), identity.get("step", 1)
        yield "identity", f"from {json_text(start)} by {json_text(step)}"
    if _INVARIANT in metadata:
        yield "invariant", _invariant(metadata[_INVARIANT])
    if _DECLARED in metadata:
        yield "declared as", json_text(metadata[_DECLARED])
    if _COLLATIONS in metadata:
        yield "collation", _collations(name, metadata[_COLLATIONS])
    if TYPE_CHANGES in metadata:
        yield "widened", _widenings(metadata[TYPE_CHANGES])
    known = {COMMENT, _GENERATED, _INVARIANT, _DECLARED, _COLLATIONS, TYPE_CHANGES}
    for key, value in metadata.items():
        if key not in {*known, *_DEFAULT} and not key.startswith(_IDENTITY):
            yield key, json_text(value)


def json_text(value: object) -> str:
    """Return text as it is, nothing for null, and any other JSON as its text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _invariant(value: object) -> str:
    """Return the SQL of an invariant, which the log wraps in JSON twice."""
    try:
        unwrapped = json.loads(value) if isinstance(value, str) else value
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
