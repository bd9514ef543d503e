"""BSON documents as JSON; what is not one is bytes.

Source: bsonspec.org, version 1.1.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from deltaweb.parquet.rendering import JSON, render_float

MAX_DEPTH: Final = 32


class BsonError(ValueError):
    """The bytes are no BSON document."""


def render_bson(raw: bytes) -> JSON:
    """Return a document as JSON, or its bytes where it is not one."""
    try:
        value, end = _document(raw, 0, 0, is_array=False)
    except (BsonError, struct.error, IndexError, UnicodeDecodeError):
        return {"hex": raw.hex()}
    return value if end == len(raw) else {"hex": raw.hex()}


def _document(raw: bytes, at: int, depth: int, *, is_array: bool) -> tuple[Any, int]:
    if depth > MAX_DEPTH:
        raise BsonError
    (size,) = struct.unpack_from("<i", raw, at)
    end = at + size
    if size < 5 or end > len(raw) or raw[end - 1]:  # noqa: PLR2004 (an empty one)
        raise BsonError
    at += 4
    names: list[str] = []
    values: list[Any] = []
    while raw[at]:
        kind = raw[at]
        stop = raw.index(0, at + 1, end)
        names.append(raw[at + 1 : stop].decode())
        value, at = _value(raw, stop + 1, kind, depth)
        values.append(value)
    if at != end - 1:
        raise BsonError
    if is_array:
        return values, end
    return dict(zip(names, values, strict=True)), end


def _value(raw: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in {0x03, 0x04}:
        return _document(raw, at, depth + 1, is_array=kind == 0x04)  # noqa: PLR2004
    if kind in {0x02, 0x0D, 0x0E}:
        (size,) = struct.unpack_from("<i", raw, at)
        end = at + 4 + size
        if size < 1 or end > len(raw):
            raise BsonError
        return raw[at + 4 : end - 1].decode(), end
    if kind == 0x05:  # noqa: PLR2004 (bytes, by the specification)
        (size,) = struct.unpack_from("<i", raw, at)
        end = at + 5 + size
        if size < 0 or end > len(raw):
            raise BsonError
        return {"hex": raw[at + 5 : end].hex()}, end
    if kind in {0x06, 0x0A, 0x7F, 0xFF}:
        names = {0x7F: "MaxKey", 0xFF: "MinKey"}
        return names.get(kind), at
    if kind not in _FIXED:
        raise BsonError
    size, read = _FIXED[kind]
    if at + size > len(raw):
        raise BsonError
    return read(raw[at : at + size]), at + size


def _int(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)


_FIXED: Final[dict[int, tuple[int, Callable[[bytes], Any]]]] = {
    0x01: (8, lambda raw: render_float(struct.unpack("<d", raw)[0])),
    0x07: (12, lambda raw: raw.hex()),
    0x08: (1, lambda raw: raw != b"\0"),
    0x09: (8, lambda raw: {"millis": _int(raw)}),
    0x10: (4, _int),
    0x11: (8, lambda raw: {"timestamp": int.from_bytes(raw, "little")}),
    0x12: (8, _int),
    0x13: (16, lambda raw: {"decimal128": raw.hex()}),
}
