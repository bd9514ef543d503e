"""How many rows of a file are decoded at a time, by what they become in memory.

The pages of a file say little of that: a value of a dictionary stands in it once and in
memory as often as a row has it, and a list without an end is a few bytes of levels. So
what may become much is looked at first: the longest value of a dictionary, and how many
values a row has.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deltaweb.delta.values.stored_columns import MismatchError
from deltaweb.parquet.tail import RangeSource
from deltaweb.parquet.values.dictionaries import (
    BYTE_ARRAY,
    StoredChunk,
    StoredChunks,
    longest_values,
)

UNSEEN_BYTES: Final = 1 << 30
"""What rows may become at worst before it is looked at what they do become."""
DECODED_BYTES: Final = 128 << 20
"""What the rows of a batch become at most, unless it has one."""
ROW_BYTES: Final = 1 << 30
"""What one row may become."""
FEW_PARTS: Final = 3
MIN_PART_ROWS: Final = 1_000
"""So few parts of so many rows take less time than to look how many are needed."""
PREFIXED_ROWS: Final = 64
"""Rows that are decoded of values which repeat others: nothing tells their length."""
FIXED: Final = 7  # FIXED_LEN_BYTE_ARRAY
FIXED_BYTES: Final = 12  # of a value of any other kind at most: a timestamp of 96 bits


class DecodedBytes:
    """What is known of a file before it is decoded."""

    def __init__(
        self,
        chunks: StoredChunks,
        metadata: pq.FileMetaData,
        fields: Sequence[pa.Field],
        source: RangeSource,
    ) -> None:
        self._chunks = chunks
        self._metadata = metadata
        self._fields = fields
        self._source = source

    def rows_at_once(
        self,
        names: Collection[str],
        row_group: int,
        most_rows: int,
        coded: Sequence[str],
    ) -> int:
        """Return how many rows of a row group are decoded at a time.

        Args:
            coded: Columns that are read as codes: `parts` is for these.
        """
        group = self._metadata.row_group(row_group)
        rows = max(1, min(most_rows, group.num_rows))
        if not self.may_unfold(row_group, rows):
            return most_rows
        fitting = UNSEEN_BYTES // max(1, int(group.total_byte_size))
        is_usual = fitting >= MIN_PART_ROWS and not self._repeated
        if is_usual and rows <= FEW_PARTS * fitting:
            return min(most_rows, fitting)
        row_bytes, widest = 0, ("", 0)
        wanted = self._wanted(names, row_group, coded)
        longest = self._longest([chunk for _, chunk in wanted], rows)
        for (leaf, chunk), length in zip(wanted, longest, strict=True):
            if chunk.is_prefixed and chunk.size_bytes:
                some = max(PREFIXED_ROWS, UNSEEN_BYTES // chunk.size_bytes)
                most_rows = min(most_rows, some)
            fixed = FIXED_BYTES
            if chunk.kind == FIXED:
                fixed = int(self._metadata.schema.column(leaf).length)
            values_a_row = max(1, -(-chunk.num_values // max(1, group.num_rows)))
            num_bytes = values_a_row * (fixed if length is None else length)
            row_bytes += num_bytes
            widest = max(widest, (chunk.path, num_bytes), key=lambda one: one[1])
        if row_bytes > ROW_BYTES:
            raise _too_large(*widest)
        return max(1, min(most_rows, DECODED_BYTES // max(1, row_bytes)))

    def may_unfold(self, row_group: int, rows: int) -> bool:
        """Tell whether so many rows can become much, as far as sizes alone tell."""
        group = self._metadata.row_group(row_group)
        return rows * int(group.total_byte_size) > UNSEEN_BYTES or any(
            chunk.num_values * max(FIXED_BYTES, chunk.size_bytes) > UNSEEN_BYTES
            for chunk in (self._chunks.of(row_group, leaf) for leaf in self._repeated)
        )

    def _wanted(
        self, names: Collection[str], row_group: int, coded: Sequence[str]
    ) -> list[tuple[int, StoredChunk]]:
        found = []
        for leaf in range(self._metadata.num_columns):
            path = self._metadata.schema.column(leaf).path
            if path not in coded and _is_of(path, names):
                found.append((leaf, self._chunks.of(row_group, leaf)))
        return found

    def _longest(self, chunks: Sequence[StoredChunk], rows: int) -> list[int | None]:
        """Return what no value of each chunk is longer than; None of fixed lengths.

        Values that are not coded are no longer than their pages, by which rows are
        counted already.
        """
        found: dict[int, int | None] = {}
        unknown = []
        for place, chunk in enumerate(chunks):
            if chunk.kind != BYTE_ARRAY:
                found[place] = None
            elif not chunk.is_coded:
                found[place] = 0
            elif max(rows, chunk.num_values) * chunk.size_bytes <= DECODED_BYTES:
                found[place] = chunk.size_bytes
            else:
                unknown.append(place)
        looked_at = longest_values(self._source, [chunks[i] for i in unknown])
        found |= dict(zip(unknown, looked_at, strict=True))
        return [found[place] for place in range(len(chunks))]

    @cached_property
    def _repeated(self) -> Sequence[int]:
        if not any(pa.types.is_nested(field.type) for field in self._fields):
            return ()
        schema = self._metadata.schema
        leaves = range(self._metadata.num_columns)
        return [i for i in leaves if schema.column(i).max_repetition_level]


def parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield a batch in parts, none of whose codes become too much when looked up."""
    coded = {
        name: column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
        if pa.types.is_dictionary(column.type)
    }
    longest = {name: _longest_of(column) for name, column in coded.items()}
    if sum(longest.values()) * batch.num_rows <= DECODED_BYTES:
        yield batch
        return
    sizes = np.zeros(batch.num_rows, np.int64)
    for column in coded.values():
        lengths = pc.binary_length(column.dictionary).take(column.indices)
        sizes += pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False)
    if sizes.max(initial=0) > ROW_BYTES:
        raise _too_large(*max(longest.items(), key=lambda one: one[1]))
    ends = np.cumsum(sizes)
    start = 0
    while start < batch.num_rows:
        before = ends[start - 1] if start else 0
        stop = int(np.searchsorted(ends, before + DECODED_BYTES, side="right"))
        stop = max(start + 1, stop)
        yield batch.slice(start, stop - start)
        start = stop


def _longest_of(column: pa.DictionaryArray) -> int:
    return pc.max(pc.binary_length(column.dictionary)).as_py() or 0


def _is_of(path: str, names: Collection[str]) -> bool:
    return path in names or any(path.startswith(f"{name}.") for name in names)


def _too_large(column: str, num_bytes: int) -> MismatchError:
    reason = (
        f"a value of it takes up to {num_bytes:,} bytes in memory, and a row may take"
        f" {ROW_BYTES:,}"
    )
    return MismatchError(column=column, reason=reason)
