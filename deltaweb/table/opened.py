"""A table that was opened: its files, its zone, and its snapshots.

All that `DeltaTable` does beside has its place in modules that stand on this one.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from deltaweb import expressions
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.row_condition import RowCondition
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.kept import kept
from deltaweb.delta.snapshot.state import (
    Definition,
    SnapshotState,
    load_definition,
    load_state,
    newer_state,
)
from deltaweb.delta.snapshot.times import find_version
from deltaweb.delta.values.time_zones.known import UTC_ZONE, check_zone
from deltaweb.storage.place import open_store

if TYPE_CHECKING:
    from deltaweb.expressions.condition import SQLCondition


class OpenedTable:
    """The files of a table and its snapshots; `DeltaTable` says the arguments."""

    def __init__(
        self,
        location: str,
        storage_options: Mapping[str, Any] | None = None,
        *,
        allowed_roots: Sequence[str] = (),
        time_zone: str | None = None,
    ) -> None:
        self._time_zone = time_zone and check_zone(time_zone)
        self._store = open_store(location, storage_options, allowed_roots=allowed_roots)

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

    def refresh(self, snapshot: Snapshot) -> Snapshot:
        """Return the newest snapshot, reading only the commits after `snapshot`.

        The next commits are probed by name, without a listing. The same object comes
        back when there are none. A snapshot that may not be read is returned with its
        `refusal`.

        Raises:
            DeltaError: As `snapshot` does, but for the refusal.
        """
        state = newer_state(self._store, snapshot.state)
        if state is None:
            return self.snapshot_metadata()
        return snapshot if state is snapshot.state else self._bind(state)

    def _bind(self, state: SnapshotState) -> Snapshot:
        made = Snapshot(self._store, state, parse_sql=self._parse_sql)
        return kept.snapshot(self._store, made, time_zone=self.sql_zone)

    def _parse_sql(self, sql: str, schema: StructType) -> RowCondition:
        return parse_sql(sql, schema, time_zone=self.sql_zone)


def parse_sql(
    sql: str, schema: StructType, *, time_zone: str = UTC_ZONE
) -> "SQLCondition":
    """Parse the SQL text of a condition; the parser loads only for SQL.

    Args:
        sql: The condition.
        schema: The schema of the rows.
        time_zone: The zone of the condition.
    """
    return expressions.condition.SQLCondition(sql, schema, time_zone)
