"""Values of Thrift's compact protocol, one after the other, or past them.

Source: Thrift's compact protocol, "Struct encoding", "List and Set", "Map".
"""

import struct
import sys
from typing import Final

from deltaweb.parquet.compact.layouts import (
    BINARY,
    BYTE,
    DOUBLE,
    FALSE,
    I64,
    LIST,
    MAP,
    SET,
    STRUCT,
    TRUE,
)
from deltaweb.parquet.compact.usual_bytes import usual_list
from deltaweb.parquet.errors import FooterCorruptError

MAX_DEPTH: Final = 64
MORE: Final = 0x7F
"""A larger byte says that more of its number follows."""
CUT: Final = "it ends in the middle of a value"
_MAX_SHIFT: Final = 63  # the bits of a long
_LONG_LIST: Final = 15


class Cursor:
    """A place in bytes of the compact protocol.

    Args:
        most_skipped: How many values it goes past; None for any number of them.
    """

    __slots__ = ("data", "position", "skips_left")

    def __init__(
        self, data: bytes, position: int = 0, *, most_skipped: int | None = None
    ) -> None:
        self.data = data
        self.position = position
        self.skips_left = sys.maxsize if most_skipped is None else most_skipped

    def list_header(self) -> tuple[int, int]:
        """Read the size of a list and the type of its elements."""
        header = self.byte()
        size = header >> 4
        if size == _LONG_LIST:
            size = self._varint()
        self._check_count(size)
        return size, header & 0x0F

    def integer(self) -> int:
        """Read a signed integer, which is zigzag-encoded."""
        value = self.data[self.position]
        if value > MORE:
            value = self._varint()
        else:
            self.position += 1
        return (value >> 1) ^ -(value & 1)

    def binary(self) -> bytes:
        size = self.data[self.position]
        if size > MORE:
            size = self._varint()
        else:
            self.position += 1
        start = self.position
        self.position = end = start + size
        if end > len(self.data):
            raise FooterCorruptError(reason=CUT)
        return self.data[start:end]

    def byte(self) -> int:
        value = self.data[self.position]
        self.position += 1
        return value

    def double(self) -> float:
        """Read a number of 64 bits with a fraction."""
        value: float = struct.unpack_from("<d", self.data, self.position)[0]
        self.position += 8
        return value

    def _varint(self) -> int:
        data, position = self.data, self.position
        value = data[position]
        position += 1
        if value > MORE:
            value &= MORE
            shift = 7
            while True:
                part = data[position]
                position += 1
                value |= (part & MORE) << shift
                if part <= MORE:
                    break
                shift += 7
                if shift > _MAX_SHIFT:
                    raise FooterCorruptError(reason="a number has too many bytes")
        self.position = position
        return value

    def _check_count(self, size: int) -> None:
        left = len(self.data) - self.position
        if size > left:
            reason = (
                f"it says that {size:,} elements follow, but has only {left:,} bytes"
                " left"
            )
            raise FooterCorruptError(reason=reason)

    def skip(self, kind: int, depth: int) -> None:
        """Go past a value of a field."""
        self.skips_left -= 1
        if self.skips_left < 0:
            raise FooterCorruptError(reason="it has too many values that are unknown")
        if kind in {TRUE, FALSE}:
            return
        if BYTE < kind <= I64:
            self._varint()
        elif kind == BINARY:
            self.binary()
        elif kind == STRUCT:
            self._skip_struct(depth + 1)
        elif kind in {LIST, SET}:
            if (usual := usual_list().match(self.data, self.position)) is not None:
                self.position = usual.end()
            else:
                self._skip_list(depth)
        elif kind == MAP:
            self._skip_map(depth)
        elif kind in {BYTE, DOUBLE}:
            self.position += 1 if kind == BYTE else 8
        else:
            raise FooterCorruptError(reason=f"a value has the unknown type {kind}")

    def _skip_struct(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise FooterCorruptError(
                reason=f"it is nested more than {MAX_DEPTH} levels deep"
            )
        while header := self.byte():
            if not header >> 4:
                self.integer()
            self.skip(header & 0x0F, depth)

    def _skip_list(self, depth: int) -> None:
        size, element = self.list_header()
        for _ in range(size):
            self.skip_element(element, depth)

    def _skip_map(self, depth: int) -> None:
        size = self._varint()
        if not size:
            return
        kinds = self.byte()
        self._check_count(size)
        for _ in range(size):
            self.skip_element(kinds >> 4, depth)
            self.skip_element(kinds & 0x0F, depth)

    def skip_element(self, kind: int, depth: int) -> None:
        """Go past an element: a truth is a byte here, and none in a field."""
        if kind in {TRUE, FALSE}:
            self.position += 1
        elif depth > MAX_DEPTH:
            raise FooterCorruptError(
                reason=f"it is nested more than {MAX_DEPTH} levels deep"
            )
        else:
            self.skip(kind, depth + 1)
