"""JSON hints: a tree of operations in a text, read loosely.

    {"op": "and", "children": [
        {"op": "equal", "children": [
            {"op": "column", "name": "day", "valueType": "date"},
            {"op": "literal", "value": "2021-04-27", "valueType": "date"}]}, ...]}

Clients cut times to milliseconds before they send them, so a time stands for all of
its millisecond, denied or not.

Source: Delta Sharing PROTOCOL.md, "JSON predicates for filtering".
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from deltaweb.delta.errors import PredicateError
from deltaweb.delta.predicate import IsNull
from deltaweb.delta.schema import DecimalType, PrimitiveType, StructType
from deltaweb.delta.value_text import INTEGER_BITS, fits_bits
from deltaweb.sharing.hint_columns import check_comparable, find_column, is_boolean
from deltaweb.sharing.hint_literals import (
    HintLiteral,
    compare_loosely,
    contained_loosely,
)
from deltaweb.sharing.loose_conditions import (
    Loose,
    all_of,
    any_of,
    denied,
    exactly,
    never_unknown,
)
from deltaweb.sharing.sql_literals import TypedColumn

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_BYTES = 1 << 20
MAX_DEPTH = 100
"""Levels of operations; each is an object and a list of JSON."""

JSONNode: TypeAlias = Mapping[str, object]

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)  # never goes back: it is linear
_COMPARISONS = {
    "equal": "=",
    "equals": "=",
    "equalto": "=",
    "eq": "=",
    "=": "=",
    "==": "=",
    "notequal": "!=",
    "!=": "!=",
    "<>": "!=",
    "lessthan": "<",
    "<": "<",
    "lessthanorequal": "<=",
    "lessthanorequalto": "<=",
    "<=": "<=",
    "greaterthan": ">",
    ">": ">",
    "greaterthanorequal": ">=",
    "greaterthanorequalto": ">=",
    ">=": ">=",
}
_SWAPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TYPES = {
    "bool": "boolean",
    "boolean": "boolean",
    "byte": "byte",
    "short": "short",
    "int": "integer",
    "integer": "integer",
    "long": "long",
    "bigint": "long",
    "float": "float",
    "double": "double",
    "string": "string",
    "date": "date",
    "timestamp": "timestamp",
}
_NUMBERS = frozenset({*INTEGER_BITS, "float", "double"})
_KINDS_BESIDE = {
    **dict.fromkeys(_NUMBERS, _NUMBERS),
    "decimal": _NUMBERS,
    "timestamp_ntz": frozenset({"timestamp"}),
}
"""Types of a literal that a column can be compared with, where not its own alone."""


class MalformedHintError(PredicateError):
    """The text is no tree of operations, so that none of it counts."""


def parse_tree(text: str) -> JSONNode:
    """Parse the text of a hint, within bounds.

    Raises:
        MalformedHintError: It is too long or deep, or no JSON object.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise MalformedHintError(reason=f"it is longer than {MAX_BYTES} bytes")
    if _nesting(text) > 2 * MAX_DEPTH:
        reason = f"it nests deeper than {MAX_DEPTH} operations"
        raise MalformedHintError(reason=reason)
    try:
        # Numbers stay the text that they are.
        tree = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except RecursionError:
        raise MalformedHintError(reason="it nests too deeply") from None
    except ValueError:
        raise MalformedHintError(reason="it is no JSON") from None
    return _node(tree)


def _nesting(text: str) -> int:
    depth = deepest = 0
    for character in re.sub(r"[^\[\]{}]", "", _STRING.sub("", text)):
        depth += 1 if character in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


