"""What `_last_checkpoint` says, where it is as it was written.

Its checksum is an MD5 of its values in one canonical order, so that a hint that was
torn, or edited, is not one.

Source: delta_protocol.md, "Last Checkpoint File" and "JSON checksum".
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from deltaweb.delta.values.exact_json import ExactNumber, parse_exact
from deltaweb.environment.bounded_json import parse_json

CHECKSUM: Final = "checksum"
_LITERALS: Final[Mapping[object, str]] = {True: "true", False: "false", None: "null"}


def load_hint(data: bytes | None) -> Mapping[str, Any] | None:
    """Return the fields of a hint, None for none and for one that is broken."""
    try:
        hint = parse_json(data or b"", object_pairs_hook=_distinct)
        if not isinstance(hint, dict):
            return None
        if isinstance(hint.get(CHECKSUM), str) and hint[CHECKSUM] != checksum_of(data):
            return None
    except (ValueError, RecursionError):
        return None
    return hint


def checksum_of(data: bytes | None) -> str:
    """Return the checksum of a hint, whatever it says of that itself."""
    text = canonical_form(data or b"")
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def canonical_form(data: bytes) -> str:
    """Return the values of a JSON object, each with its path, in order of the paths."""
    values = parse_exact(data)
    if isinstance(values, dict):
        values.pop(CHECKSUM, None)
    pairs = sorted(_leaves(values, ""), key=lambda pair: pair[0].encode())
    return ",".join(f"{path}={value}" for path, value in pairs)


def _leaves(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each value that holds no others."""
    if isinstance(value, dict):
        inner = [(_quoted(name), child) for name, child in value.items()]
    elif isinstance(value, list):
        inner = [(str(position), child) for position, child in enumerate(value)]
    else:
        yield path, _text(value)
        return
    for name, child in inner:
        yield from _leaves(child, f"{path}+{name}" if path else name)


def _text(value: object) -> str:
    if isinstance(value, ExactNumber):
        return str(value)
    if isinstance(value, str):
        return _quoted(value)
    return _LITERALS[value]


def _quoted(text: str) -> str:
    if text.isascii() and text.isalnum():  # nearly all of them are
        return f'"{text}"'
    return f'"{quote(text, safe="-._~")}"'


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys differ, as those of a hint have to."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")  # noqa: TRY003, EM101  # nobody sees it
    return found
