"""Files of a remote log that are being written: on this disk until they are whole."""

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from deltaweb.delta.errors import DeltaError
from deltaweb.storage.write_faults import write_fault


class RemotePendingFile:
    """A file that goes up when it is whole; object stores show it only then.

    Args:
        upload: Puts a file of this disk into the log: its path, then its name there.
    """

    def __init__(
        self, upload: Callable[[str, str], None], *, root: str, name: str
    ) -> None:
        self.name = name
        self._upload = upload
        self._root = root
        try:
            self._file = tempfile.NamedTemporaryFile(prefix="deltaweb-", suffix=".tmp")  # noqa: SIM115  # `discard` closes it
            self.sink: pa.NativeFile = pa.OSFile(self._file.name, mode="wb")
        except OSError as error:
            raise self.fault(error) from None

    def finish(self) -> int:
        """Close the sink and return the count of its bytes."""
        try:
            self.sink.close()
            return Path(self._file.name).stat().st_size
        except OSError as error:
            raise self.fault(error) from None

    def commit(self) -> None:
        self._upload(self._file.name, self.name)
        self.discard()

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self.sink.close()
        self._file.close()

    def fault(self, error: OSError) -> DeltaError:
        """Return the error of ours that a fault of this disk means."""
        return write_fault(error, place=f"{self._root} (on its way there)")
