"""A table in any storage that fsspec reaches."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import pyarrow as pa

from deltaweb.delta.errors import (
    DataFileElsewhereError,
    DataFileMissingError,
    DeltaError,
)
from deltaweb.delta.log.paths import SIDECARS, sidecar_name
from deltaweb.delta.log.store import FileStatus, LogFile, check_size, is_too_large
from deltaweb.delta.writing.errors import StoreNotWritableError
from deltaweb.storage.data_listing import (
    list_below,
    list_statuses_below,
    places_of,
    statuses_of,
)
from deltaweb.storage.data_path import (
    LOG_FOLDER,
    is_below,
    own_data_place,
    resolve_data_path,
)
from deltaweb.storage.location import same_scheme, without_credentials
from deltaweb.storage.objects.creation import EXCLUSIVE, check_creates, create_file
from deltaweb.storage.objects.driver import (
    DRIVERS,
    driver_faults,
    driver_options,
    fault_of,
    open_driver,
)
from deltaweb.storage.objects.hosts import ALLOWED_HOSTS
from deltaweb.storage.objects.listing import (
    delete_objects,
    file_status,
    is_s3,
    iterate_folder,
    list_folder,
    remote_table_above,
)
from deltaweb.storage.objects.quick import quick_reads
from deltaweb.storage.remote_file import GuardedFile
from deltaweb.storage.remote_pending import RemotePendingFile
from deltaweb.storage.spellings import NONE_CLOSED, ClosedPlaces

# Stores whose drivers honour mode="create": the file is made only where none is.
ATOMIC_SCHEMES: Final = frozenset({*DRIVERS, "memory"})


class RemoteTableStore:
    """The files of a table below a URL.

    Args:
        allowed_roots: Further URLs that absolute paths of the log may lead to.
        closed: The places below these URLs that count as empty.
    """

    def __init__(
        self,
        root: str,
        storage_options: Mapping[str, Any],
        allowed_roots: Sequence[str] = (),
        closed: ClosedPlaces = NONE_CLOSED,
    ) -> None:
        self._root, self._shown = same_scheme(root), without_credentials(root)
        self._scheme = root.partition("://")[0]
        self._allowed_roots = tuple(same_scheme(place) for place in allowed_roots)
        self._closed = closed
        self._fs = open_driver(root, storage_options)
        self._quick = quick_reads(
            self._root,
            driver_options(root, storage_options),
            allowed_hosts=storage_options.get(ALLOWED_HOSTS) or (),
        )
        options = sorted(storage_options.items())
        self._access = sha256(repr(options).encode("utf-8", "replace")).hexdigest()
        self._log = f"{self._root}/{LOG_FOLDER}"
        self._too_large: dict[str, int] = {}  # sizes by name, as last listed

    @property
    def root(self) -> str:
        return self._shown

    @property
    def key(self) -> tuple[str, ...]:
        """What two stores have in common that are opened alike."""
        return (self._root, self._access, *self._allowed_roots)

    @property
    def reads_tell_times(self) -> bool:
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
                listed = self._quick.list_from(
                    self._log, name, lambda: list_folder(self._fs, self._log, name)
                )
            except (FileNotFoundError, NotADirectoryError):
                return []
        for status in listed:
            self._note_size(status)
        return listed

    def list_sidecars(self) -> list[FileStatus]:
        """Return the files in the log's folder of sidecars."""
        with self._faults():
            self._fs.invalidate_cache()
            try:
                folder = f"{self._log}/{SIDECARS}"
                listed = self._quick.list_from(
                    folder, "", lambda: list_folder(self._fs, folder, "")
                )
            except (FileNotFoundError, NotADirectoryError):
                return []
        return [status._replace(name=sidecar_name(status.name)) for status in listed]

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
        self._check_size(name)
        place = f"{self._log}/{name}"
        with self._faults():
            return self._quick.read(place, lambda: bytes(self._fs.cat_file(place)))

    def read_head(self, name: str, length: int) -> bytes:
        """Return the beginning of one file of the log."""
        place = f"{self._log}/{name}"
        with self._faults():
            try:
                return bytes(self._fs.cat_file(place, start=0, end=length))
            except Exception:
                # S3 and Azure refuse to send a range of a file that is empty.
                if self._fs.size(place) == 0:
                    return b""
                raise

    def read_many(self, names: Sequence[str]) -> list[LogFile]:
        """Return files of the log, fetched together where the driver can."""
        if not names:
            return []
        for name in names:
            self._check_size(name)
        places = [f"{self._log}/{name}" for name in names]
        with self._faults():
            found = self._quick.read_many(places, lambda: self._cat(places))
        return [LogFile(data, None) for data in found]

    def _cat(self, places: Sequence[str]) -> list[bytes]:
        paths = [self._fs._strip_protocol(place) for place in places]  # noqa: SLF001  # how fsspec names what `cat` returns
        found = self._fs.cat(paths)
        return [bytes(found[path]) for path in paths]

    def open_input(self, name: str) -> pa.NativeFile:
        """Open one file of the log for random access."""
        return self._open(f"{self._log}/{name}")

    def put_if_absent(self, name: str, data: bytes) -> None:
        """Create a file of the log; of two writers, one gets FileExistsError."""
        self._check_atomic()
        with self._faults():
            check_creates(self._fs, self._log, access=self._access, shown=self._shown)
        self._create(f"{self._log}/{name}", data)

    @contextlib.contextmanager
    def repeated_put(self) -> Iterator[Callable[[str, bytes], None]]:
        """Give what creates a file of the log under the first name that is free."""
        yield self.put_if_absent

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
        with self._faults():
            self._fs.rm_file(f"{self._log}/{name}")

    def remove_leftovers(self) -> list[str]:
        """Return nothing: what was not committed is nowhere in storage."""
        return []

    # === Data files ===

    def open_data_file(self, path: str) -> pa.NativeFile:
        place = self._data_place(path)
        is_own = is_below(place, self._root)
        if is_own or not self._closed.contains(place):
            with contextlib.suppress(FileNotFoundError):
                return self._open(place)
        if is_own:
            raise DataFileMissingError(path=path)
        raise DataFileElsewhereError(path=path)

    def has_data_file(self, path: str) -> bool:
        place = self._data_place(path)
        if not is_below(place, self._root) and self._closed.contains(place):
            return False
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

    def list_data_statuses(self) -> Iterator[pa.RecordBatch]:
        """Yield the data files with sizes and times, a page or a folder at a time."""
        with self._faults():
            self._fs.invalidate_cache()
            for statuses in list_statuses_below(self._fs, self._root):
                yield statuses_of(
                    status
                    for status in statuses
                    if not status[0].startswith(f"{LOG_FOLDER}/")
                )

    def linked_places(self, _places: Sequence[str]) -> Iterator[str]:
        """Yield nothing: object stores have no links."""
        return iter(())

    def table_above(self) -> str | None:
        """Return the table in whose folder this one lies, or would."""

        def list_names(folder: str) -> Iterator[str]:
            with self._faults():
                yield from (file.name for file in iterate_folder(self._fs, folder, ""))

        return remote_table_above(self._root, list_names)

    def put_data_file(self, path: str, data: bytes) -> None:
        self._create(self._data_place(path), data)

    def delete_data_file(self, path: str) -> None:
        place = own_data_place(same_scheme(path), root=self._root)
        with self._faults():
            self._fs.rm_file(place)

    def delete_data_files(self, paths: Sequence[str]) -> None:
        """Delete data files, on S3 a thousand by one request."""
        places = [own_data_place(same_scheme(path), root=self._root) for path in paths]
        if is_s3(self._fs):
            with self._faults():
                delete_objects(self._fs, places)
            return
        for place in places:
            with contextlib.suppress(FileNotFoundError), self._faults():
                self._fs.rm_file(place)

    def begin_data_file(self, path: str) -> RemotePendingFile:
        """Begin a data file on this machine's disk; it goes up when whole."""
        self._check_atomic()
        place = self._data_place(path)

        def upload(file: str, _: str) -> None:
            with self._faults():
                self._fs.put_file(file, place)

        return RemotePendingFile(upload, root=self._shown, name=path)

    def _data_place(self, path: str) -> str:
        return resolve_data_path(
            same_scheme(path), root=self._root, allowed_roots=self._allowed_roots
        )

    def _open(self, place: str) -> pa.NativeFile:
        with self._faults():
            file = self._fs.open(place, "rb")
            held = GuardedFile(file, self.fault, access=self._access)
        return pa.PythonFile(held, mode="r")

    def _check_atomic(self) -> None:
        if self._scheme not in ATOMIC_SCHEMES:
            raise StoreNotWritableError(location=self._shown, promise=EXCLUSIVE)

    def _create(self, place: str, data: bytes) -> None:
        self._check_atomic()
        with self._faults():
            create_file(self._fs, place, data)

    # === Faults ===

    def _faults(self) -> contextlib.AbstractContextManager[None]:
        return driver_faults(self.fault)

    def fault(self, error: Exception) -> DeltaError:
        """Return the error of ours that a driver's error means."""
        return fault_of(error, location=self._shown, fs=self._fs)
