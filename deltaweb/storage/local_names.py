"""How a file of a local disk takes a name that no other file may have.

A hard link is made where none of that name is, or fails: whoever looks sees the whole
file or none. Some disks have no links (FAT, some that containers mount); there a
rename that replaces nothing does the same, as far as the system promises one. To look
whether a name is free and then to take it would promise nothing.

Source: delta_protocol_first_draft.md, "Blob Store Requirements"; link(2), renameat2(2).
"""

import contextlib
import ctypes
import errno
import os
from typing import Final

from deltaweb.delta.writing.errors import StoreNotWritableError
from deltaweb.storage.local_pending import sync_folder, temporary_file
from deltaweb.storage.write_faults import write_fault

RENAME_NOREPLACE: Final = 1
NO_LINKS: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
NO_RENAME: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})
_AT_FDCWD: Final = -100
_libc: Final = ctypes.CDLL(None, use_errno=True)


def take_name(temporary: str, path: str) -> None:
    """Give a whole file its name, and make that durable.

    Args:
        temporary: The file as it is called now, in the same folder; its name may stay.
    """
    try:
        try:
            os.link(temporary, path)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            rename_if_absent(temporary, path)
        sync_folder(os.path.dirname(path))  # noqa: PTH120  # plain text is faster than Path
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno in NO_RENAME:
            promise = "that a file is created only where none is"
            raise StoreNotWritableError(location=path, promise=promise) from None
        raise write_fault(error, place=path) from None


def rename_if_absent(source: str, target: str) -> None:
    """Rename a file where nothing has the new name."""
    rename = getattr(_libc, "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), target)
    names = os.fsencode(source), os.fsencode(target)
    if rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], RENAME_NOREPLACE):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), target)


def create_file(path: str, data: bytes) -> None:
    """Create a file with its whole content, durably, or raise FileExistsError."""
    with temporary_file(path, data) as temporary:
        take_name(temporary, path)


class RepeatedPut:
    """Puts a file under one name after the other, until one is free.

    Its bytes are made durable once: who loses a race has only the next name to take,
    and is not late again for the disk's sake.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._data: bytes | None = None
        self._temporary = ""
        self._written = contextlib.ExitStack()

    def put_if_absent(self, name: str, data: bytes) -> None:
        """Create the file, or raise FileExistsError; then the bytes stay at hand."""
        path = f"{self._folder}/{name}"
        if not self._temporary or data != self._data:
            # Bytes that change with the name are in vain where it is taken.
            if self._data not in {None, data} and os.path.lexists(path):
                raise FileExistsError(path)
            self.close()
            self._temporary = self._written.enter_context(temporary_file(path, data))
            self._data = data
        else:
            # By its file's time a commit is not older than the one that it lost to.
            # What keeps the time from being set, taking the name tells.
            with contextlib.suppress(OSError):
                os.utime(self._temporary)
        try:
            take_name(self._temporary, path)
        except FileExistsError:
            raise
        except BaseException:
            self.close()
            raise
        self.close()

    def close(self) -> None:
        """Forget the bytes; a file that has got its name stays."""
        self._temporary = ""
        self._written.close()
