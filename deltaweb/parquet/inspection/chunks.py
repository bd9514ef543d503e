"""The column chunks of a footer as Arrow, added up by column while they are read.

Source: parquet.thrift, "ColumnMetaData", "Statistics", "PageEncodingStats".
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pyarrow as pa

from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.metadata import ENCODINGS, ColumnChunk, name_of
from deltaweb.parquet.rendering import JSON
from deltaweb.parquet.statistics import NOTHING_KNOWN, read_statistics

MAX_CHUNKS: Final = 4_000_000
"""Chunks that are listed of one file; what follows is not looked at."""
MAX_BOUND_LENGTH: Final = 200
MAX_WORDS: Final = 30_000
CHUNKS_A_BATCH: Final = 16_384
MAX_INT64: Final = (1 << 63) - 1
UNKNOWN: Final = "unknown"

_DATA_PAGES: Final = frozenset({0, 3})
_DICTIONARIES: Final = frozenset({"RLE_DICTIONARY", "PLAIN_DICTIONARY"})
_OF_LEVELS: Final = frozenset({"RLE", "BIT_PACKED"})
_FAMILIES: Final = {"PLAIN": "Plain", "BYTE_STREAM_SPLIT": "Byte streams"}
DICTIONARY, THEN_PLAIN = "Dictionary", "Dictionary, then plain"

_WORD: Final = pa.dictionary(pa.int16(), pa.string())
CHUNK_SCHEMA: Final = pa.schema(
    [
        ("row_group", pa.int32()),
        ("column", pa.int32()),
        ("compressed_bytes", pa.int64()),
        ("uncompressed_bytes", pa.int64()),
        ("num_values", pa.int64()),
        ("null_count", pa.int64()),
        ("distinct_count", pa.int64()),
        ("min", pa.string()),
        ("max", pa.string()),
        ("min_is_bound", pa.bool_()),
        ("max_is_bound", pa.bool_()),
        ("source", _WORD),
        ("ignored_because", _WORD),
        ("codec", _WORD),
        ("encodings", _WORD),
        ("has_bloom_filter", pa.bool_()),
        ("has_column_index", pa.bool_()),
        ("has_offset_index", pa.bool_()),
        ("is_encrypted", pa.bool_()),
        ("offset", pa.int64()),
    ]
)
"""A row a column chunk, named as its JSON is. `column` is the number of the leaf;
the bounds are text, cut, and null where there is none: `min_is_bound` tells that the
least value may be greater."""


_NONE: Final[Mapping[str, Any]] = {}


class ChunkRow(NamedTuple):
    """A row of `CHUNK_SCHEMA`."""

    row_group: int
    column: int
    compressed_bytes: int | None
    uncompressed_bytes: int | None
    num_values: int | None
    null_count: int | None
    distinct_count: int | None
    min: str | None
    max: str | None
    min_is_bound: bool
    max_is_bound: bool
    source: str | None
    ignored_because: str | None
    codec: str
    encodings: str
    has_bloom_filter: bool
    has_column_index: bool
    has_offset_index: bool
    is_encrypted: bool
    offset: int | None


class _Words:
    """The words of a column that were seen, each with its number, which it keeps."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def column(self, words: Iterable[str | None]) -> pa.DictionaryArray:
        """Return words as a column; None is null."""
        numbers = [None if word is None else self._number(word) for word in words]
        listed = pa.array(self._numbers, pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int16()), listed)

    def _number(self, word: str) -> int:
        # A footer can hold more reasons than a number of two bytes tells apart.
        if word not in self._numbers and len(self._numbers) >= MAX_WORDS:
            word = "other"
        return self._numbers.setdefault(word, len(self._numbers))


@dataclass(slots=True)
class ColumnSum:
    """What the chunks of one leaf column add up to; counts are of row groups.

    Attributes:
        null_count: Its nulls; None where a chunk does not tell.
        num_ranges: Chunks with bounds that may be believed.
        ignored_because: Why bounds of the first chunk are not; None where they are.
    """

    num_chunks: int = 0
    compressed_bytes: int = 0
    uncompressed_bytes: int = 0
    num_values: int = 0
    null_count: int | None = 0
    num_bloom_filters: int = 0
    num_page_indexes: int = 0
    num_ranges: int = 0
    num_ignored: int = 0
    ignored_because: str | None = None

    def add(self, row: ChunkRow) -> None:
        """Add up what is said of a chunk beside its bytes."""
        self.num_values += row.num_values or 0
        if row.null_count is None or self.null_count is None:
            self.null_count = None
        else:
            self.null_count += row.null_count
        self.num_bloom_filters += row.has_bloom_filter
        self.num_page_indexes += row.has_column_index and row.has_offset_index
        if row.ignored_because:
            self.num_ignored += 1
            self.ignored_because = self.ignored_because or row.ignored_because
        elif row.min is not None or row.max is not None:
            self.num_ranges += 1


