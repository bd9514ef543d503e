"""Values of a log made fit for every database: bounded, and of valid Unicode."""

import json
import math
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final

MAX_JSON_LENGTH: Final = 64_000
MAX_KEYS: Final = 50
MAX_VALUE_LENGTH: Final = 500
MAX_DEPTH: Final = 40
MAX_INTEGER: Final = 10**40
TOGETHER: Final = 256
MARK_BYTES: Final = 16
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False)
_UNCLEAN: Final = ("\\u0000", "NaN", "Infinity")


def clean_text(text: str) -> str:
    """Replace what PostgreSQL and Arrow refuse: NUL and lone surrogates."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def clean_json(value: Any) -> Any:  # noqa: ANN401 (any JSON)
    """Return any JSON with texts that every database takes.

    Non-finite numbers and integers beyond reason become texts.
    """
    return _clean(value, 0)


def bounded_json(values: Mapping[str, Any]) -> str:
    """Return a JSON object as text; one that is too long keeps the start of it.

    Non-finite numbers and integers beyond reason become texts.
    """
    text = json.dumps(_clean(values, 0), ensure_ascii=False)
    if len(text) <= MAX_JSON_LENGTH:
        return text
    start = {
        clean_text(str(key)[:MAX_VALUE_LENGTH]): clean_text(
            str(value)[:MAX_VALUE_LENGTH]
        )
        for key, value in list(values.items())[:MAX_KEYS]
    }
    return json.dumps(start, ensure_ascii=False)


def bounded_texts(objects: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return `bounded_json` of each object, many at once where all are plain.

    Args:
        objects: As `json.loads` returns them, with integers of a long alone.
    """
    texts: list[str] = []
    for start in range(0, len(objects), TOGETHER):
        some = objects[start : start + TOGETHER]
        texts.extend(_plain_texts(some) or [bounded_json(values) for values in some])
    return texts


def _plain_texts(objects: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """Write objects by one call; None where a value might have to be cleaned."""
    mark = secrets.token_hex(MARK_BYTES)  # no log can know it
    try:
        text = _ENCODER.encode([part for values in objects for part in (values, mark)])
        text.encode("utf-8")
    except (RecursionError, UnicodeEncodeError):
        return None
    if any(sign in text for sign in _UNCLEAN):
        return None
    texts = text[1:-1].split(f', "{mark}"')
    texts = [texts[0], *(part.removeprefix(", ") for part in texts[1:-1])]
    is_plain = max(map(len, texts)) <= MAX_JSON_LENGTH and _are_shallow(text, texts)
    return texts if is_plain else None


def _are_shallow(whole: str, texts: Sequence[str]) -> bool:
    """Tell whether no text can nest as deep as `MAX_DEPTH`, by its brackets."""
    if whole.count("{") + whole.count("[") - len(texts) < MAX_DEPTH:
        return True
    return all(text.count("{") + text.count("[") < MAX_DEPTH for text in texts)


def _clean(value: Any, depth: int) -> Any:  # noqa: ANN401 (any JSON)
    if isinstance(value, (Mapping, list, tuple)):
        return "…" if depth > MAX_DEPTH else _clean_parts(value, depth + 1)
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) >= MAX_INTEGER:
        return "∞" if value > 0 else "-∞"
    return value


def _clean_parts(value: Any, depth: int) -> Any:  # noqa: ANN401 (any JSON)
    if isinstance(value, Mapping):
        return {
            clean_text(str(key)): _clean(item, depth) for key, item in value.items()
        }
    return [_clean(item, depth) for item in value]
