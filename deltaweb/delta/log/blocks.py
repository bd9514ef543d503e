"""Blocks of live files: what a snapshot holds of them, masked and never copied.

Source: delta_protocol.md, "Action Reconciliation".
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.file_actions import (
    canonical_keys,
    file_keys,
    has_absolute_paths,
)

MAX_HELD_PER_LIVE: Final = 1.25  # a slice holds the memory of the rows around it too


class KeySet:
    """Keys of files, for asking which files newer actions speak of."""

    def __init__(self, keys: pa.Array) -> None:
        self._has_absolute = bool(len(keys)) and has_absolute_paths(keys)
        self._keys = canonical_keys(keys) if self._has_absolute else keys

    def __len__(self) -> int:
        return len(self._keys)

    def contains(self, keys: pa.Array) -> pa.BooleanArray:
        if self._has_absolute:
            keys = canonical_keys(keys)
        return pc.is_in(keys, value_set=self._keys)


class RawStatistics(NamedTuple):
    """Statistics as the log holds them, row for row with a block.

    Attributes:
        json_text: add.stats, null where a file has none; None without the column.
        parsed: add.stats_parsed; None without the column.
    """

    json_text: pa.ChunkedArray | None
    parsed: pa.ChunkedArray | None

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self if part is not None)

    def filter(self, mask: pa.BooleanArray) -> "RawStatistics":
        return self._each(lambda part: part.filter(mask))

    def slice(self, first: int, num_rows: int) -> "RawStatistics":
        return self._each(lambda part: part.slice(first, num_rows))

    def _each(
        self, select: Callable[[pa.ChunkedArray], pa.ChunkedArray]
    ) -> "RawStatistics":
        return RawStatistics(*(None if part is None else select(part) for part in self))


class StatisticsPart(NamedTuple):
    """Statistics of consecutive files, of which there are `num_files`."""

    raw: RawStatistics
    num_files: int


StatisticsLoader = Callable[[], RawStatistics]
StatisticsStream = Callable[[int], Iterator[StatisticsPart]]


@dataclass(frozen=True, slots=True, eq=False)
class FileBlock:
    """Some files of a table, live at one version or more; never changed.

    Attributes:
        files: Rows in the columns of `FILES_SCHEMA`; partition values may be
            dictionary-encoded.
        load_text: Reads add.stats where `load_statistics` leaves it out, since typed
            ones say all; None where it never does.
        stream_statistics: Reads all that there are, typed and as text, at most
            this many rows at a time; None where they are held already.
        load_counts: Reads as much of the statistics as numRecords needs; None where
            that takes long.
        held_bytes: The memory of what `load_counts` returns; None where it reads the
            log.
    """

    files: pa.RecordBatch
    load_statistics: StatisticsLoader
    load_text: Callable[[], pa.ChunkedArray | None] | None = None
    stream_statistics: StatisticsStream | None = None
    load_counts: StatisticsLoader | None = None
    held_bytes: int | None = None

    def keys(self) -> pa.Array:
        return file_keys(self.files["path"], self.files["dv_id"])


@dataclass(frozen=True, slots=True, eq=False)
class SelectedBlock:
    """A block, and which of its rows are live; all of them where `mask` is None."""

    block: FileBlock
    mask: pa.BooleanArray | None = None

    @property
    def num_files(self) -> int:
        if self.mask is None:
            return int(self.block.files.num_rows)
        return int(self.mask.true_count)

    def compact(self) -> "SelectedBlock":
        """Return the live rows as a block of their own, without a mask."""
        if self.mask is None:
            return self
        files = _live_rows(self.block.files, self.mask)
        block = replace(
            self.block,
            files=files,
            load_statistics=self.statistics,
            load_text=self.text,
            stream_statistics=self.statistics_parts,
            load_counts=self.block.load_counts and self.counts,
        )
        return SelectedBlock(block)

    def statistics(self) -> RawStatistics:
        return self._live(self.block.load_statistics())

    def counts(self) -> RawStatistics:
        """Return statistics of the live rows, at least their numRecords."""
        return self._live((self.block.load_counts or self.block.load_statistics)())

    def _live(self, loaded: RawStatistics) -> RawStatistics:
        return loaded if self.mask is None else loaded.filter(self.mask)

    def text(self) -> pa.ChunkedArray | None:
        """The statistics of the live rows as JSON, where `statistics` has none."""
        load = self.block.load_text
        text = None if load is None else load()
        return text if text is None or self.mask is None else text.filter(self.mask)

    def statistics_parts(self, max_rows: int) -> Iterator[StatisticsPart]:
        """All statistics of the live rows, typed and as text, some rows at a time."""
        if self.block.stream_statistics is None:
            yield from self._held_parts(max_rows)
            return
        first = 0
        for part in self.block.stream_statistics(max_rows):
            if self.mask is None:
                yield part
            else:
                live = self.mask.slice(first, part.num_files)
                yield StatisticsPart(part.raw.filter(live), live.true_count)
            first += part.num_files

    def _held_parts(self, max_rows: int) -> Iterator[StatisticsPart]:
        raw = self.statistics()
        if raw.json_text is None:
            raw = RawStatistics(self.text(), raw.parsed)
        for first in range(0, self.num_files, max_rows):
            num_files = min(max_rows, self.num_files - first)
            yield StatisticsPart(raw.slice(first, num_files), num_files)

    def without(self, keys: "KeySet") -> "SelectedBlock":
        """Return the block without the files that `keys` speak of."""
        hit = keys.contains(self.block.keys())
        if not hit.true_count:
            return self
        kept = pc.invert(hit)
        mask = kept if self.mask is None else pc.and_(self.mask, kept)
        return replace(self, mask=mask)


def _live_rows(files: pa.RecordBatch, mask: pa.BooleanArray) -> pa.RecordBatch:
    """Return the rows of a mask; nearly all, standing together, without a copy."""
    live = np.flatnonzero(mask.to_numpy(zero_copy_only=False))
    count = len(live)
    stand_together = count and live[-1] - live[0] + 1 == count
    if stand_together and files.num_rows <= MAX_HELD_PER_LIVE * count:
        return files.slice(int(live[0]), count)
    return files.filter(mask)
