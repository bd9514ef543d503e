"""Row groups of a file: all in short, one with its columns, one column over all."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.parquet_file.skipping import (
    Condition,
    GroupVerdict,
    TriedCondition,
    try_condition,
)
from apps.pages.page_json import Named, OnPage, Spread
from apps.pages.paging import Paged, paged
from deltaweb.parquet.inspection.chunks import (
    BLOOM_FILTER,
    COLUMN_INDEX,
    CUT_MAX,
    CUT_MIN,
    ENCRYPTED,
    MAX_CHUNKS,
    OFFSET_INDEX,
)

CHUNKS_A_PAGE: Final = 12
GROUPS_A_PAGE: Final = 12
BARS_A_PAGE: Final = 10
MAX_BARS: Final = 200
BYTES, BYTES_END = '{"hex": "', '"}'  # around the digits of bytes, in JSON
NOT_WRITTEN: Final = "the footer has no range"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Some row groups that stand beside each other.

    Attributes:
        first, last: Their numbers.
        size_bytes: Compressed bytes of all of them.
        num_rows: Rows of all of them.
    """

    first: int
    last: int
    size_bytes: Annotated[int, Named("bytes")]
    num_rows: Annotated[int, Named("rows")]

    @property
    def average_bytes(self) -> int:
        """Bytes of one of them."""
        return self.size_bytes // (self.last - self.first + 1)

    @property
    def label(self) -> str:
        """Their numbers as text."""
        if self.first == self.last:
            return f"{self.first:,}"
        return f"{self.first:,} to {self.last:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChunk:
    """A column in a row group.

    Attributes:
        row_group: The number of the row group.
        column: The number of the leaf column.
        path: Its names from the top.
        minimum, maximum: Bounds that may be believed, as text; None without.
        is_min_cut, is_max_cut: Whether a bound is only near the value.
        verdict: Why there is no range, or nothing.
        indexes: What it has besides: page index, bloom filter.
        tried: Whether a condition on the column reads its row group; None of none.
    """

    row_group: int
    column: int
    path: tuple[str, ...]
    compressed_bytes: int | None
    uncompressed_bytes: int | None
    num_values: int | None
    null_count: int | None
    distinct_count: int | None
    minimum: Annotated[str | None, Named("min")]
    maximum: Annotated[str | None, Named("max")]
    is_min_cut: Annotated[bool, Named("min_is_bound")]
    is_max_cut: Annotated[bool, Named("max_is_bound")]
    source: str | None
    ignored_because: str | None
    codec: str
    encodings: str
    has_bloom_filter: bool
    has_column_index: bool
    has_offset_index: bool
    is_encrypted: bool
    offset: int | None
    tried: GroupVerdict | None = None

    @property
    def name(self) -> str:
        """The dotted path."""
        return ".".join(self.path)

    @property
    def least(self) -> str:
        """The lower bound for people, bytes as 0x0f."""
        return _shown_bound(self.minimum)

    @property
    def greatest(self) -> str:
        """The upper bound likewise."""
        return _shown_bound(self.maximum)

    @property
    def verdict(self) -> str:
        """Why it has no range that may be believed, or nothing."""
        if self.ignored_because:
            return f"ignored: {self.ignored_because}"
        if self.minimum is None and self.maximum is None:
            is_null = self.null_count is not None and self.null_count == self.num_values
            return "every value is null" if is_null else NOT_WRITTEN
        return ""

    @property
    def indexes(self) -> str:
        """What readers may skip its pages by."""
        words = []
        if self.has_column_index and self.has_offset_index:
            words.append("page index")
        if self.has_bloom_filter:
            words.append("bloom filter")
        return ", ".join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGroup:
    """A row group, and some of its columns, the largest first."""

    number: int
    num_rows: int | None
    compressed_bytes: int | None
    uncompressed_bytes: int | None
    offset: int | None
    sorting: Annotated[str | None, Named("sorted_by")]
    chunks: Annotated[list[ShownChunk], Named("columns")] = field(default_factory=list)
    paged: Spread[Paged]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownColumn:
    """A leaf column, and what it is in some of the row groups."""

    number: int
    path: tuple[str, ...]
    num_ranges: int
    num_ignored: int
    num_groups: int
    chunks: Annotated[list[ShownChunk], Named("row_groups")] = field(
        default_factory=list
    )
    paged: Spread[Paged]
    tried: TriedCondition | None = None

    @property
    def name(self) -> str:
        """The dotted path."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBytes:
    """How large a leaf column is in the whole file."""

    column: int
    path: tuple[str, ...]
    compressed_bytes: int
    uncompressed_bytes: int
    share_percent: float
    of_largest_percent: OnPage[float]

    @property
    def name(self) -> str:
        """The dotted path."""
        return ".".join(self.path)


class Chunks:
    """The column chunks of a file, found without reading the others.

    Args:
        chunks: `CHUNK_SCHEMA`.
        groups: `GROUP_SCHEMA`.
        nodes: `NODE_SCHEMA`.
        words: What numbers of the chunks mean.
    """

    def __init__(
        self, chunks: pa.Table, groups: pa.Table, nodes: pa.Table, words: list[str]
    ) -> None:
        self.chunks = chunks
        self.groups = groups
        self._words = words
        self.leaves = nodes.filter(pc.is_valid(nodes["leaf"]))
        counts = groups["num_chunks"].combine_chunks()
        sums = pc.cumulative_sum(counts)
        starts = pc.subtract(sums, counts)
        self._starts = pc.min_element_wise(starts, MAX_CHUNKS)

    def group(self, number: int, page: int) -> ShownGroup:
        """Return a row group with a page of its columns; one beyond is the last."""
        number = min(number, self.groups.num_rows - 1)
        facts = self.groups.slice(number, 1).to_pylist()[0]
        own = self.chunks.slice(self._starts[number].as_py(), facts["num_chunks"])
        place = paged(own.num_rows, page, length=CHUNKS_A_PAGE)
        keys = [("compressed_bytes", "descending"), ("leaf", "ascending")]
        order = pc.sort_indices(own, keys)[place.rows]
        return ShownGroup(
            number=number,
            num_rows=facts["num_rows"],
            compressed_bytes=facts["compressed_bytes"],
            uncompressed_bytes=facts["uncompressed_bytes"],
            offset=facts["offset"],
            sorting=facts["sorting"],
            chunks=self._shown(own.take(order)),
            paged=place,
        )

    def column(
        self, leaf: int, page: int, condition: Condition | None = None
    ) -> ShownColumn | None:
        """Return a column with a page of its row groups; None without such a one.

        Args:
            leaf: The number of the leaf column.
            page: Which page, from 1.
            condition: What is tried on it.
        """
        if leaf >= self.leaves.num_rows:
            return None
        facts = self.leaves.slice(leaf, 1).to_pylist()[0]
        rows = self.rows_of(leaf)
        place = paged(len(rows), page, length=GROUPS_A_PAGE)
        tried = (
            None
            if condition is None
            else try_condition(condition, facts, self.chunks, self.groups)
        )
        verdicts = {} if tried is None else tried.verdicts
        return ShownColumn(
            number=leaf,
            path=tuple(facts["path"]),
            num_ranges=facts["num_ranges"],
            num_ignored=facts["num_ignored"],
            num_groups=facts["num_chunks"],
            chunks=[
                replace(chunk, tried=verdicts.get(chunk.row_group))
                for chunk in self._shown(self._at(rows[place.rows]))
            ],
            paged=place,
            tried=tried,
        )

    def rows_of(self, leaf: int) -> pa.Array:
        """Return the rows of a leaf column among the chunks, a row a row group."""
        has = pc.greater(self.groups["num_chunks"].combine_chunks(), leaf)
        rows = pc.add(self._starts.filter(has), leaf)
        return rows.filter(pc.less(rows, self.chunks.num_rows))

    def bins(self) -> list[Bin]:
        """Return all row groups in short: at most `MAX_BARS` of them beside each."""
        total = self.groups.num_rows
        width = -(-total // MAX_BARS) or 1
        firsts = np.arange(0, total, width)
        if not len(firsts):
            return []
        sizes, rows = (
            np.add.reduceat(pc.fill_null(self.groups[name], 0).to_numpy(), firsts)
            for name in ("compressed_bytes", "num_rows")
        )
        return [
            Bin(
                first=first,
                last=min(first + width, total) - 1,
                size_bytes=size_bytes,
                num_rows=num_rows,
            )
            for first, size_bytes, num_rows in zip(
                firsts.tolist(), sizes.tolist(), rows.tolist(), strict=True
            )
        ]

    def by_bytes(self, page: int) -> tuple[list[ColumnBytes], Paged]:
        """Return a page of the columns by their bytes, the largest first."""
        sizes = self.leaves["compressed_bytes"]
        total = pc.sum(sizes).as_py() or 0
        largest = pc.max(sizes).as_py() or 0
        place = paged(self.leaves.num_rows, page, length=BARS_A_PAGE)
        keys = [("compressed_bytes", "descending"), ("leaf", "ascending")]
        names = ["path", "leaf", "compressed_bytes", "uncompressed_bytes"]
        order = pc.sort_indices(self.leaves, keys)[place.rows]
        rows = self.leaves.select(names).take(order).to_pylist()
        return [
            ColumnBytes(
                column=row["leaf"],
                path=tuple(row["path"]),
                compressed_bytes=row["compressed_bytes"],
                uncompressed_bytes=row["uncompressed_bytes"],
                share_percent=_percent(row["compressed_bytes"], total),
                of_largest_percent=_percent(row["compressed_bytes"], largest),
            )
            for row in rows
        ], place

    def _at(self, rows: pa.Array) -> pa.Table:
        """Return a few of the chunks: `take` would join all of them first."""
        none = self.chunks.slice(0, 0)
        found = (self.chunks.slice(row, 1) for row in rows.to_pylist())
        return pa.concat_tables([none, *found])

    def _shown(self, chunks: pa.Table) -> list[ShownChunk]:
        rows = chunks.to_pylist()
        leaves = sorted({row["leaf"] for row in rows})
        known = [leaf for leaf in leaves if leaf < self.leaves.num_rows]
        paths = self.leaves["path"].take(pa.array(known, pa.int64())).to_pylist()
        names = dict(zip(known, paths, strict=True))
        return [self._chunk(row, names.get(row["leaf"], ())) for row in rows]

    def _chunk(self, row: dict[str, Any], path: tuple[str, ...]) -> ShownChunk:
        words, flags = self._words, row["flags"]
        return ShownChunk(
            row_group=row["row_group"],
            column=row["leaf"],
            path=tuple(path) or (f"column {row['leaf']}",),
            compressed_bytes=row["compressed_bytes"],
            uncompressed_bytes=row["uncompressed_bytes"],
            num_values=row["num_values"],
            null_count=row["null_count"],
            distinct_count=row["distinct_count"],
            minimum=row["min"],
            maximum=row["max"],
            is_min_cut=bool(flags & CUT_MIN),
            is_max_cut=bool(flags & CUT_MAX),
            source=words[row["source"]] or None,
            ignored_because=words[row["ignored_because"]] or None,
            codec=words[row["codec"]],
            encodings=words[row["encodings"]],
            has_bloom_filter=bool(flags & BLOOM_FILTER),
            has_column_index=bool(flags & COLUMN_INDEX),
            has_offset_index=bool(flags & OFFSET_INDEX),
            is_encrypted=bool(flags & ENCRYPTED),
            offset=row["offset"],
        )


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole > 0 else 0.0


def _shown_bound(text: str | None) -> str:
    if text is None:
        return "—"
    if not text.startswith(BYTES):
        return text
    return f"0x{text.removeprefix(BYTES).rstrip(BYTES_END)}"
