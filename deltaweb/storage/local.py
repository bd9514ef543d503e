"""A table on a local disk: few system calls, and no file outside its root."""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path

import pyarrow as pa

from deltaweb.delta.errors import (
    DataFileElsewhereError,
    DataFileMissingError,
    DeltaError,
    LocationDeniedError,
    LocationUnreachableError,
    PathEscapesTableError,
)
from deltaweb.delta.log.paths import SIDECARS, sidecar_name
from deltaweb.delta.log.store import MAX_LOG_FILE_BYTES, FileStatus, LogFile, check_size
from deltaweb.storage.data_listing import (
    entry_statuses,
    file_statuses,
    linked_places,
    local_table_above,
    places_of,
    statuses_of,
    walk_folders,
)
from deltaweb.storage.data_path import LOG_FOLDER, own_data_place, resolve_data_path
from deltaweb.storage.local_file import (
    FLAGS,
    is_plain,
    is_within,
    open_small_file,
    read_all,
)
from deltaweb.storage.local_names import RepeatedPut, create_file
from deltaweb.storage.local_pending import (
    LocalPendingFile,
    drop_checksum,
    folder_lock,
    make_folder,
    remove_local_leftovers,
    temporary_file,
)
from deltaweb.storage.spellings import NONE_CLOSED, ClosedPlaces
from deltaweb.storage.write_faults import write_fault

_NONE_IS_THERE = contextlib.suppress(FileNotFoundError, NotADirectoryError)


