"""The shape of LIST and MAP groups, however a writer nested them.

Source: Parquet logical types, "Nested Types", "Lists", "Maps" and their
"Backward-compatibility rules".
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from deltaweb.parquet.schema import Node


class NestingError(ValueError):
    """A LIST or MAP group is not nested as one; the text says how."""


class Part(NamedTuple):
    """A column, or what nests in one: a field, an element, a key or a value."""

    node: Node
    is_repeated_element: bool = False


def list_shape(node: Node, *, is_in_list: bool = False) -> Part:
    """Return the element of a LIST group.

    Args:
        is_in_list: Whether it is the repeated group of a list of two levels: only then
            it may be repeated itself.
    """
    if node.is_repeated and not is_in_list:
        reason = "invalid annotation: a LIST group may not be repeated here"
        raise NestingError(reason)
    children = node.children
    if children is None:
        reason = "invalid annotation: LIST cannot annotate a primitive"
        raise NestingError(reason)
    if len(children) != 1:
        reason = "invalid LIST: the group must have one field"
        raise NestingError(reason)
    (repeated,) = children
    if not repeated.is_repeated:
        reason = "invalid LIST: the field of the group must be repeated"
        raise NestingError(reason)
    fields = repeated.children
    if fields is None or _is_element(node, repeated, fields):
        return Part(repeated, is_repeated_element=True)
    return Part(fields[0])


def _is_element(group: Node, repeated: Node, fields: Sequence[Node]) -> bool:
    """Whether the repeated group is the element (rules 2 to 4), or its field is (5)."""
    if len(fields) != 1:
        return True
    if repeated.kind in {"LIST", "MAP", "MAP_KEY_VALUE"} or fields[0].is_repeated:
        return True
    return repeated.name in {"array", f"{group.name}_tuple"}


def map_shape(node: Node, *, is_in_list: bool = False) -> tuple[Node, Node | None]:
    """Return the key and the value of a MAP group.

    Args:
        is_in_list: Whether it is the repeated group of a list of two levels: only then
            it may be repeated itself.
    """
    children = node.children
    if children is None:
        reason = "invalid annotation: MAP cannot annotate a primitive"
        raise NestingError(reason)
    if node.is_repeated and not is_in_list:
        reason = "invalid annotation: a MAP group may not be repeated here"
        raise NestingError(reason)
    if len(children) != 1:
        reason = "invalid MAP: the group must have one field"
        raise NestingError(reason)
    (entries,) = children
    if not entries.is_repeated or entries.children is None:
        reason = "invalid MAP: the field of the group must be a repeated group"
        raise NestingError(reason)
    if len(entries.children) not in {1, 2}:
        reason = "invalid MAP: the repeated group must have a key and at most one value"
        raise NestingError(reason)
    value = entries.children[1] if len(entries.children) > 1 else None
    return entries.children[0], value


def parts_of(whole: Part) -> tuple[Part, ...]:
    """Return the fields, the element, or key and value; none of what is one value.

    Nodes that only repeat are left out. A repeated node that is no list's has none: it
    has no node for its element alone.
    """
    node, is_element = whole
    try:
        match node.kind:
            case "LIST":
                return (list_shape(node, is_in_list=is_element),)
            case "MAP":
                shape = map_shape(node, is_in_list=is_element)
                return tuple(Part(one) for one in shape if one is not None)
    except NestingError:
        return ()
    if node.kind is not None or (node.is_repeated and not is_element):
        return ()
    return tuple(map(Part, node.children or ()))


def faults(column: Node) -> Iterator[tuple[Node, str]]:
    """Yield the nodes of a column whose annotations do not fit them, each with why.

    An annotation may not fit its physical type, or a list or a map is not nested as
    one.
    """
    stack = [Part(column)]
    while stack:
        node, is_in_list = stack.pop()
        element, fault = None, node.invalid
        try:
            if fault is None and node.kind == "LIST":
                shape = list_shape(node, is_in_list=is_in_list)
                element = shape.node if shape.is_repeated_element else None
            elif fault is None and node.kind == "MAP":
                map_shape(node, is_in_list=is_in_list)
        except NestingError as error:
            fault = str(error)
        if fault is not None:
            yield node, fault
        stack += [
            Part(child, child is element) for child in reversed(node.children or ())
        ]
