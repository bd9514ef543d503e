"""A file of an object store as pyarrow reads it."""

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

from deltaweb.delta.errors import DeltaError
from deltaweb.storage.kept_parts import kept_parts


class GuardedFile(io.RawIOBase):
    """A driver's file whose faults are errors of ours, also inside pyarrow.

    Args:
        file: As fsspec opened it.
        fault: Returns the error of ours that a driver's error means.
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
        """Read as many bytes, or all that are left."""
        with self._guard():
            if self._end and (at := int(self._file.tell())) >= self._end_at:
                rest = self._end[at - self._end_at :]
                part = rest if size is None or size < 0 else rest[:size]
                self._file.seek(at + len(part))
                return part
            return bytes(self._file.read(-1 if size is None else size))

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place and return it."""
        with self._guard():
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        """Return the place."""
        return int(self._file.tell())

    def seekable(self) -> bool:
        """Files of stores are."""
        return True

    def readable(self) -> bool:
        """They are read alone."""
        return True

    def close(self) -> None:
        """Close the driver's file."""
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
