"""A table that was opened: its snapshots, its history, what differs between versions.

What compares is loaded by the method that needs it (`deltaweb.lazy`): who only looks
starts without.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from deltaweb import delta, expressions
from deltaweb.delta.arguments import (
    check_location,
    check_mapping,
    check_names,
    check_number,
    check_time,
)
from deltaweb.delta.errors import VersionNotFoundError
from deltaweb.delta.log.commits.history import read_history, read_raw_commit
from deltaweb.delta.log.commits.summary import CommitSummary, read_commit_summaries
from deltaweb.delta.log.commits.times import CommitTimes
from deltaweb.delta.log.segment import (
    VersionRun,
    list_log,
    load_listing,
    no_table,
    readable_runs,
)
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.row_condition import Condition, RowCondition
from deltaweb.delta.shown import CommitHistory
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.kept import kept
from deltaweb.delta.snapshot.state import (
    Definition,
    SnapshotState,
    load_definition,
    load_state,
    newer_state,
)
from deltaweb.delta.snapshot.times import find_version, load_commit_times
from deltaweb.delta.values.time_zones.known import UTC_ZONE, check_zone
from deltaweb.storage.place import open_shared, open_store

if TYPE_CHECKING:
    import os

    from deltaweb.delta.changes import SnapshotDiff


class OpenedTable:
    """What is read of a table; `DeltaTable` says the arguments, and writes, too."""

    def __init__(
        self,
        location: "str | os.PathLike[str]",
        storage_options: Mapping[str, Any] | None = None,
        *,
        allowed_roots: Sequence[str] = (),
        time_zone: str | None = None,
    ) -> None:
        place = check_location("location", location)
        check_mapping("storage_options", storage_options)
        self._time_zone = time_zone and check_zone(time_zone)
        self._store = open_shared(place) or open_store(
            place, storage_options, allowed_roots=allowed_roots
        )

    @classmethod
    def from_store(cls, store: TableStore, *, time_zone: str | None = None) -> Self:
        """Return the table whose files a store holds, in a zone as `DeltaTable`."""
        table = cls.__new__(cls)
        table._time_zone = time_zone and check_zone(time_zone)  # noqa: SLF001  # as below
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

    @property
    def sql_zone(self) -> str:
        """The zone of conditions and other SQL."""
        return self._time_zone or UTC_ZONE

    # === Snapshots ===

    def snapshot(
        self, version: int | None = None, timestamp: datetime | str | None = None
    ) -> Snapshot:
        """Return the table at a version, at a time, or at its newest version.

        Args:
            version: The version; not together with `timestamp`.
            timestamp: A datetime or ISO 8601 text, with a zone where the table was
                opened without one: the newest version made at or before it.

        Raises:
            TableNotFoundError: If there is no log.
            VersionNotFoundError: If the log does not reach the version.
            TimestampNotFoundError: If the log does not reach the time.
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
        check_number("version", version)
        check_time("timestamp", timestamp)
        if timestamp is None:
            return self._bind(load_state(self._store, version))
        if version is not None:
            message = "give a version or a timestamp, not both"
            raise ValueError(message)
        found = find_version(self._store, timestamp, time_zone=self._time_zone)
        return self._bind(load_state(self._store, found))

    def definition(self) -> Definition:
        """Return protocol and metadata of the newest version, without its files.

        Raises:
            DeltaError: As `snapshot_metadata` does.
        """
        return load_definition(self._store)

    def refresh(self, snapshot: Snapshot, version: int | None = None) -> Snapshot:
        """Return a later snapshot, the newest one for None.

        Only the commits after `snapshot` are read where these are a few.

        The next commits are probed by name, without a listing. The same object comes
        back when there are none. A snapshot that may not be read is returned with its
        `refusal`.

        Raises:
            DeltaError: As `snapshot` does, but for the refusal.
        """
        state = newer_state(self._store, snapshot.state, version)
        if state is None:
            return self.snapshot_metadata(version)
        return snapshot if state is snapshot.state else self._bind(state)

    def _bind(self, state: SnapshotState) -> Snapshot:
        made = Snapshot(self._store, state, parse_sql=self._parse_sql)
        return kept.snapshot(self._store, made, time_zone=self.sql_zone)

    def _parse_sql(self, sql: str, schema: StructType) -> RowCondition:
        return expressions.condition.SQLCondition(sql, schema, self.sql_zone)

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
        """Return the versions that the log shows, and when each was made.

        By the times that commits carry, from the version on that the newest one names
        for that; by those of their files before, and in any other table.

        Raises:
            TableNotFoundError: If there is no log.
        """
        times = load_commit_times(self._store)
        if not times.versions:
            raise no_table(self._store)
        return times

    def history(self, limit: int | None = None) -> CommitHistory:
        """Return what the commits say of themselves, newest first.

        Raises:
            TableNotFoundError: If there is no log.
        """
        check_number("limit", limit)
        return CommitHistory(read_history(self._store, self.commit_times(), limit))

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
        check_number("version", version)
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

    def compare(self, from_version: int, to_version: int) -> "SnapshotDiff":
        """Return what changed on the way from one version to another.

        The first may be the later one. Versions that may not be read can still be
        compared by what their metaData and protocol say.

        Raises:
            VersionNotFoundError: If the log does not reach a version.
            DeltaError: As `snapshot` does, but for the refusal.
        """
        check_number("from_version", from_version)
        check_number("to_version", to_version)
        before = self.snapshot_metadata(from_version)
        same = from_version == to_version
        after = before if same else self.snapshot_metadata(to_version)
        cheaper = partial(delta.feed.row_diff.cheaper_engine, self._store)
        return delta.changes.SnapshotDiff(self._store, before, after, cheaper)

    def changes(  # noqa: PLR0913 (the range, and what is wanted of its rows)
        self,
        start_version: int | None = None,
        end_version: int | None = None,
        *,
        start_timestamp: datetime | str | None = None,
        end_timestamp: datetime | str | None = None,
        columns: Sequence[str] | None = None,
        predicate: Condition | str | None = None,
    ) -> pa.RecordBatchReader:
        """Return the rows that each version of a range inserted, updated and deleted.

        The arguments, columns and errors are those of
        `deltaweb.delta.feed.FeedRequest` and `read_changes`; a range has both ends.
        """
        check_number("start_version", start_version)
        check_number("end_version", end_version)
        check_time("start_timestamp", start_timestamp)
        check_time("end_timestamp", end_timestamp)
        check_names("columns", columns)
        request = delta.feed.FeedRequest(
            versions=(start_version, end_version),
            timestamps=(start_timestamp, end_timestamp),
            columns=columns,
            predicate=predicate,
            parse_sql=self._parse_sql,
            time_zone=self._time_zone,
        )
        return delta.feed.read_changes(self._store, request)
