"""DeltaTable: what makes a table, its history, and what differs between versions.

What compares and what writes is loaded by the method that needs it (`deltaweb.lazy`): a
command that only reads starts without.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from deltaweb import delta, writer
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
from deltaweb.delta.protocol.actions import CommitInfo
from deltaweb.delta.protocol.schema import StructField, StructType
from deltaweb.delta.scan.row_condition import Condition
from deltaweb.delta.snapshot.times import load_commit_times
from deltaweb.table.definition import TableDefinition
from deltaweb.table.rows import TableWrites
from deltaweb.table.upkeep import TableUpkeep

if TYPE_CHECKING:
    from deltaweb.delta.changes import SnapshotDiff


class DeltaTable(TableWrites, TableDefinition, TableUpkeep):
    """A Delta table at a location; nothing is read before a method asks for it.

    Args:
        location: A path, or a URL that fsspec knows.
        storage_options: Options of the store; a secret stays out of every error.
        allowed_roots: Roots outside the table whose files may be read when a path
            of the log leads there.
        time_zone: Whose clocks show the times without a zone in conditions, new values
            and constraints, where rows are read and written, and when it is asked for
            a version or for changes by their times: `America/New_York`, `+05:30`.
            SQL is of UTC for None, and other times without a zone are refused.

    What writes takes `checkpoint`: when a checkpoint is written that its commit makes
    due. `"now"` is before it returns, as for None where no block of
    `deltaweb.delta.writing.after_commit.checkpoints` says otherwise; `"background"` by
    a thread, whose end `wait_for_checkpoints` of that module waits for; or `"never"`.

    Raises:
        TimeZoneUnknownError: If no zone is called so.
    """

    # === A table that is not there yet ===

    @classmethod
    def create(  # noqa: PLR0913  # what a table is
        cls,
        location: str,
        schema: StructType | pa.Schema,
        *,
        partition_by: Sequence[str] = (),
        name: str | None = None,
        description: str | None = None,
        properties: Mapping[str, str] | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> Self:
        """Make a table in a place where nothing is, and return it.

        Raises:
            DeltaError: As `deltaweb.writer.making.new_table.create_table` lists them.
        """
        table = cls(location, storage_options)
        new = writer.making.new_table.NewTable(
            schema=schema,
            partition_by=partition_by,
            name=name,
            description=description,
            properties=properties or {},
        )
        writer.making.new_table.create_table(table._store, new)
        return table

    @classmethod
    def convert(  # noqa: PLR0913  # as above
        cls,
        location: str,
        *,
        partition_schema: Sequence[StructField] | str | None = None,
        name: str | None = None,
        description: str | None = None,
        properties: Mapping[str, str] | None = None,
        time_zone: str | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> Self:
        """Make a folder of Parquet files a table where it lies, and return it.

        No file is written, moved or deleted: the log of one commit names them all.
        Columns that folders name (`year=2026/`) become partition columns.

        Args:
            location: The folder.
            partition_schema: Those columns with their types, as fields or as DDL
                (`year INT, country STRING`), in the table's order; None to find them
                out.
            name: What people call the table.
            description: What people are told of it.
            properties: Its properties.
            time_zone: Where times are from that folders name without a zone
                (`America/New_York`, `+05:30`); None to keep them as they are.
            on_progress: Called with the files that were looked at, and of how many;
                it may raise to stop the work.
            storage_options: Options of the store.

        Raises:
            LocationTakenError: If it is a table already.
            FolderNotConvertibleError: If files do not make one; names every reason.
            TimeZoneUnknownError: If no zone is called so.
            DeltaError: As `deltaweb.writer.making.conversion` lists them.
        """
        table = cls(location, storage_options)
        if isinstance(partition_schema, str):
            partition_schema = delta.protocol.schema_ddl.parse_columns_ddl(
                partition_schema
            )
        asked = writer.making.conversion.Conversion(
            partition_schema=partition_schema,
            name=name,
            description=description,
            properties=properties or {},
            time_zone=time_zone,
            **({} if on_progress is None else {"on_progress": on_progress}),
        )
        writer.making.conversion.convert_folder(table._store, asked)
        return table

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

    def compare(self, from_version: int, to_version: int) -> "SnapshotDiff":
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
        request = delta.feed.FeedRequest(
            versions=(start_version, end_version),
            timestamps=(start_timestamp, end_timestamp),
            columns=columns,
            predicate=predicate,
            parse_sql=self._parse_sql,
            time_zone=self._time_zone,
        )
        return delta.feed.read_changes(self._store, request)
