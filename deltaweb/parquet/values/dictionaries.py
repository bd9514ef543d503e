"""How long the values of a column chunk's dictionary are, before they are unfolded.

A chunk of a few kilobytes can stand for gigabytes: one long value in its dictionary,
and as many codes of it as there are rows. Nothing in a footer tells.

Source: parquet.thrift, "ColumnMetaData", "PageHeader", "DictionaryPageHeader".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deltaweb.parquet.compact.cursor import MORE
from deltaweb.parquet.compact.layouts import LateListOf, Layout, ListOf
from deltaweb.parquet.compact.reader import CompactReader
from deltaweb.parquet.compact.writer import CompactWriter
from deltaweb.parquet.errors import FooterCorruptError, ParquetError
from deltaweb.parquet.metadata import text_of
from deltaweb.parquet.schema import Node, flat_leaves
from deltaweb.parquet.tail import MAGIC, RangeSource
from deltaweb.parquet.values.known_schemas import known_schemas

HEADER_BYTES: Final = 128
"""More than the header of a dictionary page has."""
PAGE_BYTES: Final = 256 << 20
"""A dictionary of more bytes is not inspected: all of it may be one value."""
BYTE_ARRAY: Final = 6
_DICTIONARY_PAGE: Final = 2
_PREFIXED: Final = 7  # DELTA_BYTE_ARRAY: a value repeats the beginning of the last
_CODED: Final = frozenset({2, 8})
_READ_AS_CODES: Final = frozenset({0, 2, 3, 4, 8})  # by pyarrow: not lengths of deltas
_PLAIN, _RLE = 0, 3
_CODEC_HEAD, _COUNT_HEAD = b"\x15", b"\x16"
MAX_COUNT_BYTES: Final = 9
# What pyarrow calls those that count here.
_KINDS: Final = {"BYTE_ARRAY": BYTE_ARRAY}
_ENCODINGS: Final = {"PLAIN_DICTIONARY": 2, "RLE_DICTIONARY": 8, "DELTA_BYTE_ARRAY": 7}
_CODECS: Final = {"SNAPPY": 1, "GZIP": 2, "BROTLI": 4, "LZ4": 7, "ZSTD": 6}
_CHUNK: Final = Layout(
    metadata=(
        3,
        Layout(
            kind=(1, "int"),
            encodings=(2, ListOf("int")),
            path=(3, ListOf("binary")),
            codec=(4, "int"),
            num_values=(5, "int"),
            uncompressed=(6, "int"),
            compressed=(7, "int"),
            data_at=(9, "int"),
            dictionary_at=(11, "int"),
        ),
    )
)
_FILE: Final = Layout(
    schema=(2, LateListOf(Layout())),
    row_groups=(4, ListOf(Layout(columns=(1, LateListOf(_CHUNK))))),
)
_PAGE: Final = Layout(
    kind=(1, "int"),
    uncompressed=(2, "int"),
    compressed=(3, "int"),
    dictionary=(7, Layout(num_values=(1, "int"))),
)


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """What a footer says of where a leaf column of a row group is, and how.

    Attributes:
        codec: How its pages are compressed, by number.
        size_bytes: Of its pages before they are compressed.
        first_bytes: Of this page, or of all that follow; compressed.
        stored_bytes: Of all its pages, compressed.
        is_coded: Whether values of it may be those of a dictionary.
        is_prefixed: Whether values of it may repeat the beginnings of others.
        is_read_as_codes: Whether pyarrow can read its texts as codes.
    """

    path: str
    kind: int
    codec: int
    num_values: int
    size_bytes: int
    first_page: int
    first_bytes: int
    stored_bytes: int
    is_coded: bool
    is_prefixed: bool
    is_read_as_codes: bool

    @property
    def may_unfold(self) -> bool:
        """Whether its values may be longer than its pages are."""
        return self.kind == BYTE_ARRAY and (self.is_coded or self.is_prefixed)


class StoredChunks:
    """The column chunks of a file; the footer is parsed when one is requested."""

    def __init__(self, footer: bytes) -> None:
        self._footer = footer
        self._known: dict[tuple[int, int], StoredChunk] = {}

    @cached_property
    def root(self) -> Node:
        """The schema of the file."""
        return known_schemas().of(self._footer)

    @cached_property
    def _groups(self) -> Sequence[Mapping[str, Any]]:
        raw = CompactReader(self._footer).read_struct(_FILE)
        groups: Sequence[Mapping[str, Any]] = raw.get("row_groups", ())
        return groups

    @cached_property
    def flat_leaves(self) -> frozenset[int]:
        """The leaf columns that have one value in each row."""
        return flat_leaves(self.root)

    @cached_property
    def usual_counts(self) -> Sequence[Sequence[int]]:
        """The values of each chunk, in the first row groups with the schema's paths.

        The paths and what follows are looked for as most writers store them, which
        takes a hundredth of the time of parsing the chunks. From a group with another
        form on nothing is known.
        """
        paths = [_stored_path(leaf.path) for leaf in self.root.leaves()]
        found: list[list[int]] = []
        at = 0
        while paths:
            counts = []
            for path in paths:
                at = self._footer.find(path, at)
                if at < 0:
                    return found
                at += len(path)
                count = _usual_count(self._footer, at)
                if count is None:
                    return found
                counts.append(count)
            found.append(counts)
        return found

    def of(self, row_group: int, leaf: int) -> StoredChunk:
        """Return what is said of the leaf column at a position in a row group."""
        place = row_group, leaf
        if place not in self._known:
            try:
                column = self._groups[row_group]["columns"][leaf]
            except LookupError:
                reason = "a row group lacks a column chunk"
                raise FooterCorruptError(reason=reason) from None
            self._known[place] = _chunk(column.get("metadata") or {})
        return self._known[place]


@lru_cache(maxsize=4096)
def _stored_path(path: tuple[str, ...]) -> bytes:
    """Return a path as field 3 of a column chunk, a list of names."""
    writer = CompactWriter()
    writer.struct(
        [
            (2, "i32", 0),
            (3, "list:binary", [name.encode(errors="replace") for name in path]),
        ]
    )
    return bytes(writer.parts)[2:-1]


def _usual_count(footer: bytes, at: int) -> int | None:
    """Return the number of values that follows a path; None in an unusual form.

    A codec of one byte (field 4) and the number (field 5) follow it as a rule.
    """
    if footer[at : at + 1] != _CODEC_HEAD or footer[at + 2 : at + 3] != _COUNT_HEAD:
        return None
    number = shift = 0
    for byte in footer[at + 3 : at + 3 + MAX_COUNT_BYTES]:
        number |= (byte & MORE) << shift
        if byte <= MORE:
            return (number >> 1) ^ -(number & 1)
        shift += 7
    return None


def _chunk(values: Mapping[str, Any]) -> StoredChunk:
    encodings = values.get("encodings", ())
    data_at = values.get("data_at", -1)
    # Some writers count the dictionary among the pages of data, or leave out where
    # it is: then it is the first of these.
    dictionary_at = values.get("dictionary_at") or 0
    is_apart = 0 < dictionary_at < data_at
    compressed = values.get("compressed", 0)
    return StoredChunk(
        path=".".join(map(text_of, values.get("path", ()))),
        kind=values.get("kind", -1),
        codec=values.get("codec", 0),
        num_values=max(0, values.get("num_values", 0)),
        size_bytes=max(0, values.get("uncompressed", 0)),
        first_page=dictionary_at if is_apart else data_at,
        first_bytes=data_at - dictionary_at if is_apart else compressed,
        stored_bytes=compressed,
        is_coded=not _CODED.isdisjoint(encodings),
        is_prefixed=_PREFIXED in encodings,
        is_read_as_codes=_READ_AS_CODES.issuperset(encodings),
    )


def chunk_of_arrow(column: pq.ColumnChunkMetaData) -> StoredChunk:
    """Return what pyarrow says of a leaf column of a row group, which it has parsed."""
    encodings = {_ENCODINGS.get(name, _PLAIN) for name in column.encodings}
    return _chunk(
        {
            "kind": _KINDS.get(column.physical_type, -1),
            "encodings": encodings,
            "codec": _CODECS.get(column.compression, 0),
            "num_values": column.num_values,
            "uncompressed": column.total_uncompressed_size,
            "compressed": column.total_compressed_size,
            "data_at": column.data_page_offset,
            "dictionary_at": column.dictionary_page_offset,
            "path": [column.path_in_schema.encode()],
        }
    )


def longest_values(source: RangeSource, chunks: Sequence[StoredChunk]) -> list[int]:
    """Return the bytes of the longest value in the dictionary of each chunk.

    Of one that has none it is 0; of one that is not to be read, what no value of it
    can be longer than.
    """
    found = [_dictionary(source, chunk) for chunk in chunks]
    pages = [page for page in found if isinstance(page, _Dictionary)]
    try:
        lengths = pc.binary_length(_plain_values(pages)) if pages else None
    except (pa.ArrowException, OSError):
        lengths = None
    longest, start = [], 0
    for chunk, page in zip(chunks, found, strict=True):
        if not isinstance(page, _Dictionary):
            longest.append(page)
        elif lengths is None:
            longest.append(chunk.size_bytes)
        else:
            own = lengths.slice(start, page.num_values)
            start += page.num_values
            longest.append(pc.max(own).as_py() or 0)
    return longest


@dataclass(frozen=True, slots=True)
class _Dictionary:
    """A dictionary page, as stored."""

    data: bytes
    size_bytes: int
    num_values: int
    codec: int


def _dictionary(source: RangeSource, chunk: StoredChunk) -> _Dictionary | int:
    try:
        head = bytes(source.read_at(HEADER_BYTES, chunk.first_page))
        reader = CompactReader(head)
        page = reader.read_struct(_PAGE)
        if page.get("kind") != _DICTIONARY_PAGE:
            return 0  # a chunk that begins with values has no dictionary
        stored, size = page["compressed"], page["uncompressed"]
        if not 0 <= max(stored, size) <= PAGE_BYTES:
            return int(size)
        data = bytes(source.read_at(stored, chunk.first_page + reader.position))
        return _Dictionary(data, size, page["dictionary"]["num_values"], chunk.codec)
    except (ParquetError, OSError, ValueError, LookupError):
        return chunk.size_bytes


def _plain_values(pages: Sequence[_Dictionary]) -> pa.ChunkedArray:
    """Return the values of dictionaries, by a file of which they are all the data."""
    file = bytearray(MAGIC)
    groups = []
    for page in pages:
        header = CompactWriter()
        count = page.num_values
        # A page of plain values, each of which is there.
        values = [(1, "i32", count), (2, "i32", 0), (3, "i32", 3), (4, "i32", 3)]
        sizes = [(2, "i32", page.size_bytes), (3, "i32", len(page.data))]
        header.struct([(1, "i32", 0), *sizes, (5, "struct", values)])
        at, size = len(file), len(header.parts) + len(page.data)
        metadata = [
            (1, "i32", BYTE_ARRAY),
            (2, "list:i32", [_PLAIN, _RLE]),
            (3, "list:binary", [b"v"]),
            (4, "i32", page.codec),
            (5, "i64", count),
            (6, "i64", len(header.parts) + page.size_bytes),
            (7, "i64", size),
            (9, "i64", at),
        ]
        chunk = [(2, "i64", at), (3, "struct", metadata)]
        columns = (1, "list:struct", [chunk])
        groups.append([columns, (2, "i64", size), (3, "i64", count)])
        file += header.parts
        file += page.data
    root = [(3, "i32", 0), (4, "binary", b"r"), (5, "i32", 1)]
    leaf = [(1, "i32", BYTE_ARRAY), (3, "i32", 0), (4, "binary", b"v")]
    footer = CompactWriter()
    footer.struct(
        [
            (1, "i32", 1),
            (2, "list:struct", [root, leaf]),
            (3, "i64", sum(page.num_values for page in pages)),
            (4, "list:struct", groups),
        ]
    )
    file += footer.parts
    file += len(footer.parts).to_bytes(4, "little") + MAGIC
    held = pa.BufferReader(pa.py_buffer(file))
    return pq.ParquetFile(held).read(use_threads=False).column(0)
