"""A file of an object store as pyarrow reads it, and ends of files that are kept.

Each request of a store takes longer than the work that it is for. A process that reads
the same tables again and again says so (`kept_parts.begin`), and keeps footers, and
small files whole; all others keep nothing. What is kept is of one file as the store
tells it apart from another of its name; whose store tells nothing but a size keeps
nothing.
"""

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from deltaweb.delta.errors import DeltaError
from deltaweb.environment.kept_values import KeptValues

KEPT_BYTES: Final = 64 << 20
WHOLE_BYTES: Final = 1 << 20  # files up to this size are kept whole
END_BYTES: Final = 64 << 10  # of larger ones: most footers are in it
_MARKS: Final = ("ETag", "etag", "LastModified", "last_modified", "md5Hash", "mtime")

Key: TypeAlias = tuple[str, ...]


class KeptParts:
    """The ends of files that this process keeps: none before it begins to."""

    def __init__(self) -> None:
        self._parts: KeptValues[Key, bytes] | None = None

    def begin(self, limit_bytes: int = KEPT_BYTES) -> None:
        """Keep ends of files from now on, of so many bytes in all."""
        self._parts = KeptValues(limit_bytes)

    def end(self) -> None:
        self._parts = None

    def forget(self) -> None:
        if self._parts is not None:
            self.begin(self._parts.limit_bytes)

    def end_of(self, file: Any, *, access: str) -> bytes:  # noqa: ANN401  # fsspec has no types
        """Return the end of an open file, read now or before; "" where none is kept.

        Args:
            access: Of the store: equal where two are opened alike.
        """
        details = getattr(file, "details", None)
        size = getattr(file, "size", None)
        if self._parts is None or not isinstance(details, Mapping) or not size:
            return b""
        marks = [str(details[mark]) for mark in _MARKS if details.get(mark)]
        if not marks:
            return b""
        key = (access, str(file.path), str(size), *marks)
        if (found := self._parts.find(key)) is not None:
            return found[0]
        length = size if size <= WHOLE_BYTES else END_BYTES
        file.seek(size - length)
        end = bytes(file.read(length))
        file.seek(0)
        return self._parts.keep(key, end, len(end))


kept_parts: Final = KeptParts()


class GuardedFile(io.RawIOBase):
    """A driver's file whose faults are errors of ours, also inside pyarrow.

    Args:
        access: A digest of the store's options: equal where two are opened alike.
    """

    def __init__(
        self,
        file: Any,  # noqa: ANN401  # fsspec has no types
        fault: Callable[[Exception], DeltaError],
        *,
        access: str = "",
    ) -> None:
        self._file = file
        self._fault = fault
        self._end = kept_parts.end_of(file, access=access)
        self._end_at = int(file.size) - len(self._end) if self._end else 0

    def read(self, size: int | None = -1) -> bytes:
        with self._guard():
            if self._end and (at := int(self._file.tell())) >= self._end_at:
                rest = self._end[at - self._end_at :]
                part = rest if size is None or size < 0 else rest[:size]
                self._file.seek(at + len(part))
                return part
            return bytes(self._file.read(-1 if size is None else size))

    def seek(self, offset: int, whence: int = 0) -> int:
        with self._guard():
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        """They are read alone."""
        return True

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()

    @contextlib.contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except DeltaError:
            raise
        except Exception as error:  # noqa: BLE001  # each driver has its own tree
            raise self._fault(error) from None
