"""Row groups of a file: all in short, one with its columns, one column over all."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.parquet_file.conditions import (
    Condition,
    GroupVerdict,
    TriedCondition,
    try_condition,
)
from apps.pages.figures import percent
from apps.pages.lists.paging import Paged, paged
from apps.pages.page_json import Named, OnPage, Spread
from deltaweb.parquet.inspection.chunks import MAX_CHUNKS

CHUNKS_A_PAGE: Final = 12
GROUPS_A_PAGE: Final = 12
BARS_A_PAGE: Final = 10
MAX_BARS: Final = 200
BYTES, BYTES_END = '{"hex": "', '"}'  # around the digits of bytes, in JSON
NOT_WRITTEN: Final = "the footer has no range"
Row: TypeAlias = dict[str, Any]
"""A row of a table of the footer, named as its JSON is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Some row groups that stand beside each other.

    Attributes:
        first, last: The numbers of the first and the last row group.
    """

    first: int
    last: int
    size_bytes: Annotated[int, Named("bytes")]
    num_rows: Annotated[int, Named("rows")]

    @property
    def average_bytes(self) -> int:
        return self.size_bytes // (self.last - self.first + 1)

    @property
    def label(self) -> str:
        if self.first == self.last:
            return f"{self.first:,}"
        return f"{self.first:,} to {self.last:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChunk:
    """A column in a row group: a row of `CHUNK_SCHEMA` with its path.

    Attributes:
        tried: Whether the row group is read for a condition on the column; null without
            a condition.
    """

    row: Spread[Row]
    tried: GroupVerdict | None = None

    @property
    def least(self) -> str:
        """The lower bound for people, bytes as 0x0f."""
        return _shown_bound(self.row["min"])

    @property
    def greatest(self) -> str:
        """The upper bound likewise."""
        return _shown_bound(self.row["max"])

    @property
    def verdict(self) -> str:
        """Why it has no range that may be believed, or nothing."""
        row = self.row
        if row["ignored_because"]:
            return f"ignored: {row['ignored_because']}"
        if row["min"] is None and row["max"] is None:
            nulls = row["null_count"]
            is_null = nulls is not None and nulls == row["num_values"]
            return "every value is null" if is_null else NOT_WRITTEN
        return ""

    @property
    def indexes(self) -> str:
        """What readers may skip its pages by."""
        words = []
        if self.row["has_column_index"] and self.row["has_offset_index"]:
            words.append("page index")
        if self.row["has_bloom_filter"]:
            words.append("bloom filter")
        return ", ".join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGroup:
    """A row group, as `GROUP_SCHEMA` has it, and some of its columns by their bytes."""

    number: int
    row: Spread[Row]
    chunks: Annotated[list[ShownChunk], Named("columns")] = field(default_factory=list)
    paged: Spread[Paged]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownColumn:
    """A leaf column, and what it is in some of the row groups."""

    number: int
    path: list[str]
    num_ranges: int
    num_ignored: int
    num_groups: int
    chunks: Annotated[list[ShownChunk], Named("row_groups")] = field(
        default_factory=list
    )
    paged: Spread[Paged]
    tried: TriedCondition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBytes:
    """How large a leaf column is in the whole file, as `NODE_SCHEMA` has it."""

    row: Spread[Row]
    of_largest_percent: OnPage[float]


class Chunks:
    """The column chunks of a file, found without reading the others.

    Args:
        chunks: `CHUNK_SCHEMA`.
        groups: `GROUP_SCHEMA`.
        nodes: `NODE_SCHEMA`.
    """

    def __init__(self, chunks: pa.Table, groups: pa.Table, nodes: pa.Table) -> None:
        self.chunks = chunks
        self.groups = groups
        self.leaves = nodes.filter(pc.is_valid(nodes["column"]))
        counts = groups["num_chunks"].combine_chunks()
        sums = pc.cumulative_sum(counts)
        starts = pc.subtract(sums, counts)
        self._starts = pc.min_element_wise(starts, MAX_CHUNKS)

    def group(self, number: int, page: int) -> ShownGroup:
        """Return a row group with a page of its columns; one beyond is the last."""
        number = min(number, self.groups.num_rows - 1)
        (row,) = self.groups.slice(number, 1).to_pylist()
        count = row.pop("num_chunks")
        own = self.chunks.slice(self._starts[number].as_py(), count)
        place = paged(own.num_rows, page, length=CHUNKS_A_PAGE)
        keys = [("compressed_bytes", "descending"), ("column", "ascending")]
        order = pc.sort_indices(own, keys)[place.rows]
        return ShownGroup(
            number=number, row=row, chunks=self._shown(own.take(order)), paged=place
        )

    def column(
        self, leaf: int, page: int, condition: Condition | None = None
    ) -> ShownColumn | None:
        """Return a column with a page of its row groups; None without such a one."""
        if leaf >= self.leaves.num_rows:
            return None
        (facts,) = self.leaves.slice(leaf, 1).to_pylist()
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
            path=facts["path"],
            num_ranges=facts["num_ranges"],
            num_ignored=facts["num_ignored"],
            num_groups=facts["num_chunks"],
            chunks=[
                replace(chunk, tried=verdicts.get(chunk.row["row_group"]))
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
        keys = [("compressed_bytes", "descending"), ("column", "ascending")]
        names = ["column", "path", "compressed_bytes", "uncompressed_bytes"]
        order = pc.sort_indices(self.leaves, keys)[place.rows]
        rows = self.leaves.select(names).take(order).to_pylist()
        for row in rows:
            row["share_percent"] = percent(row["compressed_bytes"], total)
        return [
            ColumnBytes(
                row=row, of_largest_percent=percent(row["compressed_bytes"], largest)
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
        known = {row["column"] for row in rows if row["column"] < self.leaves.num_rows}
        taken = self.leaves["path"].take(pa.array(known, pa.int64())).to_pylist()
        paths = dict(zip(known, taken, strict=True))
        for row in rows:
            row["path"] = paths.get(row["column"]) or [f"column {row['column']}"]
        return [ShownChunk(row=row) for row in rows]


def _shown_bound(text: str | None) -> str:
    if text is None:
        return "—"
    if not text.startswith(BYTES):
        return text
    return f"0x{text.removeprefix(BYTES).rstrip(BYTES_END)}"
