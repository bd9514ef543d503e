"""Variants whose values tell their types, as a tree, and as plain JSON again.

Source: delta_protocol.md, "Variant Data Type"; `variants.variant_texts`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from deltaweb.delta.values.exact_json import exact_json, parse_exact

MAX_NODES: Final = 500
"""Values that a tree shows; a variant of more is only shown as text."""


@dataclass(frozen=True, slots=True)
class VariantNode:
    """A value in a variant.

    Attributes:
        name: Of the member, or the position in an array; empty for the variant itself.
        type_name: Its type by Spark's word: `object`, `array`, `decimal`, `date`.
    """

    name: str
    type_name: str
    text: str = ""
    nodes: "tuple[VariantNode, ...]" = ()


def variant_tree(text: str, *, max_nodes: int = MAX_NODES) -> VariantNode | None:
    """Return a variant as a tree; None for one of more values than that shows."""
    typed = parse_exact(text)
    if sum(1 for _ in _values(typed)) > max_nodes:
        return None
    return _node("", typed)


def plain_variant(text: str) -> str:
    """Return the JSON text of a variant that comes with types."""
    return _plain(parse_exact(text))


def _values(typed: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield typed
    for _, part in _parts(typed):
        yield from _values(part)


def _parts(typed: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    value = typed["value"]
    if typed["type"] == "object":
        yield from value.items()
    elif typed["type"] == "array":
        yield from ((str(position), part) for position, part in enumerate(value))


def _node(name: str, typed: Mapping[str, Any]) -> VariantNode:
    value, kind = typed["value"], typed["type"]
    nodes = tuple(_node(name, part) for name, part in _parts(typed))
    if kind in {"object", "array"}:
        return VariantNode(name, kind, nodes=nodes)
    return VariantNode(
        name, kind, value if isinstance(value, str) else exact_json(value)
    )


def _plain(typed: Mapping[str, Any]) -> str:
    if typed["type"] == "object":
        members = (f"{exact_json(name)}:{_plain(part)}" for name, part in _parts(typed))
        return "{" + ",".join(members) + "}"
    if typed["type"] == "array":
        return "[" + ",".join(_plain(part) for _, part in _parts(typed)) + "]"
    return exact_json(typed["value"])
