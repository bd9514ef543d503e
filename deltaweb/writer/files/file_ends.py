"""Files that are ended side by side: what takes long is that a disk keeps their bytes.

Nothing is committed before all of them are there, and no more than some wait. Small
files are ended some at a time, because a thread costs more than one of them.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Final, Generic, TypeVar

from deltaweb.writer.files.parquet_file import OpenParquetFile, WrittenFile

THREADS: Final = 8
MAX_WAITING: Final = 2 * THREADS
"""Tasks that wait for a thread or are under way."""
FILES_AT_ONCE: Final = 16
BYTES_AT_ONCE: Final = 1 << 20
"""A task is complete with so many files, or with so many bytes."""
Key = TypeVar("Key")


class FileEnds(Generic[Key]):
    """Ends files, each under a key, and keeps what became of them in their order."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._next: list[tuple[Key, OpenParquetFile]] = []
        self._next_bytes = 0
        self._tasks: deque[tuple[list[tuple[Key, WrittenFile]], Future[None]]] = deque()
        self._ended: list[tuple[Key, WrittenFile]] = []

    def end(self, key: Key, file: OpenParquetFile) -> None:
        """End a file, at once or together with files that follow."""
        self._next.append((key, file))
        self._next_bytes += file.size
        if len(self._next) >= FILES_AT_ONCE or self._next_bytes >= BYTES_AT_ONCE:
            self._start(self._taken())

    def files(self) -> list[tuple[Key, WrittenFile]]:
        """Return the files once all of them are ended."""
        left = self._taken()
        if len(left) == 1 and self._pool is None:
            _end(left, self._ended)
            return self._ended
        share = max(1, -(-len(left) // THREADS))
        for start in range(0, len(left), share):
            self._start(left[start : start + share])
        while self._tasks:
            self._take()
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        return self._ended

    def discard(self) -> Iterator[str]:
        """Wait for all files, forget them, and yield the paths of those that are."""
        for _, file in self._taken():
            file.discard()
        while self._tasks:
            with suppress(Exception):  # it is not there, then
                self._take()
        yield from (file.path for _, file in self.files())
        self._ended = []

    def _taken(self) -> list[tuple[Key, OpenParquetFile]]:
        taken, self._next, self._next_bytes = self._next, [], 0
        return taken

    def _start(self, files: Sequence[tuple[Key, OpenParquetFile]]) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(THREADS, "ends-data-files")
        while len(self._tasks) >= MAX_WAITING:
            self._take()
        ended: list[tuple[Key, WrittenFile]] = []
        self._tasks.append((ended, self._pool.submit(_end, files, ended)))

    def _take(self) -> None:
        ended, future = self._tasks.popleft()
        try:
            future.result()
        finally:
            self._ended += ended


def _end(
    files: Sequence[tuple[Key, OpenParquetFile]], ended: list[tuple[Key, WrittenFile]]
) -> None:
    """End files one after the other; after a fault, discard those that are left."""
    try:
        for key, file in files:
            ended.append((key, file.finish()))
    except BaseException:
        for _, file in files[len(ended) :]:
            file.discard()
        raise
