"""A file of an object store as pyarrow reads it."""

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

from deltaweb.delta.errors import DeltaError


class GuardedFile(io.RawIOBase):
    """A driver's file whose faults are errors of ours, also inside pyarrow.

    Args:
        file: As fsspec opened it.
        fault: Returns the error of ours that a driver's error means.
    """

    def __init__(self, file: Any, fault: Callable[[Exception], DeltaError]) -> None:  # noqa: ANN401  # fsspec has no types
        self._file = file
        self._fault = fault

    def read(self, size: int | None = -1) -> bytes:
        """Read as many bytes, or all that are left."""
        with self._guard():
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
