"""Values kept for the next query, the latest used ones; safe for threads."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class KeptValues(Generic[K, V]):
    """A mapping that forgets what was not asked for the longest.

    Args:
        limit_bytes: What the values may take in all; one value may take more.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._held_bytes = 0
        self._lock = Lock()

    def find(self, key: K) -> tuple[V] | None:
        """Return the value of a key, alone in a tuple; None where none is kept."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return (self._values[key][0],)

    def known(self) -> list[K]:
        """Return the keys of what is kept, the latest used last."""
        with self._lock:
            return [*self._values]

    def keep(self, key: K, value: V, size_bytes: int) -> V:
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._values[key] = (value, size_bytes)
            self._held_bytes += size_bytes - before
            while len(self._values) > 1 and self._held_bytes > self.limit_bytes:
                _, (_, dropped) = self._values.popitem(last=False)
                self._held_bytes -= dropped
        return value
