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
    StoredChunks,
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
    stored: bytes,
    source: RangeSource,
    row_groups: Collection[int],
    positions: Sequence[int],
) -> int | None:
    """Return how many rows can be decoded at once; None where all of them can.

    Args:
        footer: The footer.
        stored: Its bytes in the file.
        source: The file.
        row_groups: The row groups to read.
        positions: Of the leaf columns to read.

    Raises:
        FooterCorruptError: If there are more values than can be held.
    """
    at_worst = [
        (group, position)
        for group in row_groups
        for position in positions
        if _may_become_much(footer, group, position)
    ]
    if not at_worst:
        return None
    chunks = StoredChunks(stored)
    found = [chunks.of(*place) for place in at_worst]
    if sum(chunk.num_values for chunk in found) * LEVELS_BYTES > UNFOLDED_BYTES:
        reason = "it claims more values than can be held"
        raise FooterCorruptError(reason=reason)
    unfolding = [chunk for chunk in found if chunk.may_unfold]
    longest = _longest(source, unfolding)
    become = sum(
        chunk.size_bytes + chunk.num_values * length
        for chunk, length in zip(unfolding, longest, strict=True)
    )
    if become <= UNFOLDED_BYTES:
        return None
    return max(1, PART_BYTES // max(1, sum(longest)))


def _may_become_much(footer: pq.FileMetaData, group: int, position: int) -> bool:
    chunk = footer.row_group(group).column(position)
    size_bytes = max(LEVELS_BYTES, int(chunk.total_uncompressed_size))
    return int(chunk.num_values) * size_bytes > UNFOLDED_BYTES


def _longest(source: RangeSource, chunks: Sequence[StoredChunk]) -> list[int]:
    """Return what no value of each chunk is longer than."""
    looked_at = longest_values(source, chunks)
    return [
        chunk.size_bytes if chunk.is_prefixed else length
        for chunk, length in zip(chunks, looked_at, strict=True)
    ]
