"""The seam between the protocol and storage: declared here, fulfilled elsewhere.

`deltaweb.storage` has the stores. A store that finds a single file missing raises
`FileNotFoundError`; every other fault of storage is a `DeltaError` of its own.
"""

from __future__ import annotations

import typing

from deltaweb.delta.errors import DeltaError, LogCorruptError

if typing.TYPE_CHECKING:  # what names a store has no need of Arrow
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    import pyarrow as pa


class FileStatus(typing.NamedTuple):
    """A file of the log as a listing shows it.

    `size` is bytes, `modification_time` milliseconds since the Unix epoch.
    """

    name: str
    size: int
    modification_time: int


class LogFile(typing.NamedTuple):
    """A whole file of the log as it was read.

    `modification_time` is as in `FileStatus`; None where reading does not tell it.
    """

    data: bytes
    modification_time: int | None


class PendingFile(typing.Protocol):
    """A file that is being written, and that no reader can see yet.

    It ends with `commit` after `finish`, or with `discard`.
    """

    @property
    def name(self) -> str: ...

    @property
    def sink(self) -> pa.NativeFile:
        """Where its bytes go; a fault of it is an `OSError`."""

    def finish(self) -> int:
        """Close the sink, make the bytes durable, and return their count."""

    def commit(self) -> None:
        """Put the file in place in one step, over one that is there."""

    def discard(self) -> None:
        """Forget the bytes; nothing happens after `commit`."""

    def fault(self, error: OSError) -> DeltaError:
        """Return the error of ours that a fault of the sink means."""


MAX_LOG_FILE_BYTES: typing.Final = 1 << 30


def is_too_large(size_bytes: int) -> bool:
    """Tell whether a file of the log is not read as a whole."""
    return size_bytes > MAX_LOG_FILE_BYTES


def check_size(root: str, name: str, size_bytes: int) -> None:
    """Refuse a file of the log that is too large to be read as a whole.

    A commit of such a size is a mistake or an attack; a sparse one costs nothing to
    make, and memory and minutes to read.

    Raises:
        LogCorruptError: If it is larger than `MAX_LOG_FILE_BYTES`.
    """
    if is_too_large(size_bytes):
        reason = (
            f"it has {size_bytes:,} bytes; the limit for a file of the log is "
            f"{MAX_LOG_FILE_BYTES:,}"
        )
        raise LogCorruptError(path=f"{root}/_delta_log/{name}", reason=reason)


class LogStore(typing.Protocol):
    """Reads and writes the files of one table's `_delta_log`.

    Names are plain file names inside `_delta_log`, or `_sidecars/` and one of those.
    """

    @property
    def root(self) -> str:
        """The table's root, as errors show it (never with credentials)."""

    @property
    def reads_tell_times(self) -> bool:
        """Whether `read_many` tells times, so that names alone can be listed."""

    def root_exists(self) -> bool:
        """Tell whether anything is at the table's root."""

    def list_from(self, name: str) -> list[FileStatus]:
        """Return the files whose name sorts at or after `name`, in name order.

        Folders are left out. A log folder that does not exist is an empty listing.
        """

    def list_names_from(self, name: str) -> list[str]:
        """Return the names alone of `list_from`: cheaper on a local disk."""

    def list_sidecars(self) -> list[FileStatus]:
        """Return the files in `_sidecars` by their names within the log, in order."""

    def status(self, name: str) -> FileStatus:
        """Return size and time of one file; raise `FileNotFoundError`."""

    def read(self, name: str) -> bytes:
        """Return the whole file; raise `FileNotFoundError` if there is none.

        One that is known to be larger than `MAX_LOG_FILE_BYTES` is a
        `LogCorruptError`, before it is read; so it is for `read_many`.
        """

    def read_head(self, name: str, length: int) -> bytes:
        """Return at most the first `length` bytes; raise `FileNotFoundError`."""

    def read_many(self, names: Sequence[str]) -> list[LogFile]:
        """Return whole files in the order asked for; raise `FileNotFoundError`."""

    def open_input(self, name: str) -> pa.NativeFile:
        """Open one file for random access; raise `FileNotFoundError`."""

    def put_if_absent(self, name: str, data: bytes) -> None:
        """Create the file, or raise `FileExistsError` and change nothing."""

    def repeated_put(self) -> AbstractContextManager[Callable[[str, bytes], None]]:
        """Give what is called as `put_if_absent` with one name after the other.

        It is for bytes that hardly change while a free name is looked for: what a
        store has made ready of them serves the next name, too.
        """

    def put(self, name: str, data: bytes) -> None:
        """Write the file atomically, over one that is there."""

    def begin_file(self, name: str) -> PendingFile:
        """Begin a file that is too large to be put from memory."""

    def update(self, name: str, change: Callable[[bytes | None], bytes | None]) -> None:
        """Read a small file, and put what `change` makes of it.

        Writers on this machine take turns. Others may write in between: storage has
        no lock that all know.

        Args:
            change: Gets its bytes, None without it; returns the new ones, None to
                leave it as it is.
        """

    def delete(self, name: str) -> None:
        """Delete one file; raise `FileNotFoundError` if there is none."""

    def remove_leftovers(self) -> list[str]:
        """Delete what writers left that died before `commit`; return the names."""


class DataStore(typing.Protocol):
    """Reads and writes the data files of one table.

    Paths are those of the log: relative to the root or absolute, and URI-encoded;
    the store decodes them exactly once and refuses those that leave the table.
    """

    def open_data_file(self, path: str) -> pa.NativeFile:
        """Open a data file for random access.

        Raises:
            PathEscapesTableError: If the path leads outside the table's root and
                outside every allowed root.
            DataFileMissingError: If the file is not in storage.
        """

    def has_data_file(self, path: str) -> bool:
        """Tell whether the data file exists; raise `PathEscapesTableError`."""

    def list_data_files(self) -> Iterator[pa.StringArray]:
        """Yield the places below the root of all files but the log's, some at a time.

        They are decoded, as storage has them; those whose names are no text are left
        out. Nothing is yielded where there is no table.
        """

    def list_data_statuses(self) -> Iterator[pa.RecordBatch]:
        """Yield what `list_data_files` does, with sizes and times.

        A file that a link inside the table leads to is listed at its own place alone.

        Columns: place string, size int64 (bytes), modification_time int64 (ms since
        the Unix epoch; 0 where storage tells none).
        """

    def linked_places(self, places: Sequence[str]) -> Iterator[str]:
        """Yield the places of the files that links at some places lead to.

        Only of those that are below the root, and elsewhere than they are called.
        """

    def table_above(self) -> str | None:
        """Return the root of the nearest table in whose folder this one lies, or would.

        None where there is none, or where storage does not let it be seen.
        """

    def put_data_file(self, path: str, data: bytes) -> None:
        """Create a data file at a path of the log, with its folders.

        Raises:
            FileExistsError: If it is there; nothing is changed then.
        """

    def delete_data_file(self, path: str) -> None:
        """Delete a data file at a path of the log, of those below the root alone.

        Raises:
            FileNotFoundError: If there is none.
            PathEscapesTableError: If the path leads elsewhere.
        """

    def delete_data_files(self, paths: Sequence[str]) -> None:
        """Delete data files below the root; those that are not there are skipped.

        Where storage offers it, many are deleted by one request.

        Raises:
            PathEscapesTableError: If a path leads elsewhere.
        """

    def begin_data_file(self, path: str) -> PendingFile:
        """Begin a data file, under a name that no other has, at a path of the log.

        It is there, with its folders, once it is committed.
        """


class TableStore(LogStore, DataStore, typing.Protocol):
    """All the files of one table."""
