"""The files of a version, and what was worked out of them, kept for the next page."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

import pyarrow as pa

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class ListedFiles:
    """Files of a version.

    Attributes:
        source: Names them alone: the folder of the index, or the job's result.
        files: `path`, `size`, `modification_time` (ms), `partition_values` and, where
            known, `num_records`.
    """

    source: str
    files: pa.Table


class Kept(Generic[T]):
    """What was worked out of some versions' files; the oldest use is dropped first.

    The files themselves are not held: their mapping would keep a removed index on
    disk.
    """

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._entries: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what is kept under a key, made now where nothing is."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
        made = make()
        with self._lock:
            self._entries[key] = made
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)
        return made
