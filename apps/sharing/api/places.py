"""How many answers a recipient may be in the middle of taking at the same time.

An answer that its client does not go on with costs a connection and what is left to
send, a file or lines that are still to be made, and no thread
(`deltaweb.serving.worker`); of those each process has so many to give.
"""

from collections import Counter
from collections.abc import Callable
from threading import RLock
from typing import ClassVar, Final
from uuid import UUID

from deltaweb.sharing.errors import (
    SharingError,
    TooManyDownloadsError,
    TooManyStreamsError,
)

# Of one process. A cluster that reads with a task a core keeps one open for each.
MAX_OF_A_TOKEN: Final = 64
MAX_OF_ALL: Final = 320
_lock = RLock()  # a place that is collected may end while another is taken


class Place:
    """A place among the answers of a kind, from when it is taken until it is ended."""

    running: ClassVar[Counter[UUID]]
    refusal: ClassVar[Callable[[], SharingError]]

    def __init__(self, token_id: UUID) -> None:
        self._token_id: UUID | None = None
        running = self.running
        with _lock:
            if running[token_id] >= MAX_OF_A_TOKEN or running.total() >= MAX_OF_ALL:
                raise type(self).refusal()
            running[token_id] += 1
            self._token_id = token_id

    def __del__(self) -> None:
        self.end()  # of an answer that nobody closed

    def end(self) -> None:
        """Give the place back; safe to repeat."""
        with _lock:
            token_id, self._token_id = self._token_id, None
            if token_id is None:
                return
            self.running[token_id] -= 1
            if not self.running[token_id]:
                del self.running[token_id]


class Download(Place):
    """A place among those that fetch a file."""

    running = Counter()
    refusal = TooManyDownloadsError


class Stream(Place):
    """A place among those that take the lines of a query."""

    running = Counter()
    refusal = TooManyStreamsError
