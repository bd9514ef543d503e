"""Statistics that a writer put into the log as an object, not as its JSON text.

The specification's table calls them a "Statistics Struct", and some writers take it at
its word. All readers want the text, so they get it: with every number as its digits
stand in the log, since a decimal or a long does not survive as a double.

Source: delta_protocol.md, "Add File and Remove File".
"""

from collections.abc import Mapping
from typing import Any, Final

from deltaweb.delta.values.exact_json import exact_json, parse_exact

_FILE_ACTIONS: Final = ("add", "remove")
_STATISTICS: Final = "stats"


def statistics_as_text(action: dict[str, Any], line: bytes) -> dict[str, Any]:
    """Return an action whose statistics, where they are an object, are its text."""
    given = [name for name in _FILE_ACTIONS if _has_object(action.get(name))]
    if not given:
        return action
    written = parse_exact(line)
    return action | {
        name: action[name]
        | {_STATISTICS: exact_json(written[name][_STATISTICS], is_ascii=True)}
        for name in given
    }


def _has_object(file: object) -> bool:
    return isinstance(file, Mapping) and isinstance(file.get(_STATISTICS), Mapping)
