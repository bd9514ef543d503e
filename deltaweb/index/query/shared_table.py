"""The versions of tables that a server answers queries from, kept between queries.

The log stays the truth: it is asked for its newest version every time, which costs the
probe of a name or two. What was read of the version before is brought up to date by
new commits alone.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.kept import is_unchanged
from deltaweb.delta.snapshot.times import find_version
from deltaweb.index.files.source import SOURCE
from deltaweb.index.folder.parts import IndexMissingError
from deltaweb.index.query.file_part import FilePart
from deltaweb.index.query.indexed_block import restore_snapshot
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.table import DeltaTable

MAX_TABLES: Final = 64
MAX_FILES_KEPT: Final = 4_000_000  # of all snapshots held, some 200 bytes each
MAX_OLDER_VERSIONS: Final = 4  # a table
MAX_OLDER_FILES: Final = 1_000_000  # of these versions; one may have more
MAX_LAYERS: Final = 32  # of commits that came one by one; then the index is asked again


class SharedTableReader:
    """Opens versions of tables for queries; safe for threads.

    Args:
        max_tables: How many tables are held at most.
        max_files: How many files their snapshots may have in all.
    """

    def __init__(
        self, *, max_tables: int = MAX_TABLES, max_files: int = MAX_FILES_KEPT
    ) -> None:
        self._max_tables = max_tables
        self._max_files = max_files
        self._tables: OrderedDict[str, _HeldTable] = OrderedDict()
        self._lock = Lock()

    def open_version(
        self,
        table: DeltaTable,
        *,
        index_folder: Path | None,
        version: int | None = None,
        timestamp: datetime | None = None,
    ) -> SharedVersion:
        """Return a table at a version, at a time, or at its newest version.

        Args:
            timestamp: An aware time: the newest version made at or before it.
        """
        held = self._held(table)
        with held.lock:
            opened = held.open_version(table, index_folder, version, timestamp)
        with self._lock:
            self._evict()
        return opened

    def open_page(
        self,
        table: DeltaTable,
        *,
        index_folder: Path | None,
        ordered_by: Path | None,
        version: int,
    ) -> SharedVersion:
        """Return a table at a version, its files in the order that a page had.

        Args:
            ordered_by: The folder of the index whose order it is, the newest or an
                older one; None for that of paths.
        """
        if ordered_by is None:
            return self.open_version(table, index_folder=index_folder, version=version)
        held = self._held(table)
        with held.lock:
            opened = held.open_page(table, ordered_by, version)
        with self._lock:
            self._evict()
        return opened

    def _held(self, table: DeltaTable) -> "_HeldTable":
        with self._lock:
            held = self._tables.get(table.root)
            if held is None or not _has_access_of(table.store, held.store):
                held = self._tables[table.root] = _HeldTable(table.store)
            self._tables.move_to_end(table.root)
        return held

    def _evict(self) -> None:
        """Forget what was not asked for the longest, as far as bounds demand."""
        while len(self._tables) > 1 and (
            len(self._tables) > self._max_tables
            or sum(held.num_files for held in self._tables.values()) > self._max_files
        ):
            self._tables.popitem(last=False)


class IndexMark(NamedTuple):
    """An index folder, and the file in it that is the last one written."""

    folder: Path
    inode: int
    modification_time_ns: int


@dataclass(slots=True, eq=False)
class _HeldTable:
    """What is held of one table; used under its lock."""

    store: TableStore
    lock: Lock = field(default_factory=Lock)
    newest: SharedVersion | None = None
    mark: IndexMark | None = None
    older: OrderedDict[int, SharedVersion] = field(default_factory=OrderedDict)

    @property
    def num_files(self) -> int:
        held = list(self.older.values())
        if self.newest is not None:
            held.append(self.newest)
        return _files_in_memory(held)

    def open_version(
        self,
        table: DeltaTable,
        index_folder: Path | None,
        version: int | None,
        timestamp: datetime | None,
    ) -> SharedVersion:
        newest = self._open_newest(table, index_folder)
        if timestamp is not None:
            return self._open_at_time(table, newest, timestamp)
        if version is None or version == newest.version:
            return newest
        return self._open_older(table, version)

    def _open_newest(
        self, table: DeltaTable, index_folder: Path | None
    ) -> SharedVersion:
        held, mark = self.newest, _index_mark(index_folder)
        base = None if held is None else held.snapshot
        if base is None or mark != self.mark or len(base.state.layers) >= MAX_LAYERS:
            base = _restored(table, index_folder) or base
        self.mark = mark
        snapshot = table.snapshot_metadata() if base is None else _newer(table, base)
        if held is not None and snapshot is held.snapshot:
            return held
        parts = {} if held is None else held.parts
        self.newest = SharedVersion(snapshot, root=table.root, parts=parts)
        if held is not None:
            self._keep_older(held)  # somebody may be in the middle of its pages
        return self.newest

    def open_page(
        self, table: DeltaTable, ordered_by: Path, version: int
    ) -> SharedVersion:
        for held in (self.newest, self.older.get(version)):
            if (
                held is not None
                and (held.version, held.index) == (version, ordered_by.name)
                and is_unchanged(table.store, held.snapshot.state)
            ):
                return held
        snapshot = restore_snapshot(ordered_by, table.store)
        if snapshot.version != version:
            with _index_errors(ordered_by):
                snapshot = table.refresh(snapshot, version)
        opened = SharedVersion(snapshot, root=table.root, parts={})
        if opened.index != ordered_by.name:  # the log was read afresh
            raise IndexMissingError(str(ordered_by))
        self._keep_older(opened)
        return opened

    def _open_at_time(
        self, table: DeltaTable, newest: SharedVersion, timestamp: datetime
    ) -> SharedVersion:
        version = find_version(table.store, timestamp)
        if version == newest.version:
            return newest
        return self._open_older(table, version)

    def _open_older(self, table: DeltaTable, version: int) -> SharedVersion:
        held = self.older.get(version)
        if held is None or not is_unchanged(table.store, held.snapshot.state):
            snapshot = table.snapshot_metadata(version)
            held = SharedVersion(snapshot, root=table.root, parts={})
        self._keep_older(held)
        return held

    def _keep_older(self, held: SharedVersion) -> None:
        self.older[held.version] = held
        self.older.move_to_end(held.version)
        while len(self.older) > 1 and self._holds_too_much():
            self.older.popitem(last=False)

    def _holds_too_much(self) -> bool:
        num_files = _files_in_memory(self.older.values())
        return len(self.older) > MAX_OLDER_VERSIONS or num_files > MAX_OLDER_FILES


@contextmanager
def _index_errors(folder: Path) -> Iterator[None]:
    """Take a commit that is gone for an index that leads nowhere."""
    try:
        yield
    except FileNotFoundError as error:
        raise IndexMissingError(str(folder)) from error


def _files_in_memory(versions: Iterable[SharedVersion]) -> int:
    """Count files of versions that are held in memory; those of several once."""
    parts: dict[int, FilePart] = {}
    for version in versions:
        parts |= version.parts
    return sum(part.num_rows for part in parts.values() if type(part) is FilePart)


def _has_access_of(store: TableStore, other: TableStore) -> bool:
    """Tell whether two stores of one table read with the same credentials."""
    return getattr(store, "key", None) == getattr(other, "key", None)


def _newer(table: DeltaTable, snapshot: Snapshot) -> Snapshot:
    """Go on to the newest version; where a new commit does not read, afresh."""
    try:
        return table.refresh(snapshot)
    except DeltaError:
        return table.snapshot_metadata()


def _restored(table: DeltaTable, index_folder: Path | None) -> Snapshot | None:
    """Return the table as its index has it; None without a whole one of this log."""
    if index_folder is None:
        return None
    try:
        return restore_snapshot(index_folder, table.store)
    except IndexMissingError:
        return None


def _index_mark(index_folder: Path | None) -> IndexMark | None:
    """Return what distinguishes an index from the next one there; None without one."""
    if index_folder is None:
        return None
    try:
        found = (index_folder / SOURCE).stat()
    except OSError:
        return None
    return IndexMark(index_folder, found.st_ino, found.st_mtime_ns)
