"""JSON hints as people read them: `day >= '2026-01-01' AND amount > 100`."""

from typing import Final

from deltaweb.conditions.json import JSONNode, parse_tree
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.scan.operators import SIGNS

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
