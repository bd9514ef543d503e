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
    longest_value,
)

UNSEEN_BYTES: Final = 1 << 30
"""What rows may become at worst before it is looked at what they do become."""
DECODED_BYTES: Final = 128 << 20
"""What the rows of a batch become at most, unless it has one."""
ROW_BYTES: Final = 1 << 30
"""What one row may become."""
PREFIXED_ROWS: Final = 64
"""Rows that are decoded of values which repeat others: nothing tells their length."""
FIXED: Final = 7  # FIXED_LEN_BYTE_ARRAY
FIXED_BYTES: Final = 12  # of a value of any other kind at most: a timestamp of 96 bits


class DecodedBytes:
    """What is known of a file before it is decoded.

    Args:
        footer: The bytes of its footer.
        metadata: The same, as pyarrow has it.
        fields: Its columns.
        source: The file.
    """

    def __init__(
        self,
        footer: bytes,
        metadata: pq.FileMetaData,
        fields: Sequence[pa.Field],
        source: RangeSource,
    ) -> None:
        self._footer = footer
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
            names: The columns.
            row_group: The position of the row group.
            most_rows: The most that are wanted.
            coded: Columns that are read as codes: `parts` is for these.

        Raises:
            MismatchError: If one row becomes more than it may.
            FooterCorruptError: If the metadata of a column chunk is none.
        """
        group = self._metadata.row_group(row_group)
        rows = max(1, min(most_rows, group.num_rows))
        if not self.may_unfold(row_group, rows):
            return most_rows
        row_bytes, widest = 0, ("", 0)
        for leaf, chunk in enumerate(self._chunks.of(row_group)):
            if chunk.path in coded or not _is_of(chunk.path, names):
                continue
            if chunk.is_prefixed and chunk.size_bytes:
                fitting = max(PREFIXED_ROWS, UNSEEN_BYTES // chunk.size_bytes)
                most_rows = min(most_rows, fitting)
            values_a_row = max(1, -(-chunk.num_values // max(1, group.num_rows)))
            num_bytes = values_a_row * self._longest(leaf, chunk, rows * values_a_row)
            row_bytes += num_bytes
            widest = max(widest, (chunk.path, num_bytes), key=lambda one: one[1])
        if row_bytes > ROW_BYTES:
            raise _too_large(*widest)
        return max(1, min(most_rows, DECODED_BYTES // max(1, row_bytes)))

    def may_unfold(self, row_group: int, rows: int) -> bool:
        """Tell whether so many rows can become much, as far as sizes alone tell."""
        group = self._metadata.row_group(row_group)
        return self._has_lists or rows * int(group.total_byte_size) > UNSEEN_BYTES

    def _longest(self, leaf: int, chunk: StoredChunk, num_values: int) -> int:
        """Return what no value of a chunk is longer than, nor its part of the pages."""
        if chunk.kind == FIXED:
            return int(self._metadata.schema.column(leaf).length)
        if chunk.kind != BYTE_ARRAY:
            return FIXED_BYTES
        if not chunk.is_coded:
            return 0  # no longer than its pages, by which rows are counted, too
        if num_values * chunk.size_bytes <= DECODED_BYTES:
            return chunk.size_bytes
        return longest_value(self._source, chunk)

    @cached_property
    def _chunks(self) -> StoredChunks:
        return StoredChunks(self._footer)

    @cached_property
    def _has_lists(self) -> bool:
        return any(_has_list(field.type) for field in self._fields)


def parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield a batch in parts, none of whose codes become too much when looked up.

    Raises:
        MismatchError: If one row becomes more than it may.
    """
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


def _has_list(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_has_list(kind.field(i).type) for i in range(kind.num_fields))
    return bool(pa.types.is_nested(kind))


def _too_large(column: str, num_bytes: int) -> MismatchError:
    reason = (
        f"a value of it takes up to {num_bytes:,} bytes in memory, and a row may take"
        f" {ROW_BYTES:,}"
    )
    return MismatchError(column=column, reason=reason)
