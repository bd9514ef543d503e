"""What changed between two versions of a table."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pyarrow.compute as pc

from deltaweb.delta.changes.errors import VersionFilesMissingError
from deltaweb.delta.changes.files import FileChanges, diff_files
from deltaweb.delta.changes.rewrites import FileKey, Rewrites, find_rewrites
from deltaweb.delta.changes.row_changes import RowChanges, RowDiffRequest
from deltaweb.delta.changes.rows import diff_rows
from deltaweb.delta.changes.schema import SchemaChanges, diff_schemas
from deltaweb.delta.changes.settings import (
    ValueChanges,
    diff_details,
    diff_properties,
    diff_protocol,
)
from deltaweb.delta.errors import DataFileMissingError, DeltaError
from deltaweb.delta.log.commits.arrow_reader import load_line
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.scan.rows import RowSource
from deltaweb.delta.shown import Shown
from deltaweb.delta.snapshot import Snapshot

DiffRows = Callable[[RowSource, RowSource, RowDiffRequest | None], RowChanges]
"""Compares the rows of files of one version with those of another."""

MAX_COMMIT_BYTES: Final = 1 << 30
"""Commits between two versions are read up to this; beyond, rewrites are unknown."""
MAX_CHECKED_FILES: Final = 500


@dataclass(frozen=True)
class RowEstimate:
    """What comparing rows will read.

    Attributes:
        num_skipped_files: Files that were rewritten without a change of data, and
            need not be read.
    """

    num_files: int
    size_bytes: int
    num_skipped_files: int


class SnapshotDiff(Shown):
    """The way from one version to another, earlier or later one.

    Args:
        find_engine: Finds what compares rows in process, where there is something
            cheaper than `diff_rows`; None for nothing.

    Attributes:
        refusal: Why files and rows may not be read, None when they may.
    """

    def __init__(
        self,
        store: TableStore,
        before: Snapshot,
        after: Snapshot,
        find_engine: "Callable[[SnapshotDiff], DiffRows | None] | None" = None,
    ) -> None:
        self._store = store
        self._find_engine = find_engine
        self.before = before
        self.after = after
        self.refusal: DeltaError | None = before.refusal or after.refusal

    def _title(self) -> str:
        before, after = self.before.version, self.after.version
        return f"{self._store.root} from version {before:,} to {after:,}"

    def facts(self) -> Iterator[tuple[str, object]]:
        """Yield what a terminal and a notebook show of it."""
        yield "columns changed", self.schema.count
        yield "properties changed", self.properties.count
        yield "files added", self.files.added.num_rows
        yield "files removed", self.files.removed.num_rows
        yield "files rewritten", self.files.replaced.num_rows

    @cached_property
    def schema(self) -> SchemaChanges:
        """Fields by name, or by what they are stored as where columns are mapped."""
        return diff_schemas(self.before.schema, self.after.schema)

    @cached_property
    def properties(self) -> ValueChanges:
        return diff_properties(self.before.metadata, self.after.metadata)

    @cached_property
    def protocol(self) -> ValueChanges:
        return diff_protocol(self.before.protocol, self.after.protocol)

    @cached_property
    def details(self) -> ValueChanges:
        """What else the metaData says."""
        return diff_details(self.before.metadata, self.after.metadata)

    @property
    def partition_columns(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        before, after = self.before.metadata, self.after.metadata
        return tuple(before.partition_columns), tuple(after.partition_columns)

    @cached_property
    def files(self) -> FileChanges:
        if self.refusal is not None:
            raise self.refusal
        if self.before.version > self.after.version:
            return self._later_files(self.after, self.before).inverted()
        return self._later_files(self.before, self.after)

    def estimate(self) -> RowEstimate:
        """Return what comparing rows will read at most."""
        files = self.files
        sizes = [pc.sum(f["size"]).as_py() or 0 for f in (files.removed, files.added)]
        return RowEstimate(
            num_files=files.removed.num_rows + files.added.num_rows,
            size_bytes=sum(sizes),
            num_skipped_files=files.replaced.num_rows + files.replacing.num_rows,
        )

    def rows(
        self, request: RowDiffRequest | None = None, engine: DiffRows = diff_rows
    ) -> RowChanges:
        """Compare the rows of the files that differ.

        Args:
            request: How; by whole rows for None.
        """
        files = self.files
        if engine is diff_rows and self._find_engine is not None:
            engine = self._find_engine(self) or engine
        before = self.before.row_source(files.removed)
        after = self.after.row_source(files.added)
        try:
            return engine(before, after, request)
        except DataFileMissingError as error:
            raise self._missing(error.path) from error

    def _later_files(self, older: Snapshot, newer: Snapshot) -> FileChanges:
        if older.version == newer.version:
            return diff_files(older.files, older.files, None)
        versions = range(older.version + 1, newer.version + 1)
        try:
            size = sum(self._store.status(commit_name(v)).size for v in versions)
        except FileNotFoundError:
            return diff_files(older.files, newer.files, None)
        if size > MAX_COMMIT_BYTES:
            return diff_files(older.files, newer.files, None)

        def find(removed: list[FileKey], added: list[FileKey]) -> Rewrites:
            return find_rewrites(self._commits(versions), removed, added)

        return diff_files(older.files, newer.files, find)

    def _commits(
        self, versions: Iterable[int]
    ) -> Iterator[Iterable[Mapping[str, Any]]]:
        for version in versions:
            name = commit_name(version)
            path = f"{self._store.root}/_delta_log/{name}"
            lines = self._store.read(name).split(b"\n")
            yield (
                load_line(line, name=path)
                for line in lines
                if b'"add"' in line or b'"remove"' in line
            )

    def _missing(self, path: str) -> DeltaError:
        """Return the error that names what is gone, of the version it is gone from."""
        gone = [path]
        version = self.before.version
        for snapshot, files in (
            (self.before, self.files.removed),
            (self.after, self.files.added),
        ):
            paths = files["path"].to_pylist()
            if path in paths:
                checked = paths[:MAX_CHECKED_FILES]
                missing = [p for p in checked if not self._store.has_data_file(p)]
                gone = missing or gone
                version = snapshot.version
                break
        return VersionFilesMissingError(path=gone[0], version=version, paths=gone)
