"""DeltaTable: the public Python API; binds the protocol to a store."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from deltaweb.delta.actions import CommitInfo
from deltaweb.delta.checkpoint_writer.builder import (
    CheckpointRequest,
    Progress,
    WrittenCheckpoint,
    build_checkpoint,
)
from deltaweb.delta.commit_summary import CommitSummary
from deltaweb.delta.commit_summary_reader import read_commit_summaries
from deltaweb.delta.commit_times import CommitTimes, find_version, load_commit_times
from deltaweb.delta.errors import DeltaError, VersionNotFoundError
from deltaweb.delta.history import read_history, read_raw_commit
from deltaweb.delta.log_cleanup import LogCleanup, clean_up_log
from deltaweb.delta.log_path import commit_name
from deltaweb.delta.log_segment import (
    VersionRun,
    list_log,
    load_listing,
    no_table,
    read_hint_version,
    readable_runs,
)
from deltaweb.delta.log_store import TableStore
from deltaweb.delta.predicate import Predicate
from deltaweb.delta.schema import StructType
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot_state import (
    Definition,
    SnapshotState,
    advance_state,
    load_definition,
    load_state,
)
from deltaweb.delta.table_changes import SnapshotDiff
from deltaweb.delta.table_features import commit_times_refusal
from deltaweb.storage.location import open_store

MAX_LAYERS = 64  # refreshes that a snapshot stacks before it is read afresh


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
        self._store = open_store(location, storage_options, allowed_roots=allowed_roots)

    @classmethod
    def from_store(cls, store: TableStore) -> "DeltaTable":
        """Return the table whose files a store holds."""
        table = cls.__new__(cls)
        table._store = store  # noqa: SLF001  # a constructor of this class
        return table

    @property
    def store(self) -> TableStore:
        """The files of the table."""
        return self._store

    @property
    def root(self) -> str:
        """The table's root, as errors show it."""
        return self._store.root

    # === Snapshots ===

    def snapshot(
        self, version: int | None = None, timestamp: datetime | str | None = None
    ) -> Snapshot:
        """Return the table at a version, at a time, or at its newest version.

        Args:
            version: The version; not together with `timestamp`.
            timestamp: A datetime or ISO 8601 text, with a zone: the newest version
                made at or before it.

        Raises:
            TableNotFoundError: If there is no log.
            VersionNotFoundError: If the log does not reach the version.
            TimestampNotFoundError: If the log does not reach the time.
            CommitTimesError: If a time is given, and the newest version keeps the
                times of commits in the commits.
            UnsupportedProtocolError: If the version asks for a reader above ours.
            UnsupportedFeatureError: If it uses features that we do not read.
            LogGapError: If a commit is missing.
            LogCorruptError: If a commit does not read.
        """
        snapshot = self.snapshot_metadata(version, timestamp)
        if snapshot.refusal is not None:
            raise snapshot.refusal
        return snapshot

    def snapshot_metadata(
        self, version: int | None = None, timestamp: datetime | str | None = None
    ) -> Snapshot:
        """Return the table as `snapshot` does, also when it may not be read.

        Protocol, metadata and what the log lists can then still be shown; `refusal`
        says why rows cannot, and `read` raises it.
        """
        if timestamp is None:
            return self._bind(load_state(self._store, version))
        if version is not None:
            message = "give a version or a timestamp, not both"
            raise ValueError(message)
        refusal = self.commit_times_refusal()
        if refusal is not None:
            raise refusal
        return self._bind(load_state(self._store, find_version(self._store, timestamp)))

    def definition(self) -> Definition:
        """Return protocol and metadata of the newest version, without its files.

        Raises:
            DeltaError: As `snapshot_metadata` does.
        """
        return load_definition(self._store)

    def refresh(self, snapshot: Snapshot) -> Snapshot:
        """Return the newest snapshot, reading only the commits after `snapshot`.

        The next commits are probed by name, without a listing. The same object comes
        back when there are none. A snapshot that may not be read is returned with its
        `refusal`.

        Raises:
            DeltaError: As `snapshot` does, but for the refusal.
        """
        if not self._continues(snapshot):
            return self.snapshot_metadata()
        versions = self._commits_after(snapshot.version)
        if versions:
            state = advance_state(self._store, snapshot.state, versions)
            return self._bind(state)
        hint = read_hint_version(self._store)
        if hint is not None and hint > snapshot.version:
            return self.snapshot_metadata()  # the log went on behind a checkpoint
        return snapshot

    def _bind(self, state: SnapshotState) -> Snapshot:
        return Snapshot(self._store, state, parse_sql=_parse_sql)

    def _continues(self, snapshot: Snapshot) -> bool:
        """Tell whether the log still is the one that the snapshot was read from."""
        if len(snapshot.state.layers) >= MAX_LAYERS:
            return False
        try:
            found = self._store.status(commit_name(snapshot.version))
        except FileNotFoundError:
            return False
        return found == snapshot.state.commit_status

    def _commits_after(self, version: int) -> list[int]:
        """Return the versions after `version` that have a commit."""
        versions: list[int] = []
        while True:
            try:
                self._store.status(commit_name(version + len(versions) + 1))
            except FileNotFoundError:
                return versions
            versions.append(version + len(versions) + 1)

    # === Versions and history ===

    def latest_version(self) -> int:
        """Return the newest version by one listing of the log.

        Raises:
            TableNotFoundError: If there is no log.
        """
        latest = load_listing(self._store, None).latest_version
        if latest is None:
            raise no_table(self._store)
        return latest

    def readable_versions(self) -> list[VersionRun]:
        """Return the runs of versions that the log can still build, ascending.

        By the names in the log alone: whether a protocol is supported, or a data file
        is still there, is not asked.

        Raises:
            TableNotFoundError: If there is no log.
        """
        listing = list_log(self._store)
        if listing.latest_version is None:
            raise no_table(self._store)
        return readable_runs(listing)

    def commit_times(self) -> CommitTimes:
        """Return the versions that the log shows, with monotonic times.

        Raises:
            TableNotFoundError: If there is no log.
        """
        times = load_commit_times(self._store)
        if not times.versions:
            raise no_table(self._store)
        return times

    def commit_times_refusal(self) -> DeltaError | None:
        """Return why no time means a version, None where times do.

        The times that `commit_times` returns are those of the files of the log. Where
        the newest version keeps its times in the commits they may be wrong, those of
        older versions as well: files that were copied are all new.

        Raises:
            DeltaError: If the newest version cannot be read.
        """
        newest = self.definition()
        return commit_times_refusal(
            newest.protocol, newest.metadata, root=self.root, version=newest.version
        )

    def history(self, limit: int | None = None) -> list[CommitInfo]:
        """Return what the commits say of themselves, newest first.

        Raises:
            TableNotFoundError: If there is no log.
        """
        return read_history(self._store, self.commit_times(), limit)

    def commit_summaries(self, start_version: int = 0) -> Iterator[CommitSummary]:
        """Yield one summary a commit file, ascending from `start_version`.

        A commit that does not read is a summary with its `fault`.

        Raises:
            TableNotFoundError: If there is no log.
        """
        return read_commit_summaries(self._store, self.commit_times(), start_version)

    def read_commit(
        self, version: int, *, max_bytes: int = 1 << 20
    ) -> list[dict[str, Any]]:
        """Return the raw actions of one commit, whole lines of its first bytes.

        Args:
            version: The version that the commit makes.
            max_bytes: How much of the commit is read at most.

        Raises:
            VersionNotFoundError: If the log has no such commit.
            LogCorruptError: If a line of it is not a JSON object.
        """
        try:
            return read_raw_commit(self._store, version, max_bytes=max_bytes)
        except FileNotFoundError:
            versions = self.commit_times().versions
            raise VersionNotFoundError(
                root=self.root,
                version=version,
                earliest=versions[0],
                latest=versions[-1],
            ) from None

    # === What changed ===

    def compare(self, from_version: int, to_version: int) -> SnapshotDiff:
        """Return what changed on the way from one version to another.

        The first may be the later one. Versions that may not be read can still be
        compared by what their metaData and protocol say.

        Raises:
            VersionNotFoundError: If the log does not reach a version.
            DeltaError: As `snapshot` does, but for the refusal.
        """
        before = self.snapshot_metadata(from_version)
        same = from_version == to_version
        after = before if same else self.snapshot_metadata(to_version)
        return SnapshotDiff(self._store, before, after)

    # === Upkeep of the log ===

    def create_checkpoint(  # noqa: PLR0913 (what a caller may want of one)
        self,
        version: int | None = None,
        *,
        parts: int | None = None,
        rows_per_part: int | None = None,
        now: datetime | None = None,
        on_progress: Progress | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> WrittenCheckpoint:
        """Write a checkpoint of a version that exists, and then `_last_checkpoint`.

        Args:
            version: The version; the newest for None.
            parts: Into how many files; a single one for None.
            rows_per_part: Or about how many actions a file is to hold.
            now: The time by which tombstones expire, aware; this moment for None.
            on_progress: Called with the file actions that were taken, and of about
                how many; it may raise to stop the work.
            is_cancelled: Asked between two pieces of work.

        Raises:
            DeltaError: As `build_checkpoint` lists them; the log is as it was then.
        """
        request = CheckpointRequest(
            version=version,
            parts=parts,
            rows_per_part=rows_per_part,
            now=now or datetime.now(UTC),
            on_progress=on_progress,
            is_cancelled=is_cancelled,
        )
        return build_checkpoint(self._store, request)

    def clean_up_log(
        self,
        *,
        now: datetime | None = None,
        is_dry_run: bool = False,
        on_found: Callable[[LogCleanup], None] | None = None,
        on_progress: Progress | None = None,
    ) -> LogCleanup:
        """Delete the history that `delta.logRetentionDuration` does not keep.

        The newest checkpoint at or before the cut stays, its commit, and all that is
        later; see `deltaweb.delta.log_cleanup`.

        Args:
            now: The time to count back from, aware; this moment for None.
            is_dry_run: Whether the files are only listed.
            on_found: Called with what goes, before anything does; it may raise to
                keep it.
            on_progress: Called with the files that are gone, and of how many; it may
                raise to stop the work.

        Raises:
            DeltaError: As `log_cleanup.clean_up_log` lists them.
        """
        return clean_up_log(
            self._store,
            now=now or datetime.now(UTC),
            is_dry_run=is_dry_run,
            on_found=on_found,
            on_progress=on_progress,
        )


def _parse_sql(sql: str, schema: StructType) -> Predicate:
    from deltaweb.sharing.predicates import parse_predicate  # noqa: PLC0415  # the SQL parser loads only for SQL

    return parse_predicate(sql, schema)
