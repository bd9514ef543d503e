"""One data file of a local table, opened to be given out; and small ones, read whole.

Unlike reading a table, which follows links to roots that an administrator allowed,
handing out stays below the table's own root, wherever links lead.
"""

import io
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pyarrow as pa

from deltaweb.delta.errors import (
    NOT_READ,
    DataFileError,
    DataFileMissingError,
    PathEscapesTableError,
)
from deltaweb.storage.data_path import is_below, resolve_data_path
from deltaweb.storage.location import normalize_location

# Where the kernel tells what an open file is; a link cannot be changed under it.
OPEN_FILES: Final = Path("/proc/self/fd")
# A name of a pipe must not hang the server.
FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
SMALL_BYTES: Final = 64 << 10
"""Files up to this size are read with one call."""
READ_BYTES: Final = 1 << 16
MAX_READ_BYTES: Final = 1 << 22
"""Memory is given to what is there, not to what is asked for."""


def read_all(handle: int, limit: int, size_bytes: int | None = None) -> bytes:
    """Read at most `limit` bytes of an open file.

    A read may return less than was asked for anywhere but at the end, so the end is
    where a read returns nothing, or where the file's size says.
    """
    likely = READ_BYTES if size_bytes is None else size_bytes + 1
    data = os.read(handle, min(likely, limit, MAX_READ_BYTES))
    if len(data) == size_bytes:
        return data
    parts = [data]
    total = len(data)
    while data and total < limit:
        data = os.read(handle, min(MAX_READ_BYTES, limit - total))
        parts.append(data)
        total += len(data)
    return b"".join(parts)


def is_within(real: str, roots: Sequence[str]) -> bool:
    """Tell whether a path without links is one of some roots, or below one."""
    return any(
        real == root or real.startswith(f"{root.rstrip('/')}/") for root in roots
    )


def is_plain(place: str, root: str) -> bool:
    """Tell whether a path below a root has no link on its way from there.

    It is a short way to say that a path stays inside: one look at each of its folders
    up to the first that is missing, and none at those above the root.
    """
    if not place.startswith(f"{root}/"):
        return False
    end = len(root)
    while end >= 0:
        end = place.find("/", end + 1)
        try:
            mode = os.lstat(place if end < 0 else place[:end]).st_mode
        except FileNotFoundError:
            return True
        except OSError:
            return False
        if stat.S_ISLNK(mode):
            return False
    return True


def open_small_file(
    place: str, is_readable: Callable[[str], bool]
) -> pa.BufferReader | None:
    """Return a small file, read whole; None for whoever has to look more closely.

    Where the file is, its links followed, the kernel tells of what is open: that is one
    question for all folders on the way, and nobody can move it meanwhile.

    Args:
        is_readable: Whether a path without links may be read.
    """
    try:
        descriptor = os.open(place, FLAGS)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > SMALL_BYTES:
            return None
        place = os.readlink(f"{OPEN_FILES}/{descriptor}")  # noqa: PTH115  # Path takes longer, for each of many files
        if not is_readable(place):
            return None
        data = os.read(descriptor, found.st_size)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return pa.BufferReader(data) if len(data) == found.st_size else None


def open_local_file(root: str, relative_path: str) -> io.FileIO:
    """Open a file below a table's root.

    Args:
        root: The location of the table, a local one; it may be a link itself.
        relative_path: The file's path below it, decoded.
    """
    top = normalize_location(root)
    try:
        escaped = quote(relative_path, safe="/", errors="surrogateescape")
    except UnicodeEncodeError:
        raise DataFileMissingError(path=ascii(relative_path)) from None
    place = resolve_data_path(f"./{escaped}", root=top, allowed_roots=())
    real_top = os.path.realpath(top)
    try:
        _check_below(os.path.realpath(place, strict=True), real_top, relative_path)
        file = io.FileIO(os.open(place, FLAGS), "rb")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise DataFileMissingError(path=relative_path) from None
    except OSError as error:
        reason = error.strerror or "the disk does not answer"
        raise DataFileError(path=relative_path, reason=reason, hint=NOT_READ) from None
    try:
        _check_open_file(file, real_top, relative_path)
    except BaseException:
        file.close()
        raise
    return file


def _check_open_file(file: io.FileIO, real_top: str, path: str) -> None:
    """Look again at what was opened: links may have changed since the first look."""
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise DataFileMissingError(path=path)
    if OPEN_FILES.is_dir():
        opened = (OPEN_FILES / str(file.fileno())).readlink()
        _check_below(str(opened), real_top, path)


def _check_below(place: str, real_top: str, path: str) -> None:
    if not is_below(place, real_top):
        raise PathEscapesTableError(path=path)
