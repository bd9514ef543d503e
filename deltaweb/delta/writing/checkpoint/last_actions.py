"""Which action is the last one of its file, found in bounded memory.

Keys stay in memory while they are few. Beyond that they go to files by their hash, so
that all actions of a file meet in one bucket, and one bucket at a time is looked at. So
do the paths of the checkpoint below the commits, which is read once more for them.

Source: delta_protocol.md, "Action Reconciliation".
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa

from deltaweb.delta.changes.buckets import RowBuckets, RowLimits
from deltaweb.delta.log.blocks import KeySet
from deltaweb.delta.log.file_actions import canonical_keys, has_absolute_paths
from deltaweb.delta.log.replay import last_rows

Kinds = np.ndarray[Any, np.dtype[np.int8]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]
Covers = Callable[[str, pa.Array], pa.BooleanArray]
"""Tells which rows of the checkpoint some commit speaks of: takes the kind of action
and the keys of its rows, which come in the order of the checkpoint."""

KEY_BYTES: Final = 128 << 20
"""Keys of about a million actions; to find the last ones takes some times as much."""
UNLIMITED: Final = 1 << 62
NEITHER, ADD, REMOVE = range(3)
KINDS: Final = {"add": ADD, "remove": REMOVE}
COMMITS, CHECKPOINT = range(2)
SCHEMA: Final = pa.schema(
    [("key", pa.string()), ("row", pa.int64()), ("kind", pa.int8())]
)


@dataclass(frozen=True, slots=True, eq=False)
class LastActions:
    """The last actions of all files that commits speak of.

    Attributes:
        kinds: For each line `ADD` or `REMOVE` where it is the last action of its file.
        covers: Tells what of the checkpoint they speak of; None for nothing.
    """

    kinds: Kinds
    covers: Covers | None


class ActionKeys:
    """Collects the keys of all file actions of commits, oldest first."""

    def __init__(self) -> None:
        limits = RowLimits(KEY_BYTES, bucket_bytes=UNLIMITED, disk_bytes=UNLIMITED)
        self._buckets = RowBuckets(SCHEMA, ["key"], limits)
        self._num_lines = 0
        self.num_actions = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._buckets.close()

    def add(self, keys: pa.Array, lines: Numbers, kinds: Kinds, num_lines: int) -> None:
        """Take the file actions of the next lines."""
        self._add(COMMITS, keys, lines + self._num_lines, kinds)
        self._num_lines += num_lines
        self.num_actions += len(keys)

    def find_last(self, checkpoint: Iterable[tuple[str, pa.Array]]) -> LastActions:
        """Find the last action of each file.

        Args:
            checkpoint: The kinds and keys of the checkpoint's file actions, in order;
                read only where memory does not hold the keys.
        """
        kinds = np.zeros(self._num_lines, np.int8)
        if not self._buckets.is_spread:
            [(rows, _)] = self._buckets.buckets()
            known = _mark_last(kinds, rows)
            if not len(known):
                return LastActions(kinds, None)
            return LastActions(kinds, lambda _, paths: known.contains(paths))
        counts = dict.fromkeys(KINDS, 0)
        for action, paths in checkpoint:
            rows = np.arange(counts[action], counts[action] + len(paths))
            self._add(CHECKPOINT, paths, rows, np.full(len(rows), KINDS[action]))
            counts[action] += len(paths)
        masks = {action: np.zeros(count, np.bool_) for action, count in counts.items()}
        for newer, older in self._buckets.buckets():
            known = _mark_last(kinds, newer)
            hit = older.filter(known.contains(older["key"]))
            hit_kinds, hit_rows = hit["kind"].to_numpy(), hit["row"].to_numpy()
            for action, kind in KINDS.items():
                masks[action][hit_rows[hit_kinds == kind]] = True
        return LastActions(kinds, _InOrder(masks))

    def _add(self, side: int, keys: pa.Array, rows: Numbers, kinds: Kinds) -> None:
        if has_absolute_paths(keys):
            keys = canonical_keys(keys)
        columns = [keys, pa.array(rows, pa.int64()), pa.array(kinds, pa.int8())]
        self._buckets.add(side, pa.Table.from_arrays(columns, schema=SCHEMA))


class _InOrder:
    """Tells which rows are covered by their place among those of their kind."""

    def __init__(self, masks: dict[str, Mask]) -> None:
        self._masks = masks
        self._taken = dict.fromkeys(masks, 0)

    def __call__(self, action: str, paths: pa.Array) -> pa.BooleanArray:
        first = self._taken[action]
        self._taken[action] += len(paths)
        return pa.array(self._masks[action][first : self._taken[action]])


def _mark_last(kinds: Kinds, rows: pa.Table) -> KeySet:
    """Mark the last action of each file among some; return the keys of all."""
    rows = rows.combine_chunks()
    keys = rows["key"].chunk(0) if len(rows) else pa.array([], pa.string())
    last = last_rows(keys)
    kinds[rows["row"].to_numpy()[last]] = rows["kind"].to_numpy()[last]
    return KeySet(keys.take(pa.array(last)))
