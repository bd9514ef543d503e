"""What replays a table's log for its index: this process, or Spark."""

import typing
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.files.file_rows import NewestFiles, write_files
from deltaweb.index.history.pool import ReadCommits, commit_reader
from deltaweb.table import DeltaTable


class Engine(typing.Protocol):
    """Replays versions of one table, and writes their files."""

    @property
    def can_share(self) -> bool:
        """Whether files may be written by another thread while it loads versions."""

    def load(self, version: int | None = None) -> Snapshot:
        """Return a version, also when it may not be read; its files may be elsewhere.

        Raises:
            DeltaError: As `DeltaTable.snapshot_metadata` does.
        """

    def with_files(self, snapshot: Snapshot) -> Snapshot:
        """Return a loaded version with its files in this process."""

    def write_files(self, folder: Path, snapshot: Snapshot) -> NewestFiles:
        """Write `files.arrow` of a loaded version."""

    def commit_reader(self, most: int) -> AbstractContextManager[ReadCommits]:
        """Give what reads commits, of which there can be `most`."""


@dataclass(frozen=True, slots=True)
class InProcess:
    """Replays in this process."""

    table: DeltaTable

    @property
    def can_share(self) -> bool:
        """A version is read by the thread that asks for it."""
        return True

    def load(self, version: int | None = None) -> Snapshot:
        """Return a version, also when it may not be read."""
        return self.table.snapshot_metadata(version)

    def with_files(self, snapshot: Snapshot) -> Snapshot:
        return snapshot

    def write_files(self, folder: Path, snapshot: Snapshot) -> NewestFiles:
        """Write `files.arrow`."""
        return write_files(folder, snapshot)

    def commit_reader(self, most: int) -> AbstractContextManager[ReadCommits]:
        return commit_reader(self.table.store, most)
