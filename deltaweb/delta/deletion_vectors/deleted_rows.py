"""The rows of a data file that its deletion vector deletes, asked for by position."""

from collections.abc import Iterator

import numpy as np

from deltaweb.delta.deletion_vectors.errors import MalformedVectorError
from deltaweb.delta.deletion_vectors.roaring import ROWS, Containers, Flags, Longs


class DeletedRows:
    """A set of row positions within one file, from zero on."""

    def __init__(self, containers: Containers) -> None:
        self._containers = containers
        self._expanded: tuple[int, Flags] | None = None

    def __len__(self) -> int:
        return self._containers.cardinality

    def marks(self, first: int, num_rows: int) -> Flags | None:
        """Return which rows from `first` on are deleted; None where none of them is."""
        keys = self._containers.keys
        begin = int(np.searchsorted(keys, first // ROWS))
        end = int(np.searchsorted(keys, (first + num_rows - 1) // ROWS, side="right"))
        if begin >= end or not num_rows:
            return None
        marked = np.zeros(num_rows, np.bool_)
        for at in range(begin, end):
            start = int(keys[at]) * ROWS - first
            rows = self._expand(at)
            marked[max(start, 0) : start + ROWS] = rows[
                max(-start, 0) : num_rows - start
            ]
        return marked if marked.any() else None

    def positions(self) -> Iterator[Longs]:
        """Yield the positions, ascending, container by container."""
        for at, key in enumerate(self._containers.keys.tolist()):
            yield np.flatnonzero(self._containers.expand(at)) + key * ROWS

    def check_within(self, num_rows: int) -> None:
        """Check that every position is one of a file of so many rows."""
        if len(self) > num_rows:
            raise MalformedVectorError(
                reason=f"it deletes {len(self):,} of {num_rows:,} rows"
            )
        keys = self._containers.keys
        if not len(keys):
            return
        last = int(keys[-1]) * ROWS
        if last < num_rows:  # then the container is one of the file's, and small
            last += int(np.flatnonzero(self._expand(len(keys) - 1))[-1])
        if last >= num_rows:
            raise MalformedVectorError(
                reason=f"it deletes row {last:,} of {num_rows:,} rows"
            )

    def _expand(self, at: int) -> Flags:
        """Expand a container; the last one is kept, for batches are smaller."""
        if self._expanded is None or self._expanded[0] != at:
            self._expanded = at, self._containers.expand(at)
        return self._expanded[1]
