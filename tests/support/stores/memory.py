"""A table in memory: for tests, and the plainest example of a store."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from deltaweb.delta.errors import (
    DataFileMissingError,
    DeltaError,
    LocationNotWritableError,
)
from deltaweb.delta.log.paths import SIDECARS
from deltaweb.delta.log.store import FileStatus, LogFile, check_size
from deltaweb.storage.data_listing import statuses_of
from deltaweb.storage.data_path import own_data_place, resolve_data_path

MEMORY_ROOT = "memory://table"


class MemoryTableStore:
    """The files of a table in dictionaries; times are what a caller sets.

    Attributes:
        log_files: Content by name in `_delta_log`.
        data_files: Content by place below the root.
        modification_times: Milliseconds since the epoch by name in `_delta_log`;
            0 where none is set.
    """

    def __init__(self, root: str = MEMORY_ROOT) -> None:
        self._root = root
        self._lock = threading.Lock()
        self.log_files: dict[str, bytes] = {}
        self.data_files: dict[str, bytes] = {}
        self.modification_times: dict[str, int] = {}

    @property
    def root(self) -> str:
        """The name of the table in errors."""
        return self._root

    @property
    def reads_tell_times(self) -> bool:
        """A listing does."""
        return False

    def root_exists(self) -> bool:
        """Tell whether the table has any file."""
        return bool(self.log_files or self.data_files)

    def list_names_from(self, name: str) -> list[str]:
        """Return the names of the log's files from `name` on, in order."""
        return sorted(found for found in self.log_files if found >= name)

    def list_from(self, name: str) -> list[FileStatus]:
        """Return the log's files from `name` on, with their sizes and times."""
        return [self.status(found) for found in self.list_names_from(name)]

    def list_sidecars(self) -> list[FileStatus]:
        """Return the files in the log's folder of sidecars."""
        names = self.list_names_from(SIDECARS)
        return [self.status(name) for name in names if name.startswith(f"{SIDECARS}/")]

    def status(self, name: str) -> FileStatus:
        """Return size and time of one file of the log."""
        size = len(self._bytes(name))
        return FileStatus(name, size, self.modification_times.get(name, 0))

    def read(self, name: str) -> bytes:
        """Return one file of the log."""
        data = self._bytes(name)
        check_size(self._root, name, len(data))
        return data

    def _bytes(self, name: str) -> bytes:
        if name not in self.log_files:
            raise FileNotFoundError(name)
        return self.log_files[name]

    def read_head(self, name: str, length: int) -> bytes:
        """Return the beginning of one file of the log."""
        return self._bytes(name)[:length]

    def read_many(self, names: Sequence[str]) -> list[LogFile]:
        """Return files of the log."""
        return [LogFile(self.read(name), None) for name in names]

    def open_input(self, name: str) -> pa.NativeFile:
        """Open one file of the log for random access."""
        return pa.BufferReader(self._bytes(name))

    def put_if_absent(self, name: str, data: bytes) -> None:
        """Create a file of the log, or raise FileExistsError."""
        with self._lock:
            if name in self.log_files:
                raise FileExistsError(name)
            self.log_files[name] = data

    @contextlib.contextmanager
    def repeated_put(self) -> Iterator[Callable[[str, bytes], None]]:
        """Give what creates a file of the log under the first name that is free."""
        yield self.put_if_absent

    def put(self, name: str, data: bytes) -> None:
        """Write a file of the log."""
        self.log_files[name] = data

    def begin_file(self, name: str) -> "MemoryPendingFile":
        """Begin a file of the log."""
        return MemoryPendingFile(self, name)

    def update(self, name: str, change: Callable[[bytes | None], bytes | None]) -> None:
        """Read a file of the log and put what `change` makes of it."""
        with self._lock:
            after = change(self.log_files.get(name))
            if after is not None:
                self.log_files[name] = after

    def delete(self, name: str) -> None:
        """Delete one file of the log."""
        with self._lock:
            if name not in self.log_files:
                raise FileNotFoundError(name)
            del self.log_files[name]

    def remove_leftovers(self) -> list[str]:
        """Return nothing: what was not committed is nowhere."""
        return []

    def open_data_file(self, path: str) -> pa.NativeFile:
        """Open a data file by its path in the log."""
        place = self._data_place(path)
        if place not in self.data_files:
            raise DataFileMissingError(path=path)
        return pa.BufferReader(self.data_files[place])

    def has_data_file(self, path: str) -> bool:
        """Tell whether a data file is there."""
        return self._data_place(path) in self.data_files

    def list_data_files(self) -> Iterator[pa.StringArray]:
        """Yield the places of the data files."""
        below = len(self._root) + 1
        yield pa.array([place[below:] for place in self.data_files], pa.string())

    def list_data_statuses(self) -> Iterator[pa.RecordBatch]:
        """Yield the data files; their times are those set by their places."""
        below = len(self._root) + 1
        yield statuses_of(
            (place[below:], len(data), self.modification_times.get(place[below:], 0))
            for place, data in self.data_files.items()
        )

    def linked_places(self, _places: Sequence[str]) -> Iterator[str]:
        """Yield nothing: memory has no links."""
        return iter(())

    def table_above(self) -> str | None:
        """Return None: it holds one table."""
        return None

    def put_data_file(self, path: str, data: bytes) -> None:
        """Create a data file, or raise FileExistsError."""
        place = self._data_place(path)
        with self._lock:
            if place in self.data_files:
                raise FileExistsError(path)
            self.data_files[place] = data

    def delete_data_file(self, path: str) -> None:
        """Delete a data file."""
        place = own_data_place(path, root=self._root)
        with self._lock:
            if place not in self.data_files:
                raise FileNotFoundError(path)
            del self.data_files[place]

    def delete_data_files(self, paths: Sequence[str]) -> None:
        """Delete data files; those that are not there are passed over."""
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                self.delete_data_file(path)

    def begin_data_file(self, path: str) -> "MemoryPendingFile":
        """Begin a data file."""
        self._data_place(path)
        return MemoryPendingFile(self, path, put=self.put_data_file)

    def _data_place(self, path: str) -> str:
        return resolve_data_path(path, root=self._root, allowed_roots=())


class MemoryPendingFile:
    """A file that is there once it is whole."""

    def __init__(
        self,
        store: MemoryTableStore,
        name: str,
        put: Callable[[str, bytes], None] | None = None,
    ) -> None:
        self.name = name
        self.sink: pa.NativeFile = pa.BufferOutputStream()
        self._store = store
        self._put = put or store.put
        self._data = b""

    def finish(self) -> int:
        """Take the bytes from the sink and return their count."""
        self._data = self.sink.getvalue().to_pybytes()
        return len(self._data)

    def commit(self) -> None:
        """Put the file in its place."""
        self._put(self.name, self._data)

    def discard(self) -> None:
        """Forget the bytes."""
        self._data = b""

    def fault(self, error: OSError) -> DeltaError:
        """Return the error of ours that a fault of the sink means."""
        return LocationNotWritableError(location=self._store.root, reason=str(error))
