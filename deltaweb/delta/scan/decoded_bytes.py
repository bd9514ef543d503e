"""How many rows of a file are decoded at a time, by what they become in memory.

The pages of a file say little of that: a value of a dictionary stands in it once and in
memory as often as a row has it, and a list without an end is a few bytes of levels. So
what may become much is looked at first: the longest value of a dictionary, and how many
values a row has. Where this estimate is large, texts are read as codes, below lists
and maps too, and their bytes are counted row by row before they are looked up.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

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
FIXED_BYTES: Final = 12  # of a value of any other kind at most: a timestamp of 96 bits
LEAST_BYTES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("INT32", "FLOAT"), 4),
    **dict.fromkeys(("INT64", "INT96", "DOUBLE"), 8),
}
"""What a value of some kinds takes in memory, a null too."""
DECIMAL_BYTES: Final = 32


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
        self, names: Collection[str], row_group: int, most_rows: int
    ) -> tuple[int, tuple[str, ...]]:
        """Return how many rows of a row group are decoded at a time.

        Returns:
            The rows, and the paths of leaf columns that are to be read as codes: their
            values may become much, and only `parts` finds out whether they do.
        """
        group = self._metadata.row_group(row_group)
        rows = max(1, min(most_rows, group.num_rows))
        if not self.may_unfold(row_group, rows):
            return most_rows, ()
        fitting = UNSEEN_BYTES // max(1, int(group.total_byte_size))
        is_usual = fitting >= MIN_PART_ROWS and not self._repeated
        if is_usual and rows <= FEW_PARTS * fitting:
            return min(most_rows, fitting), ()
        row_bytes, least = 0, 0
        codes = []
        wanted = self._wanted(names, row_group)
        longest = self._longest(wanted, rows)
        for (leaf, chunk), length in zip(wanted.items(), longest, strict=True):
            if chunk.is_prefixed and chunk.size_bytes:
                some = max(PREFIXED_ROWS, UNSEEN_BYTES // chunk.size_bytes)
                most_rows = min(most_rows, some)
            values_a_row = max(1, -(-chunk.num_values // max(1, group.num_rows)))
            num_bytes = FIXED_BYTES
            if length is None:
                own = self._least_bytes(leaf)
                num_bytes = max(FIXED_BYTES, own)
                least += own * (chunk.num_values // max(1, group.num_rows))
                if least > ROW_BYTES:
                    raise _too_large(chunk.path, least)
            elif not self._is_text(leaf):
                num_bytes = DECIMAL_BYTES
            elif length * values_a_row * rows * len(wanted) <= DECODED_BYTES or (
                not chunk.is_read_as_codes or self._paths[chunk.path] > 1
            ):
                num_bytes = length
            else:
                codes.append(chunk.path)
            row_bytes += values_a_row * num_bytes
        return max(1, min(most_rows, DECODED_BYTES // max(1, row_bytes))), (*codes,)

    def may_unfold(self, row_group: int, rows: int) -> bool:
        """Tell whether so many rows can become much, as far as sizes alone tell."""
        group = self._metadata.row_group(row_group)
        return rows * int(group.total_byte_size) > UNSEEN_BYTES or any(
            chunk.num_values * max(FIXED_BYTES, chunk.size_bytes) > UNSEEN_BYTES
            for chunk in (self._chunks.of(row_group, leaf) for leaf in self._repeated)
        )

    def _wanted(self, names: Collection[str], row_group: int) -> dict[int, StoredChunk]:
        schema = self._metadata.schema
        return {
            leaf: self._chunks.of(row_group, leaf)
            for leaf in range(self._metadata.num_columns)
            if _is_of(schema.column(leaf).path, names)
        }

    def _longest(
        self, wanted: Mapping[int, StoredChunk], rows: int
    ) -> list[int | None]:
        """Return what no value of each chunk is longer than; None of fixed lengths.

        Values that are not coded are no longer than their pages, by which rows are
        counted already.
        """
        found: dict[int, int | None] = {}
        unknown = []
        for leaf, chunk in wanted.items():
            if chunk.kind != BYTE_ARRAY:
                found[leaf] = None
            elif not chunk.is_coded:
                found[leaf] = 0
            elif max(rows, chunk.num_values) * chunk.size_bytes <= DECODED_BYTES:
                found[leaf] = chunk.size_bytes
            else:
                unknown.append(leaf)
        looked_at = longest_values(self._source, [wanted[leaf] for leaf in unknown])
        found |= dict(zip(unknown, looked_at, strict=True))
        return [found[leaf] for leaf in wanted]

    def _least_bytes(self, leaf: int) -> int:
        """Return what a value of a leaf column of a fixed length takes."""
        column = self._metadata.schema.column(leaf)
        if column.physical_type == "FIXED_LEN_BYTE_ARRAY":
            return int(column.length)
        return LEAST_BYTES.get(column.physical_type, 0)

    def _is_text(self, leaf: int) -> bool:
        """Whether values have a length of their own: a decimal in bytes has not."""
        return bool(self._metadata.schema.column(leaf).converted_type != "DECIMAL")

    @cached_property
    def _paths(self) -> Counter[str]:
        """How many leaf columns have a path: a name may have a dot."""
        schema = self._metadata.schema
        leaves = range(self._metadata.num_columns)
        return Counter(schema.column(leaf).path for leaf in leaves)

    @cached_property
    def _repeated(self) -> Sequence[int]:
        if not any(pa.types.is_nested(field.type) for field in self._fields):
            return ()
        schema = self._metadata.schema
        leaves = range(self._metadata.num_columns)
        return [i for i in leaves if schema.column(i).max_repetition_level]


def parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield a batch in parts, none of whose codes become too much when looked up.

    Raises:
        MismatchError: If one row does.
    """
    bounds = {
        name: bound
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
        if (bound := _most_bytes(column))
    }
    if sum(bounds.values()) <= DECODED_BYTES:
        yield batch
        return
    found = {name: _row_bytes(batch.column(name)) for name in bounds}
    sizes = np.sum(list(found.values()), axis=0)
    if sizes.max(initial=0) > ROW_BYTES:
        row = int(sizes.argmax())
        by_column = {name: int(own[row]) for name, own in found.items()}
        raise _too_large(*max(by_column.items(), key=lambda one: one[1]))
    ends = np.cumsum(sizes)
    start = 0
    while start < batch.num_rows:
        before = ends[start - 1] if start else 0
        stop = int(np.searchsorted(ends, before + DECODED_BYTES, side="right"))
        stop = max(start + 1, stop)
        yield batch.slice(start, stop - start)
        start = stop


