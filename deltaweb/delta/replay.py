"""How actions are reconciled into the files of a table.

The live files are blocks of Arrow arrays, each with a mask of the rows that are still
live; blocks are immutable and shared between versions. Newer commits come as one
`TailLayer`: inside it the last action of a key wins, and against what is older it is
one anti-join by its keys. A new version is new masks and one more block.

Source: delta_protocol.md, "Action Reconciliation".
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.file_actions import (
    FILES_SCHEMA,
    TOMBSTONES_SCHEMA,
    canonical_keys,
    dv_ids,
    file_keys,
    files_batch,
    has_absolute_paths,
    partition_map,
)

T = TypeVar("T")
R = TypeVar("R")

ROWS_WORTH_THREADS: Final = 100_000
MAX_HELD_PER_LIVE: Final = 1.25  # a slice holds the memory of the rows around it too


class RawStatistics(NamedTuple):
    """Statistics as the log holds them, row for row with a block.

    Attributes:
        json_text: add.stats, null where a file has none; None without the column.
        parsed: add.stats_parsed; None without the column.
    """

    json_text: pa.ChunkedArray | None
    parsed: pa.ChunkedArray | None

    def filter(self, mask: pa.BooleanArray) -> "RawStatistics":
        """The statistics of some rows."""
        return self._each(lambda part: part.filter(mask))

    def slice(self, first: int, num_rows: int) -> "RawStatistics":
        """The statistics of consecutive rows."""
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
        load_statistics: Reads their statistics, row for row.
        load_text: Reads add.stats where `load_statistics` leaves it out, since typed
            ones say all; None where it never does.
        stream_statistics: Reads all that there are, typed and as text, at most so
            many rows at a time; None where they are held already.
    """

    files: pa.RecordBatch
    load_statistics: StatisticsLoader
    load_text: Callable[[], pa.ChunkedArray | None] | None = None
    stream_statistics: StatisticsStream | None = None

    def keys(self) -> pa.Array:
        """What identifies each file of the block."""
        return file_keys(self.files["path"], self.files["dv_id"])


@dataclass(frozen=True, slots=True, eq=False)
class SelectedBlock:
    """A block, and which of its rows are live; all of them where `mask` is None."""

    block: FileBlock
    mask: pa.BooleanArray | None = None

    @property
    def num_files(self) -> int:
        """Count of live rows."""
        if self.mask is None:
            return int(self.block.files.num_rows)
        return int(self.mask.true_count)

    def compact(self) -> "SelectedBlock":
        """Return the live rows as a block of their own, without a mask."""
        if self.mask is None:
            return self
        files = _live_rows(self.block.files, self.mask)
        block = FileBlock(files, self.statistics, self.text, self.statistics_parts)
        return SelectedBlock(block)

    def statistics(self) -> RawStatistics:
        """The statistics of the live rows."""
        loaded = self.block.load_statistics()
        if self.mask is None:
            return loaded
        return loaded.filter(self.mask)

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


class KeySet:
    """Keys of files, for asking which files newer actions speak of."""

    def __init__(self, keys: pa.Array) -> None:
        self._has_absolute = bool(len(keys)) and has_absolute_paths(keys)
        self._keys = canonical_keys(keys) if self._has_absolute else keys

    def __len__(self) -> int:
        return len(self._keys)

    def contains(self, keys: pa.Array) -> pa.BooleanArray:
        """Tell for each key whether it is in the set."""
        if self._has_absolute:
            keys = canonical_keys(keys)
        return pc.is_in(keys, value_set=self._keys)


@dataclass(frozen=True, slots=True, eq=False)
class TailLayer:
    """Newer commits, reconciled among themselves.

    Attributes:
        keys: Every file that the commits speak of.
        block: The files that they add; None when they add none.
        tombstones: The files that they remove, by `TOMBSTONES_SCHEMA`.
    """

    keys: KeySet
    block: FileBlock | None
    tombstones: pa.Table


