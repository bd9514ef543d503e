"""The column chunks of a footer as Arrow, added up by column while they are read.

Source: parquet.thrift, "ColumnMetaData", "Statistics", "PageEncodingStats".
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import pyarrow as pa

from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.metadata import ENCODINGS, ColumnChunk, name_of
from deltaweb.parquet.rendering import JSON
from deltaweb.parquet.statistics import NOTHING_KNOWN, ColumnStatistics, read_statistics

MAX_CHUNKS: Final = 4_000_000
"""Chunks that are listed of one file; what follows is not looked at."""
MAX_BOUND_LENGTH: Final = 200
MAX_WORDS: Final = 30_000
CHUNKS_A_BATCH: Final = 16_384
MAX_INT64: Final = (1 << 63) - 1

BLOOM_FILTER, COLUMN_INDEX, OFFSET_INDEX = 1, 2, 4
CUT_MIN, CUT_MAX, ENCRYPTED = 8, 16, 32
_DATA_PAGES: Final = frozenset({0, 3})
_DICTIONARIES: Final = frozenset({"RLE_DICTIONARY", "PLAIN_DICTIONARY"})
_OF_LEVELS: Final = frozenset({"RLE", "BIT_PACKED"})
_FAMILIES: Final = {"PLAIN": "Plain", "BYTE_STREAM_SPLIT": "Byte streams"}
DICTIONARY, THEN_PLAIN = "Dictionary", "Dictionary, then plain"

CHUNK_SCHEMA: Final = pa.schema(
    [
        ("row_group", pa.int32()),
        ("leaf", pa.int32()),
        ("compressed_bytes", pa.int64()),
        ("uncompressed_bytes", pa.int64()),
        ("num_values", pa.int64()),
        ("null_count", pa.int64()),
        ("distinct_count", pa.int64()),
        ("min", pa.string()),
        ("max", pa.string()),
        ("source", pa.int16()),
        ("ignored_because", pa.int16()),
        ("codec", pa.int16()),
        ("encodings", pa.int16()),
        ("family", pa.int16()),
        ("flags", pa.int8()),
        ("offset", pa.int64()),
    ]
)
"""A row a column chunk. `source` to `family` are numbers of words (`Words`), `flags`
bits of the constants above; the bounds are text, cut, and null where there is none."""


class Words:
    """The words that chunks share, each by its number; 0 is none."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}

    def number(self, word: str | None) -> int:
        """Return the number of a word."""
        if not word:
            return 0
        found = self._numbers.get(word)
        if found is None:
            # A footer can hold more reasons than a number of two bytes tells apart.
            if len(self._numbers) >= MAX_WORDS:
                return self._numbers.setdefault("other", MAX_WORDS)
            found = self._numbers[word] = len(self._numbers)
        return found

    def listed(self) -> list[str]:
        """Return the words, each at its number."""
        return list(self._numbers)


class _EncodingWords:
    """What is said of the encodings of chunks; most chunks of a footer share them."""

    def __init__(self) -> None:
        # The lists are kept too, so that no other list gets their identity.
        self._known: dict[tuple[int, int], tuple[object, object, str, str]] = {}

    def words(self, chunk: ColumnChunk) -> tuple[str, str]:
        """Return the family of a chunk's encodings, and their names."""
        names, pages = map(chunk.values.get, ("encodings", "encoding_stats"))
        key = id(names), id(pages)
        found = self._known.get(key)
        if found is None:
            found = names, pages, encoding_family(chunk), ", ".join(chunk.encodings)
            if len(self._known) < MAX_WORDS:
                self._known[key] = found
        return found[2:]


