"""Structs of Thrift's compact protocol, written.

Source: Thrift's compact protocol, "Struct encoding", "List and Set".
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

_INT32, _INT64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
_SHORT_LIST: Final = 15
_KINDS: Final[Mapping[str, int]] = {"i32": _INT32, "i64": _INT64, "binary": _BINARY}


class CompactWriter:
    """Writes structs whose fields come in the order of their numbers."""

    def __init__(self) -> None:
        self.parts = bytearray()

    def varint(self, value: int) -> None:
        """Write a number of as many bytes as it needs."""
        while value > 0x7F:  # noqa: PLR2004 (the bits of a byte that says "more")
            self.parts.append(value & 0x7F | 0x80)
            value >>= 7
        self.parts.append(value)

    def struct(self, fields: Iterable[tuple[int, str, Any]]) -> None:
        """Write fields by number, kind and value; one of None is left out."""
        last = 0
        for number, kind, value in fields:
            if value is None:
                continue
            code = _LIST if kind.startswith("list") else _KINDS.get(kind, _STRUCT)
            self.parts.append((number - last) << 4 | code)
            last = number
            self.value(kind, value)
        self.parts.append(0)

    def value(self, kind: str, value: Any) -> None:  # noqa: ANN401 (by its kind)
        """Write a value of a kind, as `i32`, `binary` or `list:struct`."""
        if kind in {"i32", "i64"}:
            self.varint((value << 1) ^ (value >> 63))
        elif kind == "binary":
            self.varint(len(value))
            self.parts += value
        elif kind.startswith("list"):
            element = kind.removeprefix("list:")
            self.head(len(value), _KINDS.get(element, _STRUCT))
            for each in value:
                self.value(element, each)
        else:
            self.struct(value)

    def head(self, size: int, code: int) -> None:
        """Write what a list begins with."""
        if size < _SHORT_LIST:
            self.parts.append(size << 4 | code)
        else:
            self.parts.append(0xF0 | code)
            self.varint(size)
