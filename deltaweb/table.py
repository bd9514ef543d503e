"""DeltaTable: the public Python API; binds the protocol to a store."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from deltaweb.delta.actions import CommitInfo
from deltaweb.delta.commit_summary import CommitSummary
from deltaweb.delta.log_segment import VersionRun
from deltaweb.delta.snapshot import Snapshot


class DeltaTable:
    """A Delta table at a location; nothing is read before a method asks for it.

    Args:
        location: A path, or a URL that fsspec knows.
        storage_options: Options of the store; a secret stays out of every error.
        allowed_roots: Roots outside the table whose files may be read when a path
            of the log leads there.
    """

    def __init__(
        self,
        location: str,
        storage_options: Mapping[str, Any] | None = None,
        *,
        allowed_roots: Sequence[str] = (),
    ) -> None:
        raise NotImplementedError

    def snapshot(
        self, version: int | None = None, timestamp: datetime | str | None = None
    ) -> Snapshot:
        """Return the table at a version, at a time, or at its newest version."""
        raise NotImplementedError

    def snapshot_metadata(
        self, version: int | None = None, timestamp: datetime | str | None = None
    ) -> Snapshot:
        """Return the table as `snapshot` does, also when it may not be read."""
        raise NotImplementedError

    def refresh(self, snapshot: Snapshot) -> Snapshot:
        """Return the newest snapshot, reading only the commits after `snapshot`."""
        raise NotImplementedError

    def latest_version(self) -> int:
        """Return the newest version by one listing of the log."""
        raise NotImplementedError

    def readable_versions(self) -> list[VersionRun]:
        """Return the runs of versions that the log can still build, ascending."""
        raise NotImplementedError

    def history(self, limit: int | None = None) -> list[CommitInfo]:
        """Return what the commits say of themselves, newest first."""
        raise NotImplementedError

    def commit_summaries(self, start_version: int = 0) -> Iterator[CommitSummary]:
        """Yield one summary a commit file, ascending from `start_version`."""
        raise NotImplementedError

    def read_commit(
        self, version: int, *, max_bytes: int = 1 << 20
    ) -> list[dict[str, Any]]:
        """Return the raw actions of one commit, whole lines of its first bytes."""
        raise NotImplementedError
