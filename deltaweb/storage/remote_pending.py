"""Files of a remote log that are being written: on this disk until they are whole.

A file that is handed over lies in the log under a name that readers pass over; the
storage itself copies it into place, in one step for those who read it.
"""

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from deltaweb.delta.errors import DeltaError
from deltaweb.storage.local_pending import handed_over_name
from deltaweb.storage.write_faults import write_fault


class RemotePendingFile:
    """A file that goes up when it is whole; object stores show it only then.

    Args:
        upload: Puts a file of this disk into the log: its path, then its name there.
        root: The table's root, as errors show it.
        name: The name that the file will have.
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
        """Upload the file."""
        self._upload(self._file.name, self.name)
        self.discard()

    def hand_over(self, build: str) -> str:
        """Upload the file beside its place."""
        beside = handed_over_name(self.name, build)
        self._upload(self._file.name, beside)
        self.discard()
        return beside

    def discard(self) -> None:
        """Delete the file of this disk."""
        with contextlib.suppress(OSError):
            self.sink.close()
        self._file.close()

    def fault(self, error: OSError) -> DeltaError:
        """Return the error of ours that a fault of this disk means."""
        return write_fault(error, place=f"{self._root} (on its way there)")


class RemoteReadyFile:
    """A file that some process handed over.

    Args:
        copy: Copies a file of the log: its name, then the name of the copy.
        delete: Deletes a file of the log.
        name: The name that the file will have.
        beside: The name that it has.
    """

    def __init__(
        self,
        copy: Callable[[str, str], None],
        delete: Callable[[str], None],
        *,
        name: str,
        beside: str,
    ) -> None:
        self._copy = copy
        self._delete = delete
        self._name = name
        self._beside = beside

    def commit(self) -> None:
        """Let the storage copy the file into place."""
        self._copy(self._beside, self._name)
        self.discard()

    def discard(self) -> None:
        """Delete the file beside its place; one that stays harms nobody."""
        with contextlib.suppress(FileNotFoundError, DeltaError):
            self._delete(self._beside)
