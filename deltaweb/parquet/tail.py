"""The end of a Parquet file: its footer's bytes, usually with one read.

Source: the Parquet format, "File format".
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeAlias, runtime_checkable

from deltaweb.parquet.errors import (
    FileEncryptedError,
    FileNotParquetError,
    FooterCorruptError,
)

MAGIC: Final = b"PAR1"
ENCRYPTED_MAGIC: Final = b"PARE"
TAIL_BYTES: Final = 8  # the footer's length and the magic
FIRST_READ_BYTES: Final = 64 << 10
MAX_FOOTER_BYTES: Final = 128 << 20  # pyarrow reads less than this
LARGE_FOOTER_BYTES: Final = 512 << 20
"""What is read where pyarrow need not read it: 2,000 columns in 1,000 row groups with
statistics have some 200 MiB. What is made of it is bounded by itself."""


@runtime_checkable
class RangeSource(Protocol):
    """A file that is read by ranges, such as a `pyarrow.NativeFile`."""

    def size(self) -> int:
        """Return its bytes."""

    def read_at(self, nbytes: int, offset: int) -> bytes:
        """Return bytes of it."""


class _LocalFile:
    """A local file, read by ranges without Arrow."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def size(self) -> int:
        return os.fstat(self.descriptor).st_size

    def read_at(self, nbytes: int, offset: int) -> bytes:
        return os.pread(self.descriptor, nbytes, offset)


class _FileObject:
    """An open file of Python's, such as fsspec gives, read by ranges."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def size(self) -> int:
        return self.file.seek(0, os.SEEK_END)

    def read_at(self, nbytes: int, offset: int) -> bytes:
        self.file.seek(offset)
        return self.file.read(nbytes)


Source: TypeAlias = str | Path | RangeSource | BinaryIO
"""A local path, or an open file: of Arrow, or of Python and of fsspec."""


@contextmanager
def open_source(source: Source) -> Iterator[RangeSource]:
    """Open a path; anything else is open already, and stays so."""
    if not isinstance(source, str | os.PathLike):
        yield source if isinstance(source, RangeSource) else _FileObject(source)
        return
    # A pipe must not hang who opens it.
    descriptor = os.open(source, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            reason = (
                "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file"
            )
            raise FileNotParquetError(reason=reason)
        yield _LocalFile(descriptor)
    finally:
        os.close(descriptor)


def read_footer(source: RangeSource, max_bytes: int = MAX_FOOTER_BYTES) -> bytes:
    size = source.size()
    if size < len(MAGIC) + TAIL_BYTES:
        raise FileNotParquetError(reason=f"it has {size:,} bytes")
    first = min(size, FIRST_READ_BYTES)
    tail = source.read_at(first, size - first)
    if len(tail) < first:
        raise FileNotParquetError(reason="it became shorter while it was read")
    magic = bytes(tail[-4:])
    if magic == ENCRYPTED_MAGIC:
        raise FileEncryptedError
    if magic != MAGIC:
        shown = f"{_shown(magic)} instead of {_shown(MAGIC)}"
        raise FileNotParquetError(reason=f"it ends with {shown}")
    length = int.from_bytes(tail[-TAIL_BYTES:-4], "little")
    most = size - TAIL_BYTES - len(MAGIC)
    if not 0 < length <= most:
        reason = f"it says that it has {length:,} bytes, but the file has {size:,}"
        raise FooterCorruptError(reason=reason)
    if length > max_bytes:
        reason = f"it has {length:,} bytes; the limit is {max_bytes:,}"
        raise FooterCorruptError(reason=reason)
    if length + TAIL_BYTES <= first:
        return bytes(tail[first - TAIL_BYTES - length : -TAIL_BYTES])
    footer = source.read_at(length, size - TAIL_BYTES - length)
    if len(footer) < length:
        raise FileNotParquetError(reason="it became shorter while it was read")
    return bytes(footer)


def _shown(magic: bytes) -> str:
    """Return bytes as the word that they spell, or by their numbers."""
    is_word = magic.isascii() and magic.decode("ascii").isprintable()
    return f"{magic.decode('ascii')!r}" if is_word else f"the bytes {magic.hex(' ')}"
