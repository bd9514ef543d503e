"""Type widening: data files of a column may be of a narrower type than it is.

Values of older files are widened as they are read (`deltaweb.delta.values`); here is
which changes of a type the specification knows. A schema that tells of another one is
refused by its name.

Source: delta_protocol.md, "Type Widening".
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.feature import Feature
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    parse_type,
    type_text,
)
from deltaweb.delta.protocol.schema.field_keys import TYPE_CHANGES
from deltaweb.environment.bounded_json import parse_json

TYPE_WIDENING: Final = "typeWidening"
SHOWN_CHANGES: Final = 3  # of those that are not known

FEATURE: Final = Feature(TYPE_WIDENING, is_written=True)
PREVIEW: Final = Feature(f"{TYPE_WIDENING}-preview", is_written=True)

WIDER: Final[Mapping[str, frozenset[str]]] = {
    "byte": frozenset({"short", "integer", "long", "double"}),
    "short": frozenset({"integer", "long", "double"}),
    "integer": frozenset({"long", "double"}),
    "float": frozenset({"double"}),
    "date": frozenset({"timestamp_ntz"}),
}
WHOLE_DIGITS: Final[Mapping[str, int]] = {
    "byte": 10,
    "short": 10,
    "integer": 10,
    "long": 20,
}
"""Digits before the point that a decimal has that a whole number is widened to."""


def is_widening(narrow: DataType, wide: DataType) -> bool:
    """Return whether the specification lets a column of one type become another."""
    if narrow == wide:
        return True
    if isinstance(wide, DecimalType):
        if isinstance(narrow, DecimalType):
            digits, scale = narrow.precision, narrow.scale
        elif isinstance(narrow, PrimitiveType) and narrow.name in WHOLE_DIGITS:
            digits, scale = WHOLE_DIGITS[narrow.name], 0
        else:
            return False
        return wide.precision - digits >= wide.scale - scale >= 0
    if isinstance(narrow, PrimitiveType) and isinstance(wide, PrimitiveType):
        return wide.name in WIDER.get(narrow.name, ())
    return False


def unknown_type_changes(protocol: Protocol, metadata: Metadata) -> list[str]:
    """Return the changes of types that no text defines, each with its column.

    They are looked for where the protocol knows of widening: elsewhere what a schema
    tells of changes means nothing.
    """
    known = {FEATURE.name, PREVIEW.name}
    if known.isdisjoint(protocol.reader_features or ()):
        return []
    if TYPE_CHANGES not in (metadata.schema_string or ""):
        return []
    try:
        schema = parse_json(metadata.schema_string or "")
    except (ValueError, RecursionError):
        return []  # a schema that does not parse is refused as that
    changes = {_unknown_change(name, change) for name, change in _changes(schema)}
    return sorted(changes - {""})[:SHOWN_CHANGES]


def _changes(schema: object) -> Iterator[tuple[str, object]]:
    """Yield each change of a type with the column it is about, at any depth."""
    pending: list[tuple[str, object]] = [("", schema)]
    while pending:
        name, part = pending.pop()
        if isinstance(part, list):
            pending += [(name, item) for item in part]
        if not isinstance(part, dict):
            continue
        own = f"{name}.{part['name']}".lstrip(".") if "name" in part else name
        pending += [
            (own, part[key])
            for key in ("type", "fields", "elementType", "keyType", "valueType")
            if isinstance(part.get(key), dict | list)
        ]
        said = part.get("metadata")
        changes = said.get(TYPE_CHANGES) if isinstance(said, dict) else None
        if changes is not None:
            yield from (
                (own, change)
                for change in (changes if isinstance(changes, list) else [changes])
            )


def _unknown_change(column: str, change: object) -> str:
    """Return a change of a type as text, "" where it is known."""
    said: Mapping[str, Any] = change if isinstance(change, dict) else {}
    try:
        narrow, wide = (parse_type(said.get(key)) for key in ("fromType", "toType"))
    except SchemaError:
        return f"{TYPE_WIDENING} of {column[:80]} to a type that is not known"
    if is_widening(narrow, wide):
        return ""
    return (
        f"{TYPE_WIDENING} of {column[:80]} from {type_text(narrow)} to "
        f"{type_text(wide)}"
    )
