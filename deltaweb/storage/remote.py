"""A table in any storage that fsspec reaches."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import fsspec
import pyarrow as pa

from deltaweb.delta.errors import (
    CredentialsNeededError,
    DataFileMissingError,
    DeltaError,
    LocationDeniedError,
    LocationInvalidError,
    LocationUnreachableError,
    LocationUnsupportedError,
)
from deltaweb.delta.log_store import (
    FileStatus,
    LogFile,
    check_size,
    is_too_large,
)
from deltaweb.storage.azure_signing import HAND_OUT_OPTION
from deltaweb.storage.data_listing import list_below, places_of
from deltaweb.storage.data_path import resolve_data_path
from deltaweb.storage.local_pending import (
    HANDED_OVER,
    UNTAKEN_AFTER_S,
    is_handed_over,
)
from deltaweb.storage.remote_file import GuardedFile
from deltaweb.storage.remote_listing import (
    file_status,
    is_s3,
    iterate_folder,
    list_folder,
)
from deltaweb.storage.remote_pending import RemotePendingFile, RemoteReadyFile

LOG_FOLDER: Final = "_delta_log"
HIDDEN: Final = "."  # sorts before the names that a log has
DRIVERS: Final[Mapping[str, str]] = {
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
    "gcs": "gcsfs",
    "gs": "gcsfs",
    "s3": "s3fs",
    "s3a": "s3fs",
}
# Stores whose drivers honour mode="create": the file is made only where none is.
ATOMIC_SCHEMES: Final = frozenset({*DRIVERS, "memory"})
SAME_SCHEME: Final[Mapping[str, str]] = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
# Parts of the names of faults by which drivers tell what is wrong.
CREDENTIAL_FAULTS: Final = (
    "credential",
    "clientauthentication",
    "unauthorized",
    "invalidaccesskey",
    "signaturedoesnotmatch",
    "expiredtoken",
)


class RemoteTableStore:
    """The files of a table below a URL.

    Args:
        root: The table's URL, normalized.
        storage_options: Options of the driver; never shown.
        allowed_roots: Further URLs that absolute paths of the log may lead to.

    Raises:
        LocationUnsupportedError: If no driver for the scheme is installed.
    """

    def __init__(
        self,
        root: str,
        storage_options: Mapping[str, Any],
        allowed_roots: Sequence[str] = (),
    ) -> None:
        self._root = _same_scheme(root)
        self._shown = _without_credentials(root)
        self._scheme = root.partition("://")[0]
        self._allowed_roots = tuple(_same_scheme(place) for place in allowed_roots)
        self._fs = self._open_driver(storage_options)
        options = sorted(storage_options.items())
        self._access = sha256(repr(options).encode("utf-8", "replace")).hexdigest()
        self._log = f"{self._root}/{LOG_FOLDER}"
        self._too_large: dict[str, int] = {}  # sizes by name, as last listed

    @property
    def root(self) -> str:
        """The table's URL, without credentials."""
        return self._shown

    @property
    def access(self) -> str:
        """A digest of the options: equal where two stores are opened alike."""
        return self._access

    @property
    def reads_tell_times(self) -> bool:
        """A listing does."""
        return False

    def root_exists(self) -> bool:
        """Tell whether anything is below the table's URL."""
        with self._faults():
            self._fs.invalidate_cache()
            return bool(self._fs.exists(self._root))

    # === The log ===

    def list_names_from(self, name: str) -> list[str]:
        """Return the names of the log's files from `name` on, in order."""
        return [status.name for status in self.list_from(name)]

    def list_from(self, name: str) -> list[FileStatus]:
        """Return the log's files from `name` on, with their sizes and times."""
        with self._faults():
            self._fs.invalidate_cache()
            try:
                listed = list_folder(self._fs, self._log, name)
            except (FileNotFoundError, NotADirectoryError):
                return []
        for status in listed:
            self._note_size(status)
        return listed

    def _note_size(self, status: FileStatus) -> None:
        """Keep in mind what is not to be read: to ask for each size is a request."""
        if is_too_large(status.size):
            self._too_large[status.name] = status.size
        else:
            self._too_large.pop(status.name, None)

    def _check_size(self, name: str) -> None:
        check_size(self._shown, name, self._too_large.get(name, 0))

    def status(self, name: str) -> FileStatus:
        """Return size and time of one file of the log."""
        with self._faults():
            self._fs.invalidate_cache()
            entry = self._fs.info(f"{self._log}/{name}")
        if entry.get("type") != "file":
            raise FileNotFoundError(name)
        status = file_status(entry)
        self._note_size(status)
        return status

    def read(self, name: str) -> bytes:
        """Return one file of the log."""
        self._check_size(name)
        with self._faults():
            return bytes(self._fs.cat_file(f"{self._log}/{name}"))

    def read_head(self, name: str, length: int) -> bytes:
        """Return the beginning of one file of the log."""
        place = f"{self._log}/{name}"
        with self._faults():
            try:
                return bytes(self._fs.cat_file(place, start=0, end=length))
            except OSError:
                # S3 refuses to send a range of a file that is empty.
                if self._fs.size(place) == 0:
                    return b""
                raise

    def read_many(self, names: Sequence[str]) -> list[LogFile]:
        """Return files of the log, fetched together where the driver can."""
        if not names:
            return []
        for name in names:
            self._check_size(name)
        paths = [self._fs._strip_protocol(f"{self._log}/{name}") for name in names]  # noqa: SLF001  # how fsspec names what `cat` returns
        with self._faults():
            found = self._fs.cat(paths)
        return [LogFile(bytes(found[path]), None) for path in paths]

    def open_input(self, name: str) -> pa.NativeFile:
        """Open one file of the log for random access."""
        return self._open(f"{self._log}/{name}")

    def put_if_absent(self, name: str, data: bytes) -> None:
        """Create a file of the log; of two writers, one gets FileExistsError."""
        self._create(f"{self._log}/{name}", data)

    def put(self, name: str, data: bytes) -> None:
        """Write a file of the log."""
        with self._faults():
            self._fs.pipe_file(f"{self._log}/{name}", data)

    def begin_file(self, name: str) -> RemotePendingFile:
        """Begin a file of the log on this machine's disk; it goes up when whole."""
        self._check_atomic()
        return RemotePendingFile(self.upload, root=self._shown, name=name)

    def upload(self, path: str, name: str) -> None:
        """Put a file of this machine's disk into the log, in one step."""
        with self._faults():
            self._fs.put_file(path, f"{self._log}/{name}")

    def update(self, name: str, change: Callable[[bytes | None], bytes | None]) -> None:
        """Read a small file of the log and put what `change` makes of it."""
        try:
            before: bytes | None = self.read(name)
        except FileNotFoundError:
            before = None
        after = change(before)
        if after is not None:
            self.put(name, after)

    def delete(self, name: str) -> None:
        """Delete one file of the log."""
        with self._faults():
            self._fs.rm_file(f"{self._log}/{name}")

    def copy(self, name: str, copy_name: str) -> None:
        """Let the storage copy a file of the log, over one that is there."""
        with self._faults():
            self._fs.cp_file(f"{self._log}/{name}", f"{self._log}/{copy_name}")
            self._fs.invalidate_cache()

    def take_over(self, name: str, beside: str) -> RemoteReadyFile:
        """Take a file that some process handed over."""
        return RemoteReadyFile(self.copy, self.delete, name=name, beside=beside)

    def remove_leftovers(self) -> list[str]:
        """Delete what was handed over long ago; nothing else is left anywhere."""
        due_ms = (time.time() - UNTAKEN_AFTER_S) * 1000
        return self._remove(
            status.name
            for status in self._hidden_files()
            if HANDED_OVER.fullmatch(status.name)
            and 0 < status.modification_time < due_ms
        )

    def remove_handed_over(self, build: str) -> list[str]:
        """Delete what was handed over and not taken; return the names."""
        return self._remove(
            status.name
            for status in self._hidden_files()
            if is_handed_over(status.name, build)
        )

    def _hidden_files(self) -> list[FileStatus]:
        """List the files whose names begin with a dot, where alone these can be."""
        with self._faults():
            self._fs.invalidate_cache()
            found = []
            try:
                for status in iterate_folder(self._fs, self._log, HIDDEN):
                    if status.name.startswith(HIDDEN):
                        found.append(status)
                    elif is_s3(self._fs) and status.name > HIDDEN:
                        break  # in order, and the log's own names come after
            except (FileNotFoundError, NotADirectoryError):
                return []
        return found

    def _remove(self, names: Iterable[str]) -> list[str]:
        removed = []
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                self.delete(name)
                removed.append(name)
        return removed

    # === Data files ===

    def open_data_file(self, path: str) -> pa.NativeFile:
        """Open a data file by its path in the log."""
        try:
            return self._open(self._data_place(path))
        except FileNotFoundError:
            raise DataFileMissingError(path=path) from None

    def has_data_file(self, path: str) -> bool:
        """Tell whether a data file is there."""
        place = self._data_place(path)
        with self._faults():
            self._fs.invalidate_cache()
            return bool(self._fs.exists(place))

    def list_data_files(self) -> Iterator[pa.StringArray]:
        """Yield the places of the data files, a page or a folder at a time."""
        with self._faults():
            self._fs.invalidate_cache()
            for places in list_below(self._fs, self._root):
                yield places_of(
                    place for place in places if not place.startswith(f"{LOG_FOLDER}/")
                )

    def put_data_file(self, path: str, data: bytes) -> None:
        """Create a data file."""
        self._create(self._data_place(path), data)

    def _data_place(self, path: str) -> str:
        return resolve_data_path(
            _same_scheme(path), root=self._root, allowed_roots=self._allowed_roots
        )

    def _open(self, place: str) -> pa.NativeFile:
        with self._faults():
            file = self._fs.open(place, "rb")
        return pa.PythonFile(GuardedFile(file, self.fault), mode="r")

    def _check_atomic(self) -> None:
        if self._scheme not in ATOMIC_SCHEMES:
            raise LocationUnsupportedError(location=self._shown, scheme=self._scheme)

    def _create(self, place: str, data: bytes) -> None:
        self._check_atomic()
        with self._faults():
            self._fs.pipe_file(place, data, mode="create")

    # === Faults ===

    def _open_driver(self, options: Mapping[str, Any]) -> Any:  # noqa: ANN401  # fsspec has no types
        known = {name: options[name] for name in options if name != HAND_OUT_OPTION}
        try:
            return fsspec.filesystem(self._scheme, **known)
        except ImportError:
            package = DRIVERS.get(self._scheme, "")
        except (TypeError, KeyError) as error:
            raise LocationInvalidError(
                location=self._shown, reason=f"its options do not fit ({_kind(error)})"
            ) from None
        except ValueError:
            package = ""
        raise LocationUnsupportedError(
            location=self._shown, scheme=self._scheme, package=package
        ) from None

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """Turn whatever a driver raises into errors of ours.

        Missing and existing single files pass. The text of a driver's error may hold
        signed URLs or keys, so only its kind is told.
        """
        try:
            yield
        except (FileNotFoundError, FileExistsError, DeltaError):
            raise
        except (NotADirectoryError, IsADirectoryError) as error:
            raise FileNotFoundError(str(error)) from None
        except Exception as error:  # noqa: BLE001  # each driver has its own tree
            raise self.fault(error) from None

    def fault(self, error: Exception) -> DeltaError:
        """Return the error of ours that a driver's error means."""
        signs = f"{_kind(error)} {error}".lower().replace("_", "").replace(" ", "")
        if any(sign in signs for sign in CREDENTIAL_FAULTS):
            return CredentialsNeededError(location=self._shown)
        if isinstance(error, PermissionError):
            return LocationDeniedError(location=self._shown)
        return LocationUnreachableError(location=self._shown, reason=_kind(error))


def _kind(error: Exception) -> str:
    return type(error).__name__


def _same_scheme(place: str) -> str:
    """Return a URL with the one scheme of those that mean the same storage."""
    scheme, separator, rest = place.partition("://")
    return f"{SAME_SCHEME.get(scheme, scheme)}{separator}{rest}"


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    if user and ":" not in user:
        host = parts.netloc  # the container of an Azure URL stands there
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
