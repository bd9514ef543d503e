"""Physical values to values of their type: lists, maps, variants and leaves as JSON.

What a neutral footer gives is a list for each repeated node, an object for each group,
and the physical value of a leaf.

Source: Parquet logical types.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

from deltaweb.parquet.annotations import UNIT_DIGITS
from deltaweb.parquet.nesting import NestingError, Part, list_shape, map_shape
from deltaweb.parquet.rendering import JSON, render, text_or_hex
from deltaweb.parquet.schema import Node
from deltaweb.parquet.values import variant
from deltaweb.parquet.values.bson import render_bson
from deltaweb.parquet.values.wkb import render_wkb

Physical: TypeAlias = Any
"""A value as the neutral footer has it: a tuple for a group, a list where repeated."""
SQL_NULL: Final = None
VARIANT_NULL: Final = {"variant": None}
_MISSING: Final = object()


def shape_value(node: Node, value: Physical, *, is_in_list: bool = False) -> JSON:
    """Return one value of a node, which is no longer repeated, as JSON."""
    if value is None:
        return None
    if node.children is None:
        return _leaf(node, value)
    held = [child for child in node.children if has_leaves(child)]
    members = dict(zip(map(id, held), value, strict=True))
    if node.invalid is None:
        try:
            if node.kind == "LIST":
                return _list(list_shape(node, is_in_list=is_in_list), node, members)
            if node.kind == "MAP":
                return _map(map_shape(node, is_in_list=is_in_list), node, members)
        except NestingError:
            pass
        if node.kind == "VARIANT":
            return _variant(node, members)
    return {
        name: shape_field(child, members[id(child)])
        for name, child in zip(field_names(held), held, strict=True)
    }


def field_names(nodes: Sequence[Node]) -> list[str]:
    """Return the names of fields in an object; one that is there again gets a number.

    Parquet lets names repeat, and no value is left out for it.
    """
    names = [node.name for node in nodes]
    taken = set(names)
    if len(taken) == len(names):
        return names
    seen: Counter[str] = Counter()
    for place, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            while (numbered := f"{name} ({seen[name]})") in taken:
                seen[name] += 1
            names[place] = numbered
            taken.add(numbered)
    return names


def has_leaves(node: Node) -> bool:
    """Whether any column is below a node: a group without one holds no values."""
    return next(node.leaves(), None) is not None


def shape_field(node: Node, value: Physical) -> JSON:
    """Return a field of a group, which may be repeated."""
    if node.is_repeated and value is not None:
        return [shape_value(node, each) for each in value]
    return shape_value(node, value)


def _list(shape: Part, node: Node, members: Mapping[int, Physical]) -> JSON:
    (repeated,) = node.children or ()
    found = members[id(repeated)] or ()
    if shape.is_repeated_element:
        return [shape_value(repeated, each, is_in_list=True) for each in found]
    return [shape_field(shape.node, each[0]) for each in found]


def _map(
    shape: tuple[Node, Node | None], node: Node, members: Mapping[int, Physical]
) -> JSON:
    key_node, value_node = shape
    (entries,) = node.children or ()
    if value_node is None:
        keys = members[id(entries)] or ()
        return [shape_field(key_node, entry[0]) for entry in keys]
    pairs: dict[str, list[JSON]] = {}
    for entry in members[id(entries)] or ():
        key = shape_field(key_node, entry[0])
        value = shape_field(value_node, entry[1])
        # The last value of a key wins, where its first one stands.
        pairs[repr(key)] = [key, value]
    return list(pairs.values())


def _leaf(node: Node, value: Physical) -> JSON:
    annotation = None if node.invalid else node.annotation
    if isinstance(value, bytes):
        if annotation is not None and annotation.kind == "BSON":
            return render_bson(value)
        if annotation is not None and annotation.kind in {"GEOMETRY", "GEOGRAPHY"}:
            return render_wkb(value)
    return render(value, annotation, node.element.physical_type)


def _variant(node: Node, members: Mapping[int, Physical]) -> JSON:
    by_name = {child.name: child for child in node.children or ()}
    metadata = members[id(by_name["metadata"])]
    try:
        names = variant.parse_dictionary(metadata)
        value = _unshred(by_name, members, names)
    except variant.VariantError as error:
        return {"unreadable": str(error)}
    if value is _MISSING:
        return SQL_NULL
    return VARIANT_NULL if value is None else value


def _unshred(
    by_name: Mapping[str, Node], members: Mapping[int, Physical], names: Sequence[str]
) -> JSON:
    """Return a value that is plain, shredded, or in part each.

    Source: Parquet's "Variant Shredding".
    """
    value_node, typed_node = by_name.get("value"), by_name.get("typed_value")
    raw = None if value_node is None else members[id(value_node)]
    typed = None if typed_node is None else members[id(typed_node)]
    if typed is None or typed_node is None:
        return _MISSING if raw is None else variant.decode_variant(raw, names)
    if typed_node.kind == "LIST":
        return _typed_list(typed_node, typed, names)
    if typed_node.children is None:
        return _typed_leaf(typed_node, typed)
    found = {}
    for child, part in zip(typed_node.children, typed, strict=True):
        member = _MISSING if part is None else _typed_group(child, part, names)
        if member is not _MISSING:
            found[child.name] = member
    rest = None if raw is None else variant.decode_variant(raw, names)
    return variant.merge_objects(found, rest)


def _typed_group(node: Node, value: Physical, names: Sequence[str]) -> JSON:
    children = node.children or ()
    members = dict(zip((id(child) for child in children), value, strict=True))
    return _unshred({child.name: child for child in children}, members, names)


def _typed_list(node: Node, value: Physical, names: Sequence[str]) -> list[JSON]:
    element, is_repeated_element = list_shape(node)
    elements = value[0] or ()
    if not is_repeated_element:
        elements = [each[0] for each in elements]
    found = [_typed_group(element, each, names) for each in elements]
    return [None if each is _MISSING else each for each in found]


def _typed_leaf(  # noqa: PLR0911 (a return for each type)
    node: Node, value: Physical
) -> JSON:
    """Return a shredded value as the variant that it is."""
    annotation = None if node.invalid else node.annotation
    match None if annotation is None else annotation.kind:
        case "DATE":
            return variant.date_json(value)
        case "TIME":
            return variant.time_json(value)
        case "TIMESTAMP" if annotation is not None:
            digits = UNIT_DIGITS.get(annotation.unit, 6)
            return variant.timestamp_json(value, digits, is_utc=annotation.is_utc)
        case "DECIMAL" if annotation is not None:
            unscaled = value
            if isinstance(value, bytes):
                unscaled = int.from_bytes(value, "big", signed=True)
            return variant.decimal_json(Decimal(unscaled).scaleb(-annotation.scale))
        case "UUID":
            return variant.uuid_json(value)
        case "STRING":
            return text_or_hex(value)
        case None if isinstance(value, bytes):
            return variant.bytes_json(value)
        case _:
            return render(value, annotation, node.element.physical_type)
