"""Files that are ended side by side: what takes long is that a disk keeps their bytes.

Nothing is committed before all of them are there, and no more than some wait.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Final, Generic, TypeVar

from deltaweb.writer.files.parquet_file import OpenParquetFile, WrittenFile

THREADS: Final = 8
MAX_WAITING: Final = 64
Key = TypeVar("Key")


class FileEnds(Generic[Key]):
    """Ends files, each under a key, and keeps what became of them in their order."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._ending: deque[tuple[Key, Future[WrittenFile]]] = deque()
        self._ended: list[tuple[Key, WrittenFile]] = []

    def end(self, key: Key, file: OpenParquetFile, *, is_last: bool = False) -> None:
        """End a file; one that is the last of few is ended here and now."""
        if is_last and self._pool is None:
            self._ended.append((key, _finished(file)))
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(THREADS, "ends-data-files")
        while len(self._ending) >= MAX_WAITING:
            self._take()
        self._ending.append((key, self._pool.submit(_finished, file)))

    def files(self) -> list[tuple[Key, WrittenFile]]:
        while self._ending:
            self._take()
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        return self._ended

    def discard(self) -> Iterator[str]:
        """Wait for all files, forget them, and yield the paths of those that are."""
        while self._ending:
            with suppress(Exception):  # it is not there, then
                self._take()
        yield from (file.path for _, file in self.files())
        self._ended = []

    def _take(self) -> None:
        key, future = self._ending.popleft()
        self._ended.append((key, future.result()))


def _finished(file: OpenParquetFile) -> WrittenFile:
    try:
        return file.finish()
    except BaseException:
        file.discard()
        raise
