"""Parquet footers, as far as pyarrow does not read them, or not safely.

pyarrow ends the process when a column chunk's metadata contradicts itself and Python
asks for it, so what comes from a table is never asked for that way. The footer is
Thrift's compact protocol; all but the few fields below is skipped. Every step checks
that it stays inside the bytes: a broken footer is a `FooterError`.

Source: parquet.thrift of the Parquet format; Thrift's compact protocol.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

MAGIC: Final = b"PAR1"
TAIL_BYTES: Final = 8  # the footer's length and the magic
MAX_FOOTER_BYTES: Final = 64 << 20
MAX_REWRITTEN_BYTES: Final = 4 << 20
MAX_DEPTH: Final = 16
ARROW_SCHEMA: Final = b"ARROW:schema"
NO_SCHEMA: Final = b"ARROW:ignore"  # as long: the footer stays what it is

# Types of the compact protocol.
_STOP, _TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY = 0, 1, 2, 3, 6, 7, 8
_LIST, _SET, _MAP, _STRUCT = 9, 10, 11, 12
_LONG_LIST: Final = 15

# The names of a map and of a list: in the old enumeration, and in the union of types.
_CONVERTED_MAPS: Final = (1, 2)  # MAP, and MAP_KEY_VALUE
_CONVERTED_LIST: Final = 3 << 1  # zigzag-encoded
_LOGICAL_MAP, _LOGICAL_LIST = 2 << 4 | _STRUCT, 3 << 4 | _STRUCT

Handler = Callable[["_Reader", int], None]


class FooterError(ValueError):
    """The footer is not one."""


@dataclass(slots=True)
class ColumnChunk:
    """What a footer says of one leaf column in one row group.

    Attributes:
        path: Dotted path of the column.
        num_values: Its values, nulls among them; -1 where the footer does not say.
        null_count: Its nulls.
        low: The least value, or one below it, as Parquet's plain encoding has it.
        high: The greatest value, or one above it.
    """

    path: str = ""
    num_values: int = -1
    null_count: int | None = None
    low: bytes | None = None
    high: bytes | None = None


@dataclass(slots=True)
class RowGroupCounts:
    """What a footer says of one row group.

    Attributes:
        num_rows: Its rows.
        chunks: Its column chunks, in the order of the file's leaf columns.
    """

    num_rows: int = 0
    chunks: list[ColumnChunk] = field(default_factory=list)

    @property
    def null_leaves(self) -> set[str]:
        """Dotted paths of the leaf columns that hold nothing but nulls."""
        return {
            chunk.path
            for chunk in self.chunks
            if chunk.null_count is not None and chunk.null_count == chunk.num_values
        }


def read_row_group_counts(source: pa.NativeFile) -> list[RowGroupCounts]:
    """Read the counts of every row group of an open Parquet file.

    Raises:
        FooterError: If the file has no footer, or a broken one.
    """
    return parse_row_group_counts(_read_footer(source, MAX_FOOTER_BYTES))


def _read_footer(source: pa.NativeFile, max_bytes: int) -> bytes:
    size = source.size()
    if size < TAIL_BYTES:
        raise FooterError
    tail = source.read_at(TAIL_BYTES, size - TAIL_BYTES)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or not 0 < length <= min(size - TAIL_BYTES, max_bytes):
        raise FooterError
    footer: bytes = source.read_at(length, size - TAIL_BYTES - length)
    return footer


def read_plain_footer(source: pa.NativeFile) -> pq.FileMetaData | None:
    """Read the footer of an open Parquet file without what pyarrow refuses of it.

    Maps are told to be lists of their entries, which say the same: pyarrow refuses
    the whole file where the key of one is optional, as Presto has written them. And
    the schema that Arrow's writers leave beside Parquet's is left out: it is text that
    nothing in Parquet vouches for.

    Returns:
        The footer; None where nothing of it is to be told otherwise.

    Raises:
        FooterError: If the file has no footer, a broken one, or one so large that
            looking through it takes too long.
    """
    stored = _read_footer(source, MAX_REWRITTEN_BYTES)
    before, key, after = _maps_as_lists(stored).rpartition(ARROW_SCHEMA)
    footer = before + NO_SCHEMA + after if key else after
    if footer == stored:
        return None
    length = len(footer).to_bytes(4, "little")
    try:
        return pq.read_metadata(pa.BufferReader(MAGIC + footer + length + MAGIC))
    except (pa.ArrowException, OSError):
        raise FooterError from None


def _maps_as_lists(footer: bytes) -> bytes:
    """Return a footer in which every map is a list, byte for byte as long."""
    changed = bytearray(footer)

    def take_converted(reader: _Reader, _: int) -> None:
        position = reader.position
        if reader.integer() in _CONVERTED_MAPS:
            changed[position] = _CONVERTED_LIST

    def take_logical(reader: _Reader, kind: int) -> None:
        if footer[reader.position] == _LOGICAL_MAP:
            changed[reader.position] = _LOGICAL_LIST
        reader.skip(kind, 1)

    def take_element(reader: _Reader) -> None:
        reader.struct({6: take_converted, 10: take_logical})

    try:
        _Reader(footer).struct({2: _each(take_element)})
    except (IndexError, UnicodeDecodeError):
        raise FooterError from None
    return bytes(changed)


def parse_row_group_counts(footer: bytes) -> list[RowGroupCounts]:
    """Parse the counts of every row group from a footer's bytes.

    Raises:
        FooterError: If the bytes are no footer.
    """
    groups: list[RowGroupCounts] = []
    try:
        _Reader(footer).struct({4: _each(lambda reader: groups.append(_group(reader)))})
    except (IndexError, UnicodeDecodeError):
        raise FooterError from None
    return groups


def _group(reader: "_Reader") -> RowGroupCounts:
    counts = RowGroupCounts()

    def take_chunk(reader: _Reader) -> None:
        counts.chunks.append(_chunk(reader))

    def take_rows(reader: _Reader, _: int) -> None:
        counts.num_rows = reader.integer()

    reader.struct({1: _each(take_chunk), 3: take_rows})
    return counts


def _chunk(reader: "_Reader") -> ColumnChunk:
    chunk = ColumnChunk()

    def take_path(reader: _Reader, _: int) -> None:
        size, _kind = reader.list_header()
        names = [reader.binary().decode() for _ in range(size)]
        chunk.path = ".".join(names)

    def take_values(reader: _Reader, _: int) -> None:
        chunk.num_values = reader.integer()

    def take_nulls(reader: _Reader, _: int) -> None:
        chunk.null_count = reader.integer()

    def take_high(reader: _Reader, _: int) -> None:
        chunk.high = reader.binary()

    def take_low(reader: _Reader, _: int) -> None:
        chunk.low = reader.binary()

    # Fields 1 and 2 are bounds too, in an order that writers did not agree on.
    def take_statistics(reader: _Reader, _: int) -> None:
        reader.struct({3: take_nulls, 5: take_high, 6: take_low})

    def take_metadata(reader: _Reader, _: int) -> None:
        reader.struct({3: take_path, 5: take_values, 12: take_statistics})

    reader.struct({3: take_metadata})
    return chunk


def _each(take: Callable[["_Reader"], None]) -> Handler:
    """Return a handler of a list, which calls `take` for each of its structs."""

    def take_list(reader: _Reader, _: int) -> None:
        size, kind = reader.list_header()
        if kind != _STRUCT:
            raise FooterError
        for _number in range(size):
            take(reader)

    return take_list


class _Reader:
    """Reads values of the compact protocol, one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def struct(self, handlers: dict[int, Handler], depth: int = 0) -> None:
        """Read a struct; a field without a handler is skipped."""
        identifier = 0
        while (header := self.byte()) != _STOP:
            kind = header & 0x0F
            step = header >> 4
            identifier = identifier + step if step else self.integer()
            handler = handlers.get(identifier)
            if handler is None:
                self.skip(kind, depth + 1)
            else:
                handler(self, kind)

    def byte(self) -> int:
        value = self.data[self.position]
        self.position += 1
        return value

    def varint(self) -> int:
        data, position = self.data, self.position
        value = data[position]
        position += 1
        if value > 0x7F:  # noqa: PLR2004  # the bit that says "more"
            value &= 0x7F
            shift = 7
            while True:
                part = data[position]
                position += 1
                value |= (part & 0x7F) << shift
                if part <= 0x7F:  # noqa: PLR2004  # as above
                    break
                shift += 7
                if shift > 63:  # noqa: PLR2004  # the bits of a long
                    raise FooterError
        self.position = position
        return value

    def integer(self) -> int:
        """Read a signed integer, which is zigzag-encoded."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def binary(self) -> bytes:
        size = self.varint()
        end = self.position + size
        if end > len(self.data):
            raise FooterError
        value = self.data[self.position : end]
        self.position = end
        return value

    def list_header(self) -> tuple[int, int]:
        """Read the size of a list and the type of its elements."""
        header = self.byte()
        size = header >> 4
        if size == _LONG_LIST:
            size = self.varint()
        if size > len(self.data):
            raise FooterError
        return size, header & 0x0F

    def skip(self, kind: int, depth: int) -> None:
        """Go past a value."""
        if depth > MAX_DEPTH:
            raise FooterError
        if kind in {_TRUE, _FALSE}:
            return
        if _BYTE < kind <= _I64:
            self.varint()
        elif kind == _BYTE:
            self.position += 1
        elif kind == _DOUBLE:
            self.position += 8
        elif kind == _BINARY:
            self.binary()
        elif kind == _STRUCT:
            self.struct({}, depth)
        elif kind in {_LIST, _SET}:
            self._skip_list(depth)
        else:
            self._skip_map(kind, depth)

    def _skip_list(self, depth: int) -> None:
        size, kind = self.list_header()
        for _ in range(size):
            self._skip_element(kind, depth)

    def _skip_map(self, kind: int, depth: int) -> None:
        if kind != _MAP:
            raise FooterError
        size = self.varint()
        if not size:
            return
        kinds = self.byte()
        if size > len(self.data):
            raise FooterError
        for _ in range(size):
            self._skip_element(kinds >> 4, depth)
            self._skip_element(kinds & 0x0F, depth)

    def _skip_element(self, kind: int, depth: int) -> None:
        """Go past an element: there a truth is a byte, in a field it is none."""
        if kind in {_TRUE, _FALSE}:
            self.position += 1
        else:
            self.skip(kind, depth + 1)