class JSONHintReader:
    """Reads the JSON hint of one query."""

    def __init__(self, schema: StructType) -> None:
        self.schema = schema
        self.readers: dict[str, Callable[[JSONNode], Loose]] = {
            "and": lambda node: all_of(self.conditions(node)),
            "or": lambda node: any_of(self.conditions(node)),
            "not": self.denial,
            "column": self.boolean_column,
            "isnull": self.null_test,
            "isnotnull": lambda node: denied(self.null_test(node)),
            "nullsafeequal": self.null_safe,
            "<=>": self.null_safe,
            "in": self.in_list,
            **dict.fromkeys(_COMPARISONS, self.comparison),
        }

    def read(self, tree: JSONNode) -> list[tuple[str, Loose | PredicateError]]:
        """Read a tree: each part of its outermost AND with what it says, or why not.

        Raises:
            MalformedHintError: A part is no operation.
        """
        found: list[tuple[str, Loose | PredicateError]] = []
        for part in _conjuncts(tree):
            text = json.dumps(part)
            try:
                found.append((text, self.condition(part)))
            except MalformedHintError:
                raise
            except PredicateError as error:
                found.append((text, error))
        return found

    # === Conditions ===

    def condition(self, node: JSONNode) -> Loose:
        """Read one operation that is a condition."""
        read = self.readers.get(_op(node))
        if read is None:
            name = str(node.get("op"))[:40]
            raise MalformedHintError(reason=f"the operation {name!r} is not understood")
        return read(node)

    def conditions(self, node: JSONNode) -> list[Loose]:
        """The parts of AND and OR."""
        return [self.condition(child) for child in _children(node, least=1)]

    def denial(self, node: JSONNode) -> Loose:
        """Read NOT."""
        (child,) = _children(node, least=1, most=1)
        return denied(self.condition(child))

    def comparison(self, node: JSONNode) -> Loose:
        """Read a column beside a literal, in either order."""
        operator = _COMPARISONS[_op(node)]
        left, right = _children(node, least=2, most=2)
        if _op(left) != "column":
            left, right, operator = right, left, _SWAPPED[operator]
        column = self.comparable(left)
        return compare_loosely(column, operator, _literal(right, column))

    def null_safe(self, node: JSONNode) -> Loose:
        """Read an equality that is false for null."""
        left, right = _children(node, least=2, most=2)
        if _op(left) != "column":
            left, right = right, left
        column = self.comparable(left)
        equal = compare_loosely(column, "=", _literal(right, column))
        return never_unknown(equal, column.path)

    def in_list(self, node: JSONNode) -> Loose:
        """Read a column and the literals it may hold."""
        first, *rest = _children(node, least=2)
        column = self.comparable(first)
        return contained_loosely(column, [_literal(child, column) for child in rest])

    def null_test(self, node: JSONNode) -> Loose:
        """Read the test for null."""
        (child,) = _children(node, least=1, most=1)
        return exactly(IsNull(self.column(child).path))

    def boolean_column(self, node: JSONNode) -> Loose:
        """Read a column that is a condition by itself."""
        column = self.comparable(node)
        if not is_boolean(column):
            reason = f"column {'.'.join(column.path)!r} is no condition"
            raise PredicateError(reason=reason)
        return compare_loosely(column, "=", HintLiteral("boolean", "true"))

    # === Columns ===

    def comparable(self, node: JSONNode) -> TypedColumn:
        """A column whose values all clients compare alike, as the type they say."""
        column = self.column(node)
        check_comparable(self.schema, column)
        if node.get("valueType") is not None:
            _check_kin(_type(node), column)
        return column

    def column(self, node: JSONNode) -> TypedColumn:
        """The column that a leaf names."""
        name = node.get("name")
        if _op(node) != "column" or not isinstance(name, str):
            raise PredicateError(reason="it does not name a column where it has to")
        return find_column(self.schema, name)


# === Nodes ===


def _conjuncts(tree: JSONNode) -> list[JSONNode]:
    parts: list[JSONNode] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if _op(node) == "and":
            waiting += reversed(_children(node, least=1))
        else:
            parts.append(node)
    return parts


def _node(value: object) -> JSONNode:
    if not isinstance(value, dict):
        raise MalformedHintError(reason="an operation in it is no JSON object")
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


def _check_kin(name: str, column: TypedColumn) -> None:
    """Refuse a type that is not the column's, nor compares with it alike anywhere."""
    data_type = column.data_type
    own = "decimal" if isinstance(data_type, DecimalType) else ""
    if isinstance(data_type, PrimitiveType):
        own = data_type.name
    if name not in _KINDS_BESIDE.get(own, {own}):
        reason = (
            f"the valueType {name} is not that of column {'.'.join(column.path)!r}, "
            f"which is {own}"
        )
        raise PredicateError(reason=reason)


def _literal(node: JSONNode, column: TypedColumn) -> HintLiteral:
    value = node.get("value")
    if _op(node) != "literal" or not isinstance(value, str | bool):
        raise PredicateError(reason="it does not compare a column with a value")
    name = _type(node)
    _check_kin(name, column)
    text = value if isinstance(value, str) else str(value).lower()
    if name in INTEGER_BITS:
        _check_whole(text, INTEGER_BITS[name])
        return HintLiteral("number", text.strip())
    return HintLiteral(name, text, is_cut=name == "timestamp")


def _check_whole(text: str, bits: int) -> None:
    try:
        is_whole = fits_bits(int(text), bits)
    except ValueError:
        is_whole = False
    if not is_whole:
        raise PredicateError(reason=f"{text[:40]!r} is no whole number of {bits} bits")
