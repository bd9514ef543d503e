"""JSON hints: a tree of operations in a text, read loosely.

    {"op": "and", "children": [
        {"op": "equal", "children": [
            {"op": "column", "name": "day", "valueType": "date"},
            {"op": "literal", "value": "2021-04-27", "valueType": "date"}]}, ...]}

Clients cut times to milliseconds before they send them, so a time stands for all of
its millisecond, denied or not. One without a zone may be of any.

Source: Delta Sharing PROTOCOL.md, "JSON predicates for filtering".
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from deltaweb.conditions import tree
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.scan.operators import OPERATORS, SIGNS
from deltaweb.delta.values.value_text import INTEGER_BITS, fits_bits
from deltaweb.environment.bounded_json import parse_json

MAX_BYTES = 1 << 20
MAX_DEPTH = 100
"""Levels of operations; each is an object and a list of JSON."""

JSONNode: TypeAlias = Mapping[str, object]

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)  # never goes back: it is linear
_FLOATS = ("float", "double")
_PLAIN = (*_FLOATS, "string", "boolean", "date", "timestamp")
_TYPES = {name: name for name in (*INTEGER_BITS, *_PLAIN)} | {
    "bool": "boolean",
    "int": "integer",
    "bigint": "long",
}


class MalformedHintError(PredicateError):
    """The text is no tree of operations, so that none of it counts."""


def parse_tree(text: str) -> JSONNode:
    """Parse the text of a hint, within bounds."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise MalformedHintError(reason=f"it is longer than {MAX_BYTES} bytes")
    if _nesting(text) > 2 * MAX_DEPTH:
        reason = f"it nests deeper than {MAX_DEPTH} operations"
        raise MalformedHintError(reason=reason)
    try:
        # Numbers stay the text that they are.
        value = parse_json(text, parse_int=str, parse_float=str, parse_constant=str)
    except RecursionError:
        raise MalformedHintError(reason="it nests too deeply") from None
    except ValueError:
        raise MalformedHintError(reason="it is not JSON") from None
    return _node(value)


def _nesting(text: str) -> int:
    depth = deepest = 0
    for character in re.sub(r"[^\[\]{}]", "", _STRING.sub("", text)):
        depth += 1 if character in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def conjuncts(outermost: JSONNode) -> list[tuple[str, JSONNode]]:
    """The parts of the outermost AND, each with its text."""
    parts: list[JSONNode] = []
    waiting = [outermost]
    while waiting:
        node = waiting.pop()
        if _op(node) == "and":
            waiting += reversed(_children(node, least=1))
        else:
            parts.append(node)
    return [(json.dumps(part), part) for part in parts]


def read_condition(node: JSONNode) -> tree.Node:
    op = _op(node)
    if op in SIGNS:
        left, right = _children(node, least=2, most=2)
        operator = SIGNS[op]
        if _op(left) != "column":
            left, right, operator = right, left, OPERATORS[operator].swapped
        column = _column(left)
        return tree.Compare(operator, column, _literal(right, beside=column))
    match op:
        case "and" | "or":
            parts = tuple(map(read_condition, _children(node, least=1)))
            return tree.And(parts) if op == "and" else tree.Or(parts)
        case "not":
            (child,) = _children(node, least=1, most=1)
            return tree.Not(read_condition(child))
        case "isnull" | "isnotnull":
            (child,) = _children(node, least=1, most=1)
            test = tree.Compare("IS", _column(child), tree.Literal("null"))
            return test if op == "isnull" else tree.Not(test)
        case "in":
            first, *rest = _children(node, least=2)
            column = _column(first)
            values = [_literal(value, beside=column) for value in rest]
            return tree.OneOf(column, tuple(values))
        case "column":
            return _column(node)
    name = str(node.get("op"))[:40]
    raise MalformedHintError(reason=f"the operation {name!r} is not understood")


# === Nodes ===


def _node(value: object) -> JSONNode:
    if not isinstance(value, dict):
        raise MalformedHintError(reason="an operation in it is not a JSON object")
    return value


def _op(node: JSONNode) -> str:
    op = node.get("op")
    if not isinstance(op, str):
        raise MalformedHintError(reason="an operation in it has no name `op`")
    return op.lower()


def _children(
    node: JSONNode, *, least: int, most: int | None = None
) -> Sequence[JSONNode]:
    children = node.get("children")
    if (
        not isinstance(children, list)
        or len(children) < least
        or (most is not None and len(children) > most)
    ):
        reason = f"the operation {_op(node)[:40]!r} has not the children it needs"
        raise MalformedHintError(reason=reason)
    return [_node(child) for child in children]


# === Leaves ===


def _type(node: JSONNode) -> str:
    name = node.get("valueType")
    known = _TYPES.get(name.lower()) if isinstance(name, str) else None
    if known is None:
        reason = f"the valueType {str(name)[:40]!r} is not understood"
        raise PredicateError(reason=reason)
    return known


def _column(node: JSONNode) -> tree.Column:
    name = node.get("name")
    if _op(node) != "column" or not isinstance(name, str):
        raise PredicateError(reason="it does not name a column where it has to")
    has_type = node.get("valueType") is not None
    return tree.Column(name, value_type=_type(node) if has_type else "")


def _literal(node: JSONNode, *, beside: tree.Column) -> tree.Literal:
    """The value that a leaf writes; beside a column cast to a float it is one, too."""
    value = node.get("value")
    if _op(node) != "literal" or not isinstance(value, str | bool):
        raise PredicateError(reason="it does not compare a column with a value")
    name = _type(node)
    text = value if isinstance(value, str) else str(value).lower()
    if name in INTEGER_BITS:
        _check_whole(text, INTEGER_BITS[name])
        kind = beside.value_type if beside.value_type in _FLOATS else "number"
        return tree.Literal(kind, text.strip(), value_type=name)
    if name == "double" and beside.value_type == "float":
        return tree.Literal("float", text, value_type=name)
    is_time = name == "timestamp"
    return tree.Literal(
        name, text, value_type=name, is_cut=is_time, zone_is_unknown=is_time
    )


def _check_whole(text: str, bits: int) -> None:
    try:
        is_whole = fits_bits(int(text), bits)
    except ValueError:
        is_whole = False
    if not is_whole:
        raise PredicateError(
            reason=f"{text[:40]!r} is not a whole number of {bits} bits"
        )


# === As people read it ===


_QUOTED: Final = ("string", "date", "timestamp")
_TESTS: Final = {"isnull": "IS NULL", "isnotnull": "IS NOT NULL"}


def json_hint_text(text: str) -> str:
    """Return a hint as text; one that does not parse stands as it came."""
    try:
        return _text(parse_tree(text))
    except PredicateError:
        return text


def _text(node: JSONNode) -> str:  # noqa: PLR0911 (a line a kind of operation)
    op = str(node.get("op", "")).lower()
    if op == "column":
        return str(node.get("name"))
    if op == "literal":
        value = str(node.get("value"))
        return f"'{value}'" if node.get("valueType") in _QUOTED else value
    listed = node.get("children")
    parts = [
        _text(child)
        for child in (listed if isinstance(listed, list) else ())
        if isinstance(child, dict)
    ]
    if op == "and":
        return " AND ".join(parts)
    if op == "or":
        return f"({' OR '.join(parts)})"
    if op in SIGNS:
        return f" {SIGNS[op]} ".join(parts)
    if op in _TESTS:
        return f"{', '.join(parts)} {_TESTS[op]}"
    if op == "in":
        return f"{parts[0] if parts else ''} IN ({', '.join(parts[1:])})"
    return f"{op.upper()} ({', '.join(parts)})"
