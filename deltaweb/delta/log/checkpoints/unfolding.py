"""Columns of a checkpoint that may become far more in memory than they are in it.

A text of a dictionary stands in a file once and in memory as often as a row has it, and
a list without an end is a few bytes of levels. Sizes in the footer tell of most files
that they become little; of the others the dictionaries are looked at, and their rows
come in parts.
"""

from collections.abc import Collection, Sequence
from typing import Final

import pyarrow.parquet as pq

from deltaweb.parquet.errors import FooterCorruptError
from deltaweb.parquet.tail import RangeSource
from deltaweb.parquet.values.dictionaries import (
    StoredChunk,
    chunk_of_arrow,
    longest_values,
)

UNFOLDED_BYTES: Final = 4 << 30
"""What a read may become."""
PART_BYTES: Final = 256 << 20
"""What rows that are decoded at once become, unless it is one."""
LEVELS_BYTES: Final = 12
"""Of a value, or of a list without any, at the least."""


def rows_at_once(
    footer: pq.FileMetaData,
    source: RangeSource,
    row_groups: Collection[int],
    positions: Sequence[int],
) -> int | None:
    """Return how many rows can be decoded at once; None where all of them can.

    Args:
        positions: Of the leaf columns to read.
    """
    groups = [footer.row_group(position) for position in row_groups]
    columns = [group.column(position) for group in groups for position in positions]
    if LEVELS_BYTES * sum(column.num_values for column in columns) > UNFOLDED_BYTES:
        reason = "it claims more values than can be held"
        raise FooterCorruptError(reason=reason)
    found = [
        chunk
        for column in columns
        if column.num_values * column.total_uncompressed_size > UNFOLDED_BYTES
        and (chunk := chunk_of_arrow(column)).may_unfold
    ]
    if not found:
        return None
    longest = _longest(source, found)
    become = sum(
        chunk.size_bytes + chunk.num_values * length
        for chunk, length in zip(found, longest, strict=True)
    )
    if become <= UNFOLDED_BYTES:
        return None
    return max(1, PART_BYTES // max(1, sum(longest)))


def _longest(source: RangeSource, chunks: Sequence[StoredChunk]) -> list[int]:
    """Return what no value of each chunk is longer than."""
    looked_at = longest_values(source, chunks)
    return [
        chunk.size_bytes if chunk.is_prefixed else length
        for chunk, length in zip(chunks, looked_at, strict=True)
    ]