def last_rows(keys: pa.Array) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Return the last row of each key, ascending.

    Args:
        keys: A key a row, oldest action first.
    """
    codes = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    last = np.empty(len(codes) and int(codes.max()) + 1, dtype=np.int64)
    last[codes] = np.arange(len(codes), dtype=np.int64)
    return np.sort(last)


def reconcile_tail(
    adds: pa.StructArray,
    removes: pa.StructArray,
    *,
    partition_columns: Iterable[str],
    path: str,
    load_statistics: Callable[["np.ndarray[Any, np.dtype[np.int64]]"], RawStatistics],
) -> TailLayer:
    """Reconcile the file actions of some commits: the last one of each key wins.

    Args:
        adds: The add of each line, null where the line holds another action.
        removes: The remove of each line, row for row with `adds`.
        partition_columns: Columns that each file has a partition value of, in the
            order to hold them in; `adds` may have them in another.
        path: The log, for errors.
        load_statistics: Reads the statistics of lines, given their rows.

    Raises:
        LogCorruptError: If a line is both an add and a remove, or has no path.
    """
    rows = _file_action_rows(adds, removes, path=path)
    keys = file_keys(
        pc.coalesce(_field(adds, "path"), _field(removes, "path")),
        _any_dv_ids(adds, removes),
    ).take(rows)
    absolute = len(keys) and has_absolute_paths(keys)
    last = last_rows(canonical_keys(keys) if absolute else keys)
    lines = rows.to_numpy()[last]
    is_add = adds.is_valid().to_numpy(zero_copy_only=False)[lines]
    added, removed = lines[is_add], lines[~is_add]
    block = FileBlock(
        _added_files(adds.take(pa.array(added)), list(partition_columns)),
        lambda: load_statistics(added),
    )
    return TailLayer(
        keys=KeySet(keys.take(pa.array(last))),
        block=block if len(added) else None,
        tombstones=_tombstones(removes.take(pa.array(removed))),
    )


def apply_layer(
    blocks: Sequence[SelectedBlock], layer: TailLayer
) -> tuple[SelectedBlock, ...]:
    """Return the live files after the commits of `layer`."""
    kept = tuple(blocks)
    if len(layer.keys):
        kept = tuple(
            run_in_threads(
                lambda block: block.without(layer.keys),
                blocks,
                num_rows=_count_rows(blocks),
            )
        )
    kept = tuple(block for block in kept if block.num_files)
    return kept if layer.block is None else (*kept, SelectedBlock(layer.block))


def compact_blocks(blocks: Sequence[SelectedBlock]) -> tuple[SelectedBlock, ...]:
    """Return the live rows alone, so that memory is held for them alone."""
    num_rows = _count_rows(blocks)
    return tuple(run_in_threads(SelectedBlock.compact, blocks, num_rows=num_rows))


def _live_rows(files: pa.RecordBatch, mask: pa.BooleanArray) -> pa.RecordBatch:
    """Return the rows of a mask; nearly all, standing together, without a copy."""
    live = np.flatnonzero(mask.to_numpy(zero_copy_only=False))
    count = len(live)
    stand_together = count and live[-1] - live[0] + 1 == count
    if stand_together and files.num_rows <= MAX_HELD_PER_LIVE * count:
        return files.slice(int(live[0]), count)
    return files.filter(mask)


def concat_files(blocks: Sequence[SelectedBlock]) -> pa.Table:
    """Return the rows of compact blocks as one table by `FILES_SCHEMA`."""
    batches = run_in_threads(
        lambda one: one.block.files.cast(FILES_SCHEMA),
        blocks,
        num_rows=_count_rows(blocks),
    )
    return pa.Table.from_batches(batches, FILES_SCHEMA)


def concat_tombstones(older: pa.Table, layers: Iterable[TailLayer]) -> pa.Table:
    """Return the tombstones of a checkpoint and of what came after it."""
    result = older
    for layer in layers:
        if len(layer.keys) and result.num_rows:
            batches = [
                batch.filter(
                    pc.invert(
                        layer.keys.contains(file_keys(batch["path"], batch["dv_id"]))
                    )
                )
                for batch in result.to_batches()
            ]
            result = pa.Table.from_batches(batches, TOMBSTONES_SCHEMA)
        result = pa.concat_tables([result, layer.tombstones])
    return result


def run_in_threads(
    function: Callable[[T], R], items: Sequence[T], *, num_rows: int
) -> list[R]:
    """Call a function that releases the GIL on each item, in order of the items.

    Args:
        function: What to call.
        items: What to call it with, one after the other or at once.
        num_rows: Rows that all items hold: for a few, threads cost more than they
            save.
    """
    workers = min(len(items), os.cpu_count() or 1)
    if workers <= 1 or num_rows < ROWS_WORTH_THREADS:
        return [function(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))


def _count_rows(blocks: Sequence[SelectedBlock]) -> int:
    return sum(block.block.files.num_rows for block in blocks)


def _file_action_rows(
    adds: pa.StructArray, removes: pa.StructArray, *, path: str
) -> pa.Array:
    """Return the rows that hold a file action, each of which must name its file."""
    is_add, is_remove = adds.is_valid(), removes.is_valid()
    both = pc.and_(is_add, is_remove)
    if both.true_count:
        raise LogCorruptError(path=path, reason="a line holds two file actions")
    rows = pc.indices_nonzero(pc.or_(is_add, is_remove)).cast(pa.int64())
    for actions in (adds, removes):
        if _field(actions, "path").null_count != actions.null_count:
            raise LogCorruptError(path=path, reason="a file action has no path")
    return rows


def _field(actions: pa.StructArray, name: str) -> pa.Array:
    return pc.struct_field(actions, [name])


def _any_dv_ids(adds: pa.StructArray, removes: pa.StructArray) -> pa.Array | None:
    vectors = [_field(actions, "deletionVector") for actions in (adds, removes)]
    if all(vector.null_count == len(vector) for vector in vectors):
        return None
    return pc.coalesce(*(dv_ids(vector) for vector in vectors))


def _added_files(
    adds: pa.StructArray, partition_columns: Sequence[str]
) -> pa.RecordBatch:
    values = _in_order(_field(adds, "partitionValues"), partition_columns)
    columns = [
        _field(adds, "path"),
        _field(adds, "size"),
        _field(adds, "modificationTime"),
        _field(adds, "dataChange"),
        partition_map(values, frozenset(partition_columns)),
        dv_ids(_field(adds, "deletionVector")),
    ]
    return files_batch(columns)


def _in_order(values: pa.StructArray, names: Sequence[str]) -> pa.StructArray:
    """Return a struct whose named fields follow the order of the names."""
    fields = [field.name for field in values.type]
    columns = dict(zip(fields, values.flatten(), strict=True))
    named = [name for name in dict.fromkeys(names) if name in columns]
    places, following = set(named), iter(named)
    wanted = [next(following) if name in places else name for name in fields]
    if wanted == fields:
        return values
    return pa.StructArray.from_arrays([columns[name] for name in wanted], names=wanted)


def _tombstones(removes: pa.StructArray) -> pa.Table:
    columns = [
        _field(removes, "path"),
        pc.fill_null(_field(removes, "deletionTimestamp"), 0),
        _field(removes, "dataChange"),
        _field(removes, "size"),
        dv_ids(_field(removes, "deletionVector")),
    ]
    return pa.Table.from_arrays(columns, schema=TOMBSTONES_SCHEMA)
