"""The rows of a range of changes, batch by batch, in the order of the versions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.row_changes import CHANGE_TYPE
from deltaweb.delta.errors import DataFileMissingError
from deltaweb.delta.feed.changed_files import (
    FEED_FIELDS,
    SIZED_FIELDS,
    ChangedFiles,
    changed_files,
    feed_actions,
)
from deltaweb.delta.feed.errors import FeedFileMissingError
from deltaweb.delta.feed.row_schema import FEED_COLUMNS, feed_schema
from deltaweb.delta.feed.versions import (
    Moment,
    definitions,
    find_range,
    range_commits,
    shown_definition,
)
from deltaweb.delta.log.commits.fields import METADATA, PROTOCOL, commit_schema
from deltaweb.delta.log.commits.partition_keys import partition_keys
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import StructType, read_columns
from deltaweb.delta.scan.data_file import OpenFile
from deltaweb.delta.scan.row_condition import Condition, ParseSQL, understood
from deltaweb.delta.scan.rows import RowScan, RowSource, iter_rows
from deltaweb.delta.snapshot.state import load_definition
from deltaweb.delta.snapshot.times import load_commit_times
from deltaweb.delta.values.data_values import relabelled

FEED_NAMES = tuple(column.name for column in FEED_COLUMNS)


@dataclass(frozen=True, kw_only=True)
class FeedRequest:
    """Which changes are wanted.

    Attributes:
        versions: The first and the last version; None for the first and the last that
            the log holds.
        timestamps: Or the times between which they were made.
        time_zone: Whose clocks show times without a zone; None refuses these.
        columns: The columns of the table in the order wanted, those of the feed after
            them unless they are named; all for None.
        predicate: A condition over the columns, those of the feed among them; rows
            for which it is true are returned. A text is parsed by `parse_sql`.
        parse_sql: Parses the SQL text of a condition over a schema.
        is_shown: Whether columns of types that are not read are left out where
            `columns` is None, as a page does; they are an error otherwise.
    """

    versions: tuple[int | None, int | None] = (None, None)
    timestamps: tuple[Moment, Moment] = (None, None)
    time_zone: str | None = None
    columns: Sequence[str] | None = None
    predicate: Condition | str | None = None
    parse_sql: ParseSQL | None = None
    is_shown: bool = False


def read_changes(store: TableStore, request: FeedRequest) -> pa.RecordBatchReader:
    """Read the changes of a range of versions.

    Returns:
        Batches of rows with `_change_type` ("insert", "delete", "update_preimage" or
        "update_postimage"), `_commit_version` and `_commit_timestamp`. Of the log no
        more than a batch of commits is held, and of a file a batch of rows.
    """
    feed = FeedScan(store, request)
    return pa.RecordBatchReader.from_batches(feed.schema, feed.batches())


@dataclass(frozen=True, slots=True)
class FeedRows:
    """What is read of every file with changes; it can travel to other processes.

    Attributes:
        row_schema: The columns of the table at the shown version, and of the feed.
    """

    row_schema: StructType
    partitions: tuple[str, ...]
    columns: tuple[str, ...]
    predicate: Condition | None

    def scan(
        self, files: pa.Table, open_file: OpenFile, *, tells_kinds: bool
    ) -> RowScan:
        given = self.partitions
        if tells_kinds:
            given = tuple(name for name in given if name != CHANGE_TYPE)
        source = RowSource(self.row_schema, given, files, open_file)
        return iter_rows(source, columns=self.columns, predicate=self.predicate)


class FeedScan:
    """A range of changes, checked as a whole before any row of it is read."""

    def __init__(self, store: TableStore, request: FeedRequest) -> None:
        self._store = store
        self.range = find_range(
            store.root,
            load_commit_times(store),
            versions=request.versions,
            timestamps=request.timestamps,
            time_zone=request.time_zone,
        )
        start = load_definition(store, self.range.first)
        lines = commit_schema(METADATA, PROTOCOL)
        known = list(definitions(store, start, range_commits(store, self.range, lines)))
        shown = shown_definition(store, self.range, known[-1])
        row_schema = feed_schema(store.root, shown, known)
        self._keys = partition_keys(shown.protocol, shown.metadata)
        predicate = understood(request.predicate, row_schema, request.parse_sql)
        self.rows = FeedRows(
            row_schema,
            (*shown.metadata.partition_columns, *FEED_NAMES),
            tuple(_columns(request, row_schema)),
            predicate,
        )
        nothing = pa.table({"path": [], "partition_values": []}, _FILES)
        nowhere = self.rows.scan(nothing, store.open_data_file, tells_kinds=False)
        self.schema = nowhere.schema

    def files(self, *, with_sizes: bool = False) -> Iterator[ChangedFiles]:
        """Yield the files with changes, in the order of their versions."""
        wanted = feed_actions(self._keys, SIZED_FIELDS if with_sizes else FEED_FIELDS)
        for first, batch in range_commits(self._store, self.range, wanted):
            yield from changed_files(batch, first, self.range.times)

    def batches(self) -> Iterator[pa.RecordBatch]:
        for changed in self.files():
            yield from self.read(changed)

    def read(self, changed: ChangedFiles) -> Iterator[pa.RecordBatch]:
        try:
            for rows in self.rows.scan(
                changed.files,
                self._store.open_data_file,
                tells_kinds=changed.tells_kinds,
            ):
                yield relabelled(rows, self.schema)
        except DataFileMissingError as error:
            at = pc.index(changed.files["path"], error.path).as_py()
            raise FeedFileMissingError(
                path=error.path, version=int(changed.versions[at])
            ) from None


_FILES = pa.schema(
    [("path", pa.string()), ("partition_values", pa.map_(pa.string(), pa.string()))]
)


def _columns(request: FeedRequest, schema: StructType) -> list[str]:
    shown = read_columns(schema) if request.is_shown else schema
    names = request.columns
    wanted = list(shown.names if names is None else names)
    return wanted + [name for name in FEED_NAMES if name not in wanted]
