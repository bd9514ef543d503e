"""Ends of files of object stores that a process keeps: footers, and small files whole.

Each request of a store takes longer than the work that it is for. A process that reads
the same tables again and again says so (`kept_parts.begin`); all others keep nothing.
What is kept is of one file as the store tells it apart from another of its name; whose
store tells nothing but a size keeps nothing.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

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
        """Keep none any more."""
        self._parts = None

    def forget(self) -> None:
        """Forget what is kept."""
        if self._parts is not None:
            self.begin(self._parts.limit_bytes)

    def end_of(self, file: Any, *, access: str) -> bytes:  # noqa: ANN401  # fsspec has no types
        """Return the end of an open file, read now or before; "" where none is kept.

        Args:
            file: As fsspec opened it.
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
