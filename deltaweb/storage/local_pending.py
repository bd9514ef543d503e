"""Files of a local log that are being written: beside their place, under a lock.

A living writer holds a lock on its file, so a file without one is what a dead writer
left, and can go at once. Small files are written in a moment and without a lock: what
is left of them goes when it is old.
"""

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Final

import pyarrow as pa

from deltaweb.delta.errors import DeltaError
from deltaweb.storage.write_faults import write_fault

READABLE: Final = 0o644
NEW_FILE: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
DEAD_AFTER_S: Final = 3600  # without a lock
LEFTOVER: Final = re.compile(
    r"\.(?:[0-9]{20}\.checkpoint[0-9a-f.-]*\.parquet|[0-9a-f-]{36}\.parquet|"
    r"(_last_checkpoint|[0-9]{20}\.json))\.\w{8}\.tmp",
    re.ASCII,
)


class LocalPendingFile:
    """A file that takes its name when it is whole.

    Args:
        is_new: Whether no file ever had the name, so that nothing is beside it.
    """

    def __init__(self, folder: str, name: str, *, is_new: bool = False) -> None:
        self.name = name
        self._is_new = is_new
        self._folder = folder
        self._place = f"{folder}/{name}"
        try:
            self._handle, self._temporary = _create_locked(folder, name)
            self.sink: pa.NativeFile = pa.OSFile(self._temporary, mode="wb")
        except OSError as error:
            raise write_fault(error, place=self._place) from None

    def finish(self) -> int:
        """Close the sink, make the bytes durable, and return their count."""
        try:
            self.sink.close()
            os.fchmod(self._handle, READABLE)
            os.fsync(self._handle)
            return os.fstat(self._handle).st_size
        except OSError as error:
            raise self.fault(error) from None

    def commit(self) -> None:
        """Take the name, and make that durable."""
        try:
            if not self._is_new:
                drop_checksum(self._place)
            os.replace(self._temporary, self._place)  # noqa: PTH105  # as below
            sync_folder(self._folder)
        except OSError as error:
            raise self.fault(error) from None
        self._close()

    def discard(self) -> None:
        """Take the file away, unless it has its name."""
        if self._handle < 0:
            return
        with contextlib.suppress(OSError):
            self.sink.close()
        with contextlib.suppress(OSError):
            os.unlink(self._temporary)  # noqa: PTH108  # as below
        self._close()

    def fault(self, error: OSError) -> DeltaError:
        """Return the error of ours that a fault of the disk means."""
        return write_fault(error, place=self._place)

    def _close(self) -> None:
        handle, self._handle = self._handle, -1
        os.close(handle)


def drop_checksum(place: str) -> None:
    """Delete what Hadoop wrote beside a file: the checksum of other bytes.

    It keeps one, hidden, for each file that it writes to a local disk, and refuses to
    read the file when they differ; without one it reads on. So this comes before the
    new bytes do.
    """
    folder, name = os.path.split(place)
    with contextlib.suppress(OSError):
        os.unlink(f"{folder}/.{name}.crc")  # noqa: PTH108  # plain text is faster than Path, for each of many files


def sync_folder(folder: str) -> None:
    """Make the names of a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_local_leftovers(folder: Path) -> list[str]:
    """Delete the files of writers that are dead, and return their names."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208  # plain text is faster than Path, for each of many files
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [
        name
        for name in names
        if LEFTOVER.fullmatch(name) and _remove_dead(folder / name)
    ]


@contextlib.contextmanager
def folder_lock(folder: str) -> Iterator[None]:
    """Let one writer of this machine in after the other, where the disk has locks."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _create_beside(folder: str, name: str) -> tuple[int, str]:
    """Create a hidden file that no other writer has; return its handle and path."""
    while True:
        path = f"{folder}/.{name}.{token_hex(4)}.tmp"
        with contextlib.suppress(FileExistsError):
            return os.open(path, NEW_FILE, 0o600), path


def _create_locked(folder: str, name: str) -> tuple[int, str]:
    """Create a file and lock it; again, if it was taken for dead in between."""
    while True:
        handle, path = _create_beside(folder, name)
        try:
            with contextlib.suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            if os.fstat(handle).st_nlink:
                return handle, path
        except BaseException:
            os.close(handle)
            Path(path).unlink(missing_ok=True)
            raise
        os.close(handle)


def _remove_dead(path: Path) -> bool:
    """Delete a file unless its writer may be alive; tell whether it went."""
    match = LEFTOVER.fullmatch(path.name)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        if not _is_dead(handle, has_lock=match is not None and match[1] is None):
            return False
        path.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _is_dead(handle: int, *, has_lock: bool) -> bool:
    """Tell whether nobody writes an open file any more; it is ours to delete then."""
    if has_lock:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # the disk knows no locks
        else:
            return True
    return time.time() - os.fstat(handle).st_mtime > DEAD_AFTER_S


# === Small files, from memory ===


@contextlib.contextmanager
def temporary_file(path: str, data: bytes) -> Iterator[str]:
    """Write the data to a file beside `path` and take that name away again."""
    folder, name = os.path.split(path)
    temporary = ""
    try:
        try:
            make_folder(folder)
            handle, temporary = _create_beside(folder, name[:80])
            with open(handle, "wb") as file:  # noqa: PTH123  # as above
                file.write(data)
                file.flush()
                os.fsync(handle)
                os.fchmod(handle, READABLE)
        except OSError as error:
            raise write_fault(error, place=path) from None
        yield temporary
    finally:
        if temporary:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)  # noqa: PTH108  # as above


def make_folder(folder: str) -> None:
    """Make a folder, and those around it, where it is not there."""
    if os.path.isdir(folder):  # noqa: PTH112  # as above
        return
    try:
        os.mkdir(folder)  # noqa: PTH102  # as above
    except OSError:  # others are missing, too, or another writer has made it
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103  # as above
