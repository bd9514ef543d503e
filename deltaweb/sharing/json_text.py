"""JSON strings and objects of whole columns, in ASCII.

Text that is plain, as nearly all of a log is, is escaped by Arrow a column at a time;
any other text value by value. Both write the very same.
"""

from json.encoder import encode_basestring_ascii

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

FIRST_PRINTABLE = ord(" ")
LAST_PRINTABLE = ord("~")
NULL = "null"


def escaped(texts: pa.StringArray) -> pa.StringArray:
    """Return texts as JSON writes them between quotes; null stays null.

    A text that is not UTF-8 becomes null.
    """
    data = _bytes(texts)
    if not _is_printable(data):
        return _escaped_each(texts)
    if b"\\" in data:
        texts = pc.replace_substring(texts, "\\", "\\\\")
    if b'"' in data:
        texts = pc.replace_substring(texts, '"', '\\"')
    return texts


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


def _quoted_once(texts: pa.StringArray) -> pa.StringArray:
    encoded = texts.dictionary_encode()
    distinct = escaped(encoded.dictionary)
    quoted = pc.binary_join_element_wise('"', distinct, '"', "")
    return quoted.take(encoded.indices)


def _escaped_each(texts: pa.StringArray) -> pa.StringArray:
    return pa.array(
        [_escaped(data) for data in texts.cast(pa.binary()).to_pylist()], pa.string()
    )


def _escaped(data: bytes | None) -> str | None:
    try:
        return None if data is None else encode_basestring_ascii(data.decode())[1:-1]
    except UnicodeDecodeError:
        return None


def _is_printable(data: bytes) -> bool:
    """Tell whether text is ASCII without control characters."""
    letters = np.frombuffer(data, np.uint8)
    return not len(letters) or bool(
        letters.min() >= FIRST_PRINTABLE and letters.max() <= LAST_PRINTABLE
    )


def _bytes(texts: pa.StringArray) -> bytes:
    """Return the bytes of all texts, one after the other."""
    _, offsets, data = texts.buffers()
    if data is None or offsets is None or not len(texts):
        return b""
    bounds = np.frombuffer(offsets, np.int32)
    first, last = bounds[texts.offset], bounds[texts.offset + len(texts)]
    return bytes(memoryview(data)[int(first) : int(last)])