def _most_bytes(values: pa.Array) -> int:
    """Return what no codes among some values become more than."""
    if pa.types.is_dictionary(values.type):
        return len(values) * (pc.max(pc.binary_length(values.dictionary)).as_py() or 0)
    return sum(map(_most_bytes, _inner(values)))


def _row_bytes(values: pa.Array) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Return how many bytes the codes of each value become."""
    sizes = np.zeros(len(values), np.int64)
    if pa.types.is_dictionary(values.type):
        lengths = pc.binary_length(values.dictionary).take(values.indices)
        sizes += pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False)
    elif isinstance(values, pa.ListArray):
        (inner,) = _inner(values)
        ends = np.concatenate([[0], np.cumsum(_row_bytes(inner))])
        offsets = values.offsets.to_numpy()
        sizes += np.diff(ends[offsets - offsets[0]])
    else:
        for part in _inner(values):
            sizes += _row_bytes(part)
    return sizes


def _inner(values: pa.Array) -> list[pa.Array]:
    """Return the fields of structs, or what lists and maps hold."""
    if isinstance(values, pa.StructArray):
        return [values.field(place) for place in range(values.type.num_fields)]
    if isinstance(values, pa.ListArray):
        first, last = values.offsets[0].as_py(), values.offsets[-1].as_py()
        return [values.values[first:last]]
    return []


def _is_of(path: str, names: Collection[str]) -> bool:
    return path in names or any(path.startswith(f"{name}.") for name in names)


def _too_large(column: str, num_bytes: int) -> MismatchError:
    reason = f"one row takes {num_bytes:,} bytes in memory; the limit is {ROW_BYTES:,}"
    return MismatchError(column=column, reason=reason)
