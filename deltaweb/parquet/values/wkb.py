"""Geometries as well-known text, from their binary form.

Source: OGC Simple Features, "Well-known Binary Representation".
"""

import struct
from typing import Final

from deltaweb.parquet.rendering import JSON

MAX_DEPTH: Final = 16
_NAMES: Final = {
    1: "POINT",
    2: "LINESTRING",
    3: "POLYGON",
    4: "MULTIPOINT",
    5: "MULTILINESTRING",
    6: "MULTIPOLYGON",
    7: "GEOMETRYCOLLECTION",
}
_POINT, _LINE, _POLYGON, _COLLECTION = 1, 2, 3, 7
_DIMENSIONS: Final = {0: ("", 2), 1: (" Z", 3), 2: (" M", 3), 3: (" ZM", 4)}


class WkbError(ValueError):
    """The bytes are no geometry."""


def render_wkb(raw: bytes) -> JSON:
    """Return a geometry as text, or its bytes where it is not one."""
    try:
        reader = _Reader(raw)
        text = reader.geometry(0)
    except (WkbError, struct.error, IndexError):
        return {"hex": raw.hex()}
    return text if reader.at == len(raw) else {"hex": raw.hex()}


class _Reader:
    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.at = 0
        self.order = "<"

    def geometry(self, depth: int, *, is_part: bool = False) -> str:
        """Read a geometry; as a part of a multi-geometry without its name."""
        if depth > MAX_DEPTH:
            raise WkbError
        self.order = "<" if self.raw[self.at] else ">"
        self.at += 1
        code = self.count(bounded=False)
        kind, dimension = code % 1000, code // 1000
        if kind not in _NAMES or dimension not in _DIMENSIONS:
            raise WkbError
        suffix, width = _DIMENSIONS[dimension]
        body = self.body(kind, width, depth)
        if is_part:
            return body
        return f"{_NAMES[kind]}{suffix} {body}"

    def body(self, kind: int, width: int, depth: int) -> str:
        if kind == _POINT:
            numbers = self.numbers(width)
            is_empty = all(number != number for number in numbers)  # noqa: PLR0124
            return "EMPTY" if is_empty else f"({_joined(numbers)})"
        if kind == _LINE:
            return self.points(width)
        count = self.count()
        if not count:
            return "EMPTY"
        if kind == _POLYGON:
            parts = [self.points(width) for _ in range(count)]
        else:
            is_part = kind != _COLLECTION
            parts = [self.geometry(depth + 1, is_part=is_part) for _ in range(count)]
        return f"({', '.join(parts)})"

    def points(self, width: int) -> str:
        count = self.count()
        if not count:
            return "EMPTY"
        texts = [_joined(self.numbers(width)) for _ in range(count)]
        return f"({', '.join(texts)})"

    def count(self, *, bounded: bool = True) -> int:
        value: int = struct.unpack_from(f"{self.order}I", self.raw, self.at)[0]
        self.at += 4
        if bounded and value > len(self.raw) - self.at:
            raise WkbError
        return value

    def numbers(self, width: int) -> tuple[float, ...]:
        values = struct.unpack_from(f"{self.order}{width}d", self.raw, self.at)
        self.at += 8 * width
        return values


def _joined(numbers: tuple[float, ...]) -> str:
    return " ".join(
        str(int(n)) if n == n and abs(n) < 1e15 and n == int(n) else repr(n)  # noqa: PLR0124, PLR2004 (whole numbers as such)
        for n in numbers
    )