@dataclass(slots=True)
class ColumnSum:
    """What the chunks of one leaf column add up to; counts are of row groups.

    Attributes:
        null_count: Its nulls; None where a chunk does not tell.
        num_ranges: Chunks with bounds that may be believed.
        ignored_because: Why bounds of the first chunk are not; "" where they are.
        families: Numbers of words of its encodings.
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
    ignored_because: str = ""
    families: set[int] = field(default_factory=set)


class ChunkSums:
    """What all chunks add up to, by column, by codec and by encodings.

    Attributes:
        words: What numbers of the rows mean.
        columns: A sum a leaf column.
        codecs: By the name, bytes and chunks.
        families: By the words for the encodings, bytes and chunks.
        groups: By row group, its bytes and where it begins in the file.
    """

    def __init__(self, num_leaves: int) -> None:
        self.words = Words()
        self.encodings = _EncodingWords()
        self.columns = [ColumnSum() for _ in range(num_leaves)]
        self.codecs: dict[str, list[int]] = {}
        self.families: dict[str, list[int]] = {}
        self.groups: dict[int, tuple[int, int | None]] = {}
        self.num_chunks = 0

    def add(self, row: "ChunkRow", family: str, codec: str) -> None:
        """Add a chunk up."""
        self.num_chunks += 1
        size_bytes = row.compressed_bytes or 0
        before, begin = self.groups.get(row.row_group, (0, row.offset))
        self.groups[row.row_group] = before + size_bytes, begin
        for name, sums in ((family, self.families), (codec, self.codecs)):
            entry = sums.get(name)
            if entry is None:
                entry = sums[name] = [0, 0]
            entry[0] += size_bytes
            entry[1] += 1
        if row.leaf >= len(self.columns):
            return
        column = self.columns[row.leaf]
        column.num_chunks += 1
        column.compressed_bytes += size_bytes
        column.uncompressed_bytes += row.uncompressed_bytes or 0
        column.num_values += row.num_values or 0
        if row.null_count is None or column.null_count is None:
            column.null_count = None
        else:
            column.null_count += row.null_count
        flags = row.flags
        if flags & BLOOM_FILTER:
            column.num_bloom_filters += 1
        if flags & COLUMN_INDEX and flags & OFFSET_INDEX:
            column.num_page_indexes += 1
        if row.ignored_because:
            column.num_ignored += 1
        elif row.min is not None or row.max is not None:
            column.num_ranges += 1
        column.families.add(row.family)


class ChunkRow(NamedTuple):
    """A row of `CHUNK_SCHEMA`, its fields in the same order."""

    row_group: int
    leaf: int
    compressed_bytes: int | None
    uncompressed_bytes: int | None
    num_values: int | None
    null_count: int | None
    distinct_count: int | None
    min: str | None
    max: str | None
    source: int
    ignored_because: int
    codec: int
    encodings: int
    family: int
    flags: int
    offset: int | None


def chunk_batches(
    footer: ParquetFooter, sums: ChunkSums
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the chunks of a footer as `CHUNK_SCHEMA`, and how many groups are done.

    One row group is looked at after the other, so that memory stays bounded.

    Args:
        footer: The footer.
        sums: Gets what is yielded.

    Raises:
        FooterCorruptError: If a chunk is none.
    """
    rows: list[ChunkRow] = []
    done = 0
    for number, group in enumerate(footer.metadata.row_groups):
        for leaf, raw in enumerate(group.raw_columns):
            if sums.num_chunks >= MAX_CHUNKS:
                break
            # Not `group.columns`, which would keep them all.
            chunk = ColumnChunk(raw.get("metadata", {}), raw)
            rows.append(_row(chunk, footer, leaf, number, sums))
            if len(rows) >= CHUNKS_A_BATCH:
                yield done, _batch(rows)
                rows.clear()
        done = number + 1
    yield done, _batch(rows)


def _batch(rows: Sequence[ChunkRow]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [()] * len(CHUNK_SCHEMA)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(values, field.type)
            for values, field in zip(columns, CHUNK_SCHEMA, strict=True)
        ],
        schema=CHUNK_SCHEMA,
    )


def _row(
    chunk: ColumnChunk, footer: ParquetFooter, leaf: int, number: int, sums: ChunkSums
) -> ChunkRow:
    values, words = chunk.values, sums.words
    raw = chunk.statistics or {}
    judged = _judged(raw, footer, leaf)
    minimum, is_min_cut = bound_text(judged.min)
    maximum, is_max_cut = bound_text(judged.max)
    flags = (
        BLOOM_FILTER * ("bloom_filter_offset" in values)
        | COLUMN_INDEX * ("column_index_offset" in chunk.chunk)
        | OFFSET_INDEX * ("offset_index_offset" in chunk.chunk)
        | CUT_MIN * (is_min_cut or raw.get("is_min_exact") is False)
        | CUT_MAX * (is_max_cut or raw.get("is_max_exact") is False)
        | ENCRYPTED * chunk.is_encrypted
    )
    family, encodings = sums.encodings.words(chunk)
    codec = chunk.codec or "not told"
    dictionary_at, data_at = (
        count_of(values.get(name))
        for name in ("dictionary_page_offset", "data_page_offset")
    )
    row = ChunkRow(
        number,
        leaf,
        count_of(values.get("total_compressed_size")),
        count_of(values.get("total_uncompressed_size")),
        count_of(values.get("num_values")),
        count_of(raw.get("null_count")),
        count_of(raw.get("distinct_count")),
        minimum,
        maximum,
        source=words.number(judged.source),
        ignored_because=words.number(judged.ignored_because),
        codec=words.number(codec),
        encodings=words.number(encodings),
        family=words.number(family),
        flags=flags,
        offset=dictionary_at or data_at,
    )
    sums.add(row, family, codec)
    if judged.ignored_because and leaf < len(sums.columns):
        column = sums.columns[leaf]
        column.ignored_because = column.ignored_because or judged.ignored_because
    return row


def _judged(
    raw: Mapping[str, Any], footer: ParquetFooter, leaf: int
) -> ColumnStatistics:
    if not raw or leaf >= len(footer.leaves):
        return NOTHING_KNOWN
    return read_statistics(raw, footer.leaves[leaf], footer.order(leaf))


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
        return "RLE" if chunk.encodings else "not told"
    return " and ".join(_FAMILIES.get(name, name) for name in sorted(names))