class LocalTableStore:
    """The files of a table below a folder.

    Args:
        root: Absolute path of the table's folder; it may be a symbolic link itself.
        allowed_roots: Absolute paths of folders that links and absolute paths of the
            log may lead to, besides the root.
        closed: The places below these folders that count as empty.
    """

    def __init__(
        self,
        root: str,
        allowed_roots: Sequence[str] = (),
        closed: ClosedPlaces = NONE_CLOSED,
    ) -> None:
        self._root = root.rstrip("/") or "/"
        self._log = os.path.join(self._root, LOG_FOLDER)  # noqa: PTH118  # plain text is faster than Path, for each of many files
        self._allowed_roots = tuple(allowed_roots)
        self._closed = closed
        self._real_roots: tuple[str, ...] | None = None
        self._seen_root: tuple[int, int] | None = None
        self._checked_log = False

    @property
    def root(self) -> str:
        return self._root

    @property
    def key(self) -> tuple[str, ...]:
        """What two stores have in common that are opened alike."""
        try:
            real = self._real_root()
        except FileNotFoundError:
            real = ""
        return (real, self._root, *self._allowed_roots)

    @property
    def reads_tell_times(self) -> bool:
        """To look at a file that is open costs less than to look at its name."""
        return True

    def root_exists(self) -> bool:
        with self._faults(self._root):
            try:
                self._real_root()
                os.stat(self._root)  # noqa: PTH116  # as above
            except (FileNotFoundError, NotADirectoryError):
                return False
        return True

    # === The log ===

    def list_names_from(self, name: str) -> list[str]:
        """Return the names of the log's files from `name` on, in order."""
        with self._faults(self._log), _NONE_IS_THERE, os.scandir(self._log) as entries:
            self._check_log_folder()
            return sorted(
                entry.name
                for entry in entries
                if entry.name >= name and entry.is_file()
            )
        return []

    def list_from(self, name: str) -> list[FileStatus]:
        """Return the log's files from `name` on, with their sizes and times."""
        with self._faults(self._log), _NONE_IS_THERE, os.scandir(self._log) as entries:
            self._check_log_folder()
            return sorted(entry_statuses(entries, name), key=itemgetter(0))
        return []

    def list_sidecars(self) -> list[FileStatus]:
        """Return the files in the log's folder of sidecars."""
        folder = f"{self._log}/{SIDECARS}"
        with self._faults(folder), _NONE_IS_THERE, os.scandir(folder) as entries:
            self._check_log_folder()
            self._check_link(SIDECARS)
            found = sorted(entry_statuses(entries, ""))
            return [status._replace(name=sidecar_name(status.name)) for status in found]
        return []

    def status(self, name: str) -> FileStatus:
        """Return size and time of one file of the log."""
        path = f"{self._log}/{name}"
        with self._faults(path):
            self._check_log_folder()
            found = os.stat(path)  # noqa: PTH116  # as above
        if not stat.S_ISREG(found.st_mode):
            raise FileNotFoundError(path)
        return FileStatus(name, found.st_size, found.st_mtime_ns // 1_000_000)

    def read(self, name: str) -> bytes:
        return self.read_many([name])[0].data

    def read_head(self, name: str, length: int) -> bytes:
        """Return the beginning of one file of the log."""
        path = f"{self._log}/{name}"
        with self._faults(path), self._log_folder() as folder:
            handle = self._open_log_file(folder, name)
            try:
                return read_all(handle, length)
            finally:
                os.close(handle)

    def read_many(self, names: Sequence[str]) -> list[LogFile]:
        """Return files of the log, opened relative to its folder."""
        files: list[LogFile] = []
        with self._faults(self._log), self._log_folder() as folder:
            for name in names:
                handle = self._open_log_file(folder, name)
                try:
                    found = os.fstat(handle)
                    check_size(self._root, name, found.st_size)
                    data = read_all(handle, MAX_LOG_FILE_BYTES + 1, found.st_size)
                finally:
                    os.close(handle)
                check_size(self._root, name, len(data))  # it may grow meanwhile
                files.append(LogFile(data, found.st_mtime_ns // 1_000_000))
        return files

    def open_input(self, name: str) -> pa.NativeFile:
        """Open one file of the log for random access."""
        path = f"{self._log}/{name}"
        with self._faults(path):
            self._check_log_folder()
            if "/" in name or os.path.islink(path):  # noqa: PTH114  # as above
                self._check_link(name)
            return pa.OSFile(path, mode="rb")

    def put_if_absent(self, name: str, data: bytes) -> None:
        """Create a file of the log; of two writers, one gets FileExistsError."""
        self._check_log_folder()
        path = f"{self._log}/{name}"
        if os.path.lexists(path):  # the disk need not keep bytes that come too late
            raise FileExistsError(path)
        create_file(path, data)

    @contextlib.contextmanager
    def repeated_put(self) -> Iterator[Callable[[str, bytes], None]]:
        """Give what creates a file of the log under the first name that is free."""
        self._check_log_folder()
        with contextlib.closing(RepeatedPut(self._log)) as file:
            yield file.put_if_absent

    def put(self, name: str, data: bytes) -> None:
        """Write a file of the log in one step."""
        self._check_log_folder()
        with temporary_file(f"{self._log}/{name}", data) as temporary:
            drop_checksum(f"{self._log}/{name}")
            os.replace(temporary, f"{self._log}/{name}")  # noqa: PTH105  # as above

    def begin_file(self, name: str) -> LocalPendingFile:
        """Begin a file of the log beside its place."""
        folder, _, own = f"{self._log}/{name}".rpartition("/")
        with self._faults(folder):
            self._check_log_folder()
            if folder != self._log:
                Path(folder).mkdir(exist_ok=True)
                self._check_link(name)
        return LocalPendingFile(folder, own)

    def update(self, name: str, change: Callable[[bytes | None], bytes | None]) -> None:
        """Read a small file of the log and put what `change` makes of it."""
        with folder_lock(self._log):
            try:
                before: bytes | None = self.read(name)
            except FileNotFoundError:
                before = None
            after = change(before)
            if after is not None:
                self.put(name, after)

    def delete(self, name: str) -> None:
        path = f"{self._log}/{name}"
        with self._faults(path):
            self._check_log_folder()
            os.unlink(path)  # noqa: PTH108  # as above
        drop_checksum(path)

    def remove_leftovers(self) -> list[str]:
        """Delete what writers left that died; return the names."""
        with self._faults(self._log):
            self._check_log_folder()
            sidecars = Path(self._log, SIDECARS)
            if sidecars.is_dir() and self._is_inside(str(sidecars)):
                remove_local_leftovers(sidecars)
            return remove_local_leftovers(Path(self._log))

    # === Data files ===

    def open_data_file(self, path: str) -> pa.NativeFile:
        place = self._named_place(path)
        if (small := open_small_file(place, self._is_readable)) is not None:
            return small
        try:
            with self._faults(place):
                self._check_place(place, path)
                if stat.S_ISREG(os.stat(place).st_mode):  # noqa: PTH116  # as above
                    return pa.OSFile(place, mode="rb")
        except FileNotFoundError:
            pass
        raise self._missing(place, path)

    def has_data_file(self, path: str) -> bool:
        try:
            return os.path.isfile(self._data_place(path))  # noqa: PTH113  # as above
        except DataFileMissingError:
            return False

    def list_data_files(self) -> Iterator[pa.StringArray]:
        """Yield the places of the data files, a folder at a time."""
        for folder, below, names in self._walked(self._is_inside):
            prefix = f"{below}/" if below else ""
            with self._faults(folder):
                yield places_of(prefix + name for name in names)

    def list_data_statuses(self) -> Iterator[pa.RecordBatch]:
        """Yield the data files with sizes and times, each by one place."""
        own = (os.path.realpath(self._root),)
        for folder, below, names in self._walked(
            lambda at: self._is_inside(at) and not is_within(at, own)
        ):
            with self._faults(folder):
                yield statuses_of(file_statuses(folder, names, below))

    def _walked(
        self, is_followed: Callable[[str], bool]
    ) -> Iterator[tuple[str, str, list[str]]]:
        with contextlib.suppress(FileNotFoundError):
            self._real_root()
            yield from walk_folders(
                self._root, is_followed=is_followed, skipped=LOG_FOLDER
            )

    def linked_places(self, places: Sequence[str]) -> Iterator[str]:
        """Yield where data files really are that links inside the table lead to."""
        return linked_places(self._root, places)

    def table_above(self) -> str | None:
        """Return the table in whose folder this one lies, or would."""
        return local_table_above(self._root)

    def put_data_file(self, path: str, data: bytes) -> None:
        create_file(self._data_place(path), data)

    def delete_data_file(self, path: str) -> None:
        """Delete a data file below the root; a link goes, never what it leads to."""
        place = own_data_place(path, root=self._root)
        parent = f"{os.path.realpath(os.path.dirname(place))}/"  # noqa: PTH120  # as above
        if not parent.startswith(f"{os.path.realpath(self._root).rstrip('/')}/"):
            raise PathEscapesTableError(path=path)
        with self._faults(place):
            os.unlink(place)  # noqa: PTH108  # as above
        drop_checksum(place)

    def delete_data_files(self, paths: Sequence[str]) -> None:
        """Delete data files; those that are not there are skipped."""
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                self.delete_data_file(path)

    def begin_data_file(self, path: str) -> LocalPendingFile:
        folder, name = os.path.split(self._data_place(path))
        try:
            make_folder(folder)
        except OSError as error:
            raise write_fault(error, place=folder) from None
        return LocalPendingFile(folder, name, is_new=True)

    def _data_place(self, path: str) -> str:
        place = self._named_place(path)
        try:
            self._check_place(place, path)
        except FileNotFoundError:
            raise self._missing(place, path) from None
        return place

    def _named_place(self, path: str) -> str:
        roots = self._allowed_roots
        return resolve_data_path(path, root=self._root, allowed_roots=roots)

    def _check_place(self, place: str, path: str) -> None:
        """Refuse a path that leaves the roots; a closed place counts as empty."""
        if self._is_inside(place):
            return
        if is_within(os.path.realpath(place), self._roots()):
            raise FileNotFoundError(place)
        raise PathEscapesTableError(path=path)

    def _missing(self, place: str, path: str) -> DataFileMissingError:
        """Return the error of a file that is not there, or in a closed place."""
        if is_within(os.path.realpath(place), (os.path.realpath(self._root),)):
            return DataFileMissingError(path=path)
        return DataFileElsewhereError(path=path)

    # === Links ===

    def _is_inside(self, place: str) -> bool:
        """Tell whether a path, its links followed, stays in the roots, and is open."""
        if is_plain(place, self._root) and self._is_root_unmoved():
            return True
        return self._is_readable(os.path.realpath(place))

    def _is_readable(self, real: str) -> bool:
        """Tell whether a path without links is in the roots, and in no closed place."""
        roots = self._roots()
        return is_within(real, roots[:1]) or (
            is_within(real, roots[1:]) and not self._closed.contains(real)
        )

    def _is_root_unmoved(self) -> bool:
        """Tell whether the root is the folder whose links were followed before."""
        try:
            found = os.stat(self._root)  # noqa: PTH116  # as above
        except OSError:
            return False
        root = (found.st_dev, found.st_ino)
        if root != self._seen_root:
            if os.path.realpath(self._root) != self._roots()[0]:
                return False
            self._seen_root = root
        return True

    def _roots(self) -> tuple[str, ...]:
        if self._real_roots is None:
            others = map(os.path.realpath, self._allowed_roots)
            self._real_roots = (self._real_root(), *others)
        return self._real_roots

    def _real_root(self) -> str:
        """Return the root with its links followed.

        Raises:
            FileNotFoundError: If it has become a link to a closed place.
        """
        real = os.path.realpath(self._root)
        if real != self._root and self._closed.contains(real):
            raise FileNotFoundError(self._root)
        return real

    def _open_log_file(self, folder: int, name: str) -> int:
        """Open a file of the log; a link is followed where it stays inside."""
        try:
            return os.open(name, FLAGS | os.O_NOFOLLOW, dir_fd=folder)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
        self._check_link(name)
        return os.open(name, FLAGS, dir_fd=folder)

    def _check_link(self, name: str) -> None:
        self._check_place(f"{self._log}/{name}", f"{LOG_FOLDER}/{name}")

    def _check_log_folder(self) -> None:
        if not self._checked_log:
            self._check_place(self._log, LOG_FOLDER)
        self._checked_log = True

    @contextlib.contextmanager
    def _log_folder(self) -> Iterator[int]:
        """Open the log's folder, for opening files relative to it."""
        folder = os.open(self._log, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._check_log_folder()
            yield folder
        finally:
            os.close(folder)

    @contextlib.contextmanager
    def _faults(self, place: str) -> Iterator[None]:
        """Turn faults of the disk into errors of ours; a missing file passes."""
        try:
            yield
        except (FileNotFoundError, DeltaError):
            raise
        except (NotADirectoryError, IsADirectoryError):
            raise FileNotFoundError(place) from None  # a folder is no file
        except PermissionError:
            raise LocationDeniedError(location=place) from None
        except OSError as error:
            reason = error.strerror or "the disk does not answer"
            raise LocationUnreachableError(location=place, reason=reason) from None
