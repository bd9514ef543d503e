"""Numbers of answers, which are texts where a provider writes JSON as protobuf does.

Source: Protocol Buffers, "ProtoJSON Format": int64 is a string.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

MAX: Final = 2**63
_TEXT_COUNT: Final = re.compile(r'("numRecords"\s*:\s*)"(0|[1-9][0-9]{0,17})"')
_DIGITS: Final = re.compile(r"-?[0-9]{1,19}", re.ASCII)


def whole(value: object) -> int | None:
    """Return a number from 0 to 2^63 - 1, also of a text; None for any other value."""
    match value:
        case bool():
            return None
        case str() if _DIGITS.fullmatch(value):
            value = int(value)
        case float() if value.is_integer():
            value = int(value)
    return value if isinstance(value, int) and 0 <= value < MAX else None


def with_numbers(action: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return an action whose fields of these names are numbers where they are texts.

    Raises:
        ValueError: If a text is not a number.
    """
    odd = [name for name in names if isinstance(action.get(name), str | float)]
    found = {name: whole(action[name]) for name in odd}
    if None in found.values():
        raise ValueError(odd)
    return {**action, **found}


def stats_with_numbers(stats: str) -> str:
    """Return statistics whose row count is a number where it is a text.

    Other values stay, because one of another type counts as unknown.
    """
    return _TEXT_COUNT.sub(r"\1\2", stats)
