"""JSON strings and objects of whole columns, in UTF-8.

Text that holds nothing to escape but quotes and backslashes, as nearly all of a log, is
escaped by Arrow a column at a time; any other text value by value. Both write the very
same. What some client splits lines at is always escaped, and so is half of a character,
which has no other form. No other character is: a pair of escapes for one beyond U+FFFF
is read wrongly by clients on arrow-rs.
"""

import json
import re
from collections.abc import Sequence
from json.encoder import encode_basestring as json_string
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.values.whole import joined_bytes

FIRST_PRINTABLE: Final = ord(" ")
LAST_PRINTABLE: Final = ord("~")
NULL: Final = "null"
_SPLITTING: Final = "\x00-\x1f\x7f-\x9f\u2028\u2029"
_BEYOND_JSON: Final = re.compile("[\x7f-\x9f\u2028\u2029]")
"""What splits lines and JSON leaves as it is."""

_HALF: Final = r"u[dD][89abAB][0-9a-fA-F]{2}"
_ESCAPES: Final = re.compile(
    rf"\\(?:({_HALF}\\u[dD][c-fC-F][0-9a-fA-F]{{2}})|.)", re.DOTALL
)


def escaped(texts: pa.StringArray) -> pa.StringArray:
    """Return texts as JSON writes them between quotes; null stays null.

    A text that is not UTF-8 becomes null.
    """
    data = joined_bytes(texts)
    if not (_is_printable(data) or _is_plain(texts)):
        return pa.array(map(_escaped, _bytes_of(texts)), pa.string())
    if b"\\" in data:
        texts = pc.replace_substring(texts, "\\", "\\\\")
    if b'"' in data:
        texts = pc.replace_substring(texts, '"', '\\"')
    return texts


def without_pairs(texts: pa.StringArray) -> pa.StringArray:
    """Return JSON texts with the characters that pairs of escapes in them stand for."""
    has_pair = pc.match_substring_regex(texts.cast(pa.binary()), rf"\\{_HALF}")
    if not pc.any(has_pair).as_py():
        return texts
    joined = [
        text and _ESCAPES.sub(_joined, text.decode("utf-8", "surrogateescape"))
        for text in _bytes_of(texts)
    ]
    encoded = [text and text.encode("utf-8", "surrogateescape") for text in joined]
    return pa.array(encoded, pa.binary()).cast(pa.string(), safe=False)


def object_texts(maps: pa.MapArray) -> pa.StringArray:
    """Return maps of texts as JSON objects, an empty one for null.

    Keys and values repeat, so each is escaped once.
    """
    keys = _quoted_once(maps.keys)
    items = _quoted_once(maps.items)
    entries = pc.binary_join_element_wise(
        keys.fill_null('""'), ":", items.fill_null(NULL), ""
    )
    lists = pa.ListArray.from_arrays(maps.offsets, entries)
    inside = pc.binary_join(lists, ",").fill_null("")
    return pc.binary_join_element_wise("{", inside, "}", "")


def hex_texts(digests: Sequence[bytes]) -> pa.StringArray:
    """Return digests, all equally long, as hexadecimal texts."""
    return hex_text_of(b"".join(digests), len(digests))


def hex_text_of(data: bytes | memoryview, count: int) -> pa.StringArray:
    """Return `count` digests that stand one after the other as hexadecimal texts."""
    text = data.hex().encode()
    length = len(text) // max(1, count)
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(length)
    buffers = pa.py_buffer(offsets), pa.py_buffer(text)
    return pa.StringArray.from_buffers(count, *buffers)


def json_bytes(value: object) -> bytes:
    """Return the JSON of one value, without blanks, on one line."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    text = _on_one_line(text)
    # Half of a character is written as JSON escapes it.
    return text.encode("utf-8", "backslashreplace")


def _quoted_once(texts: pa.StringArray) -> pa.StringArray:
    encoded = texts.dictionary_encode()
    distinct = escaped(encoded.dictionary)
    quoted = pc.binary_join_element_wise('"', distinct, '"', "")
    return quoted.take(encoded.indices)


def _is_printable(data: bytes) -> bool:
    """Tell whether text is ASCII without control characters."""
    letters = np.frombuffer(data, np.uint8)
    return not len(letters) or bool(
        letters.min() >= FIRST_PRINTABLE and letters.max() <= LAST_PRINTABLE
    )


def _is_plain(texts: pa.StringArray) -> bool:
    """Tell whether texts are UTF-8, and hold nothing that splits lines."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return not pc.any(pc.match_substring_regex(texts, f"[{_SPLITTING}]")).as_py()


def _bytes_of(texts: pa.StringArray) -> list[bytes | None]:
    found: list[bytes | None] = texts.cast(pa.binary()).to_pylist()
    return found


def _escaped(data: bytes | None) -> str | None:
    try:
        return None if data is None else _on_one_line(json_string(data.decode()))[1:-1]
    except UnicodeDecodeError:
        return None


def _on_one_line(text: str) -> str:
    return _BEYOND_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _joined(match: re.Match[str]) -> str:
    """The character of a pair of escapes; another escape is left as it is."""
    if match[1] is None:
        return match[0]
    character: str = json.loads(f'"{match[0]}"')
    return character
