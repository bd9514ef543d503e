"""Values of a log made fit for every database: bounded, and of valid Unicode."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.commits.provenance import load_object

MAX_JSON_LENGTH: Final = 64_000
MAX_KEYS: Final = 50
MAX_VALUE_LENGTH: Final = 500
MAX_DEPTH: Final = 40
MAX_INTEGER: Final = 10**40
# What may have to be cleaned: an escape, no number of JSON, and no number of a long.
_UNCLEAN: Final = r"\\|NaN|Infinity|[0-9]{19}"


def clean_text(text: str) -> str:
    """Replace what PostgreSQL and Arrow refuse: NUL and lone surrogates."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def bounded_text(text: str) -> str:
    """Return a text that every database takes, cut after `MAX_JSON_LENGTH`."""
    return clean_text(text[:MAX_JSON_LENGTH])


def bounded_names(names: Iterable[str]) -> list[str]:
    """Return names that every database takes; of very many or long ones the first."""
    found: list[str] = []
    room = MAX_JSON_LENGTH
    for name in names:
        room -= len(name) + 1
        if room < 0:
            break
        found.append(clean_text(name))
    return found


def clean_texts(texts: list[str]) -> list[str]:
    whole = "".join(texts)
    return texts if clean_text(whole) is whole else [*map(clean_text, texts)]


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


def bounded_texts(texts: Sequence[bytes]) -> pa.Array:
    """Return JSON objects of a log as texts: those as they are that need no cleaning.

    Returns:
        For any other `bounded_json` of what it says.
    """
    whole = pa.array(texts, pa.string())
    is_odd = pc.match_substring_regex(whole, _UNCLEAN)
    if max(map(len, texts), default=0) >= 2 * MAX_DEPTH:  # shorter ones nest less
        is_long = pc.greater(pc.binary_length(whole), MAX_JSON_LENGTH)
        nested = pc.count_substring_regex(whole, r"[\[{]")
        is_odd = pc.or_(is_odd, is_long)
        is_odd = pc.or_(is_odd, pc.greater_equal(nested, MAX_DEPTH))
    if not is_odd.true_count:
        return whole
    odd = whole.filter(is_odd).cast(pa.binary()).to_pylist()
    cleaned = [bounded_json(load_object(text)) for text in odd]
    return pc.replace_with_mask(whole, is_odd, pa.array(cleaned, pa.string()))


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
