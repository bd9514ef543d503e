"""What a commit's metrics and parameters say, however its writer spells them.

Spark writes `numUpdatedRows` as text, delta-rs `num_updated_rows` as a number; some
writers nest JSON in text. All of it comes from a log that anyone may have written,
so every read is bounded and a value of another type counts as absent.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from deltaweb.environment.bounded_json import parse_json

MAX_TEXT_LENGTH: Final = 120
MAX_JSON_LENGTH: Final = 20_000
MAX_NUMBER: Final = 2**63
MAX_REMEMBERED: Final = 256
MAX_REMEMBERED_LENGTH: Final = 4_000  # of all keys of an object
_SMALL: Final = 10
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e]+")
_JSON_START: Final = re.compile(r"\s*(?:[\[{\"\d-]|(?:true|false|null|NaN|Infinity)\b)")

_REMEMBERED: Final[dict[tuple[str, ...], dict[str, str]]] = {}
_ASKED: Final[dict[str, str]] = {}


class Facts:
    """A JSON object read by any spelling of its keys; texts are made once."""

    __slots__ = ("_keys", "_made", "_values")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._keys: dict[str, str] | None = None  # most are found as they are asked
        self._made: dict[object, str] | None = None

    def _get(self, name: str) -> Any:  # noqa: ANN401 (any JSON)
        value = self._values.get(name)
        if value is not None:
            return value
        if self._keys is None:
            self._keys = _plain_keys(tuple(self._values))
        key = self._keys.get(_ASKED.get(name) or _ask(name))
        return None if key is None else self._values[key]

    def number(self, *names: str) -> int | None:
        """The first of `names` that holds a whole number of zero or more."""
        for name in names:
            value = self._get(name)
            if value is not None:
                number = _whole_number(value)
                if number is not None:
                    return number
        return None

    def text(self, *names: str) -> str:
        """The first of `names` that holds text or a number, shortened; or nothing."""
        return self._once(names, lambda: self._find_text(names))

    def _find_text(self, names: tuple[str, ...]) -> str:
        for name in names:
            value = self._get(name)
            if isinstance(value, (str, int, float)) and str(value):
                return shorten(str(value))
        return ""

    def worded(self, names: tuple[str, ...], word: Callable[[Any], str]) -> str:
        """What `word` makes of the first of `names`, as `parsed` gives it.

        It is asked once: many commits have the same parameters.
        """
        return self._once((word, names), lambda: word(self.parsed(*names)))

    def _once(self, what: object, make: Callable[[], str]) -> str:
        if self._made is None:
            self._made = {}
        found = self._made.get(what)
        if found is None:
            found = self._made[what] = make()
        return found

    def parsed(self, *names: str) -> Any:  # noqa: ANN401 (any JSON)
        """The first of `names`, with JSON that stands in a text unpacked."""
        for name in names:
            value = self._get(name)
            if value is not None:
                return _unpacked(value)
        return None


def shorten(text: str) -> str:
    """Return text on one line, cut to a length that a sentence bears."""
    if text.isascii() and text.isprintable() and len(text) <= MAX_TEXT_LENGTH:
        return text.strip()
    line = _CONTROL.sub(" ", text[: 2 * MAX_TEXT_LENGTH]).strip()
    if len(line) <= MAX_TEXT_LENGTH:
        return line
    return line[: MAX_TEXT_LENGTH - 1].rstrip() + "…"


def _plain_keys(keys: tuple[str, ...]) -> dict[str, str]:
    """Find keys by their plain spelling; commits of a table mostly have the same."""
    found = _REMEMBERED.get(keys)
    if found is None:
        found = {_spell_plainly(key): key for key in keys}
        if sum(map(len, keys)) <= MAX_REMEMBERED_LENGTH:
            if len(_REMEMBERED) >= MAX_REMEMBERED:
                _REMEMBERED.clear()
            _REMEMBERED[keys] = found
    return found


def _ask(name: str) -> str:
    """Remember how a name that we ask for is spelled plainly; these are few."""
    return _ASKED.setdefault(name, _spell_plainly(name))


def _spell_plainly(key: str) -> str:
    return key.replace("_", "").lower()


def _whole_number(value: object) -> int | None:
    if isinstance(value, str) and len(value) < _SMALL * 2 and value.isascii():
        value = int(value) if value.isdigit() else None
    if isinstance(value, int) and 0 <= value < MAX_NUMBER:
        return None if isinstance(value, bool) else value
    return None


def _unpacked(value: object) -> Any:  # noqa: ANN401 (any JSON)
    if not isinstance(value, str) or len(value) > MAX_JSON_LENGTH:
        return value
    if not _JSON_START.match(value):
        return value  # at a tenth of what it costs to fail
    try:
        return parse_json(value)
    except (ValueError, RecursionError):
        return value