class ChunkSums:
    """What all chunks add up to.

    Attributes:
        codecs: By the name, bytes and chunks.
        families: By the words for the encodings, bytes and chunks.
        groups: By row group, its bytes and where it begins in the file.
    """

    def __init__(self) -> None:
        self.num_chunks = 0
        self.columns = defaultdict[int, ColumnSum](ColumnSum)
        self.codecs = defaultdict[str, list[int]](lambda: [0, 0])
        self.families = defaultdict[str, list[int]](lambda: [0, 0])
        self.groups: dict[int, tuple[int, int | None]] = {}
        # The lists are kept too, so that no other list gets their identity.
        self._known: dict[tuple[int, int], tuple[object, object, str, str]] = {}

    def add(self, row_group: int, leaf: int, chunk: ColumnChunk) -> ColumnSum:
        """Add the bytes of a chunk up, and return the sum of its column."""
        self.num_chunks += 1
        size_bytes = bytes_of(chunk)
        before, begin = self.groups.get(row_group) or (0, offset_of(chunk))
        self.groups[row_group] = before + size_bytes, begin
        for entry in (
            self.families[self.encodings_of(chunk)[0]],
            self.codecs[chunk.codec or UNKNOWN],
        ):
            entry[0] += size_bytes
            entry[1] += 1
        column = self.columns[leaf]
        column.num_chunks += 1
        column.compressed_bytes += size_bytes
        column.uncompressed_bytes += bytes_of(chunk, "total_uncompressed_size")
        return column

    def encodings_of(self, chunk: ColumnChunk) -> tuple[str, str]:
        """Return words for the encodings, and their names: most chunks share both."""
        names, pages = map(chunk.values.get, ("encodings", "encoding_stats"))
        key = id(names), id(pages)
        found = self._known.get(key)
        if found is None:
            found = names, pages, encoding_family(chunk), ", ".join(chunk.encodings)
            if len(self._known) < MAX_WORDS:
                self._known[key] = found
        return found[2:]


def chunk_batches(
    footer: ParquetFooter, sums: ChunkSums
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the chunks of a footer as `CHUNK_SCHEMA`, and how many groups are done.

    One row group is looked at after the other, so that memory stays bounded.
    """
    rows: list[ChunkRow] = []
    words = defaultdict[str, _Words](_Words)
    done = 0
    for number, group in enumerate(footer.metadata.row_groups):
        for leaf, chunk in enumerate(group.chunks()):
            if sums.num_chunks >= MAX_CHUNKS:
                break
            column = sums.add(number, leaf, chunk)
            row = _row(number, leaf, chunk, footer, sums)
            column.add(row)
            rows.append(row)
            if len(rows) >= CHUNKS_A_BATCH:
                yield done, _batch(rows, words)
                rows.clear()
        done = number + 1
    yield done, _batch(rows, words)


def _batch(rows: Sequence[ChunkRow], words: defaultdict[str, _Words]) -> pa.RecordBatch:
    all_values = zip(*rows, strict=True) if rows else [()] * len(CHUNK_SCHEMA)
    columns = [
        words[one.name].column(values)
        if pa.types.is_dictionary(one.type)
        else pa.array(values, one.type)
        for one, values in zip(CHUNK_SCHEMA, all_values, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=CHUNK_SCHEMA)


def _row(
    number: int, leaf: int, chunk: ColumnChunk, footer: ParquetFooter, sums: ChunkSums
) -> ChunkRow:
    """Return what is said of a chunk; a footer can have millions, so nothing more."""
    values, outer = chunk.values, chunk.chunk
    said, judged = _NONE, NOTHING_KNOWN
    if chunk.statistics is not None and leaf < len(footer.leaves):
        said = chunk.statistics
        judged = read_statistics(said, footer.leaves[leaf], footer.order(leaf))
    low, is_low_cut = bound_text(judged.min)
    high, is_high_cut = bound_text(judged.max)
    return ChunkRow(
        number,
        leaf,
        count_of(values.get("total_compressed_size")),
        count_of(values.get("total_uncompressed_size")),
        count_of(values.get("num_values")),
        count_of(said.get("null_count")),
        count_of(said.get("distinct_count")),
        low,
        high,
        is_low_cut or said.get("is_min_exact") is False,
        is_high_cut or said.get("is_max_exact") is False,
        judged.source,
        judged.ignored_because,
        chunk.codec or UNKNOWN,
        sums.encodings_of(chunk)[1],
        "bloom_filter_offset" in values,
        "column_index_offset" in outer,
        "offset_index_offset" in outer,
        chunk.is_encrypted,
        offset_of(chunk),
    )


def offset_of(chunk: ColumnChunk) -> int | None:
    """Return where the pages of a chunk begin in the file."""
    names = "dictionary_page_offset", "data_page_offset"
    dictionary_at, data_at = (count_of(chunk.values.get(name)) for name in names)
    return dictionary_at or data_at


def bytes_of(chunk: ColumnChunk, name: str = "total_compressed_size") -> int:
    """Return the bytes of a chunk; 0 where no file can mean what the footer has."""
    return max(count_of(chunk.values.get(name)) or 0, 0)


def count_of(value: Any) -> int | None:  # noqa: ANN401 (what the footer has)
    """Return a number that Arrow holds; None for one that no file can mean."""
    if value is None or not -MAX_INT64 <= value <= MAX_INT64:
        return None
    return int(value)


def bound_text(value: JSON) -> tuple[str | None, bool]:
    """Return a bound as text, and whether that is only its beginning."""
    if value is None:
        return None, False
    if isinstance(value, str):
        text = value
    elif type(value) is int:  # a truth is one too
        text = str(value)
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text[:MAX_BOUND_LENGTH], len(text) > MAX_BOUND_LENGTH


def encoding_family(chunk: ColumnChunk) -> str:
    """Return how the values of a chunk are encoded, in a word or three.

    Where the footer counts pages by encoding, these tell whether a dictionary was
    given up; otherwise nothing does, for the dictionary itself is plain.
    """
    stats = chunk.values.get("encoding_stats") or ()
    pages = {
        name_of(ENCODINGS, page.get("encoding", 0))
        for page in stats
        if page.get("page_type") in _DATA_PAGES
    }
    names = pages or {name for name in chunk.encodings if name not in _OF_LEVELS}
    if names & _DICTIONARIES:
        return THEN_PLAIN if pages - _DICTIONARIES else DICTIONARY
    if not names:
        return "RLE" if chunk.encodings else UNKNOWN
    return " and ".join(_FAMILIES.get(name, name) for name in sorted(names))
