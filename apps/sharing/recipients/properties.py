"""The properties of recipients: what conditions call `recipient.<key>`."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from apps.sharing.errors import PropertyInvalidError
from apps.sharing.names import is_storable
from deltaweb.conditions.recipients import NAME, Property

MAX_PROPERTIES: Final = 50
MAX_LENGTH: Final = 1000
_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_WHOLE: Final = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_BOOLEANS: Final = {"true": True, "false": False}


def parse_properties(texts: Iterable[str]) -> dict[str, Property]:
    """Return properties of texts as `key=value`.

    A value is a whole number, a boolean, or else a text; in double quotes, as JSON has
    them, it is a text whatever it looks like.
    """
    found: dict[str, Property] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key, value = key.strip(), value.strip()
        if not equals or not _KEY.fullmatch(key):
            reason = "a key has letters, digits and _, and does not begin with a digit"
            raise PropertyInvalidError(text=text, reason=reason)
        if key.lower() == NAME:
            reason = "recipient.name is the name of the recipient"
            raise PropertyInvalidError(text=text, reason=reason)
        if key.lower() in map(str.lower, found):
            raise PropertyInvalidError(text=text, reason="its key is given twice")
        is_too_much = len(value) > MAX_LENGTH or len(found) == MAX_PROPERTIES
        if is_too_much or not is_storable(value):
            raise PropertyInvalidError(
                text=text, reason=("it is too long, or there are too many")
            )
        found[key] = _value(text, value)
    return found


def property_texts(values: Mapping[str, Property]) -> list[str]:
    """Return properties as `parse_properties` reads them."""
    return [f"{key}={_text(value)}" for key, value in values.items()]


def _value(text: str, value: str) -> Property:
    if _WHOLE.fullmatch(value):
        return int(value)
    if value.lower() in _BOOLEANS:
        return _BOOLEANS[value.lower()]
    if value.startswith('"'):
        try:
            quoted = json.loads(value)
        except ValueError:
            raise PropertyInvalidError(text=text, reason="a quote is missing") from None
        if not isinstance(quoted, str) or not is_storable(quoted):
            raise PropertyInvalidError(
                text=text, reason=("the text in its quotes is not valid")
            )
        return quoted
    return value


def _text(value: Property) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and _is_ambiguous(value):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _is_ambiguous(text: str) -> bool:
    is_other = _WHOLE.fullmatch(text) or text.lower() in _BOOLEANS
    return bool(is_other) or text.startswith('"') or text != text.strip()
