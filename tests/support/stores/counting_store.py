"""A table in memory that counts what is asked of its log."""

from collections.abc import Sequence

import pyarrow as pa

from deltaweb.delta.log.store import FileStatus, LogFile
from tests.support.stores.memory import MemoryTableStore


class CountingStore(MemoryTableStore):
    """The files of a table, and the names of the log's files that were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.forget()

    def forget(self) -> None:
        """Begin to count anew."""
        self.reads: list[str] = []
        self.heads: list[str] = []
        self.looks: list[str] = []
        self.listings: list[str] = []

    def list_names_from(self, name: str) -> list[str]:
        self.listings.append(name)
        return super().list_names_from(name)

    def list_from(self, name: str) -> list[FileStatus]:
        return [self._status(found) for found in self.list_names_from(name)]

    def status(self, name: str) -> FileStatus:
        self.looks.append(name)
        return self._status(name)

    def read(self, name: str) -> bytes:
        self.reads.append(name)
        return super().read(name)

    def read_head(self, name: str, length: int) -> bytes:
        self.heads.append(name)
        return super().read(name)[:length]

    def read_many(self, names: Sequence[str]) -> list[LogFile]:
        return [LogFile(self.read(name), None) for name in names]

    def open_input(self, name: str) -> pa.NativeFile:
        return pa.BufferReader(self.read(name))

    def _status(self, name: str) -> FileStatus:
        size = len(super().read(name))
        return FileStatus(name, size, self.modification_times.get(name, 0))
