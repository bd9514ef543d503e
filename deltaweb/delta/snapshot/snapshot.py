"""The table at one version.

What reads data files is loaded by the methods that do: who asks only what the log says
starts without.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta import scan as scanning
from deltaweb.delta.arguments import check_names, check_number
from deltaweb.delta.errors import (
    DeltaError,
    LogCorruptError,
    SchemaMissingError,
    UnsupportedFeatureError,
)
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.features.registry import reading_refusal
from deltaweb.delta.log.blocks import RawStatistics
from deltaweb.delta.log.commits.times import to_datetime, to_ms
from deltaweb.delta.log.file_actions import NUM_RECORDS
from deltaweb.delta.log.replay import compact_blocks, concat_files, run_in_threads
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.protocol.schema import StructType, type_text
from deltaweb.delta.protocol.table_properties import deleted_file_retention_ms
from deltaweb.delta.scan.row_condition import Condition, ParseSQL, understood
from deltaweb.delta.shown import Shown
from deltaweb.delta.snapshot.frames import Frames
from deltaweb.delta.snapshot.state import SnapshotState
from deltaweb.delta.snapshot.times import load_commit_times
from deltaweb.delta.values.statistics.columns import read_statistics
from deltaweb.delta.values.statistics.record_counts import stored_counts
from deltaweb.delta.values.whole import exact_sum

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

    from deltaweb.delta.scan.rows import ReadRows, RowScan, RowSource

PARQUET: Final = "parquet"
FEW_OF: Final = 8
WORTH_COUNTING_BYTES: Final = 16 << 20
WORTH_COUNTING_FILES: Final = 32
"""A reading of fewer bytes and files, or of one file in so many, reads nothing more of
the log to know how many rows files have: it would take longer by some hundredths."""

ColumnName = str | Sequence[str]


class Snapshot(Shown, Frames):
    """The table at one version: immutable, and lazy about what costs time.

    Attributes:
        version: The version.
        protocol: The protocol action in force.
        metadata: The metaData action in force.
        refusal: Why this version may not be read, None when it may. A snapshot of
            `DeltaTable.snapshot` has none; one of `DeltaTable.snapshot_metadata` may,
            and then `files` is what the log says, not what a reader would return.
    """

    def __init__(
        self,
        store: TableStore,
        state: SnapshotState,
        *,
        parse_sql: ParseSQL | None = None,
    ) -> None:
        self._store = store
        self._state = state
        self._parse_sql = parse_sql
        self.version: int = state.version
        self.protocol: Protocol = state.protocol
        self.metadata: Metadata = state.metadata
        self.refusal: DeltaError | None = _refusal(store.root, state)

    def _title(self) -> str:
        return f"{self._store.root} at version {self.version:,}"

    def facts(self) -> Iterator[tuple[str, object]]:
        """Yield what a terminal and a notebook show of it."""
        if self.refusal is not None:
            yield "refusal", self.refusal.message
        yield "files", self.num_files
        yield "bytes", self.size_bytes
        yield "columns", len(self.schema.fields)
        if self.metadata.partition_columns:
            yield "partitioned by", ", ".join(self.metadata.partition_columns)

    def column_types(self) -> Iterator[tuple[str, str]]:
        """Yield name and type of each column."""
        for column in self.schema.fields:
            yield column.name, type_text(column.data_type)

    @property
    def state(self) -> SnapshotState:
        """What `DeltaTable.refresh` builds the next snapshot from."""
        return self._state

    @cached_property
    def timestamp(self) -> datetime:
        """When the version was made: aware UTC; by its commit, or by the file of it."""
        time_ms = load_commit_times(self._store).time_ms(self.version)
        return to_datetime(time_ms or 0)

    @cached_property
    def schema(self) -> StructType:
        """The logical schema, which knows what its columns are stored as.

        Raises:
            SchemaMissingError: If the metaData has none.
            SchemaError: If it does not parse, or if its column mapping contradicts
                itself; names the column.
        """
        if self.metadata.schema_string is None:
            raise SchemaMissingError(root=self._store.root, version=self.version)
        return table_schema(self.protocol, self.metadata)

    @property
    def typed_bytes(self) -> int:
        """What the statistics take that were asked for so far."""
        return sum(table.nbytes for table in self._statistics.values())

    # === Files ===

    @cached_property
    def files(self) -> pa.Table:
        """The live files, one a row, in no order.

        Columns: path string (as in the log), size int64 (bytes), modification_time
        int64 (ms), data_change bool, partition_values map<string, string> (as in
        the log), dv_id string (null without a deletion vector), deletion_vector
        struct (its descriptor as in the log, null without one).
        """
        compact = compact_blocks(self._state.blocks)
        self._state = replace(self._state, blocks=compact)
        return concat_files(compact)

    @property
    def num_files(self) -> int:
        """Count of live files."""
        return sum(block.num_files for block in self._state.blocks)

    @cached_property
    def size_bytes(self) -> int:
        """Sum of the sizes of the live files."""
        return sum(
            exact_sum(_live_sizes(block.block.files["size"], block.mask))
            for block in self._state.blocks
        )

    def raw_statistics(self) -> list[RawStatistics]:
        """Return the statistics as the log holds them, row for row with `files`.

        They are read again at each call; a part a block of files.
        """
        return run_in_threads(
            lambda block: block.statistics(),
            self._state.blocks,
            num_rows=self.num_files,
        )

    def statistics(self, columns: Sequence[ColumnName] | None = None) -> pa.Table:
        """Return typed statistics, row for row with `files`.

        Args:
            columns: The columns asked for, nested ones as paths; all for None.

        Returns:
            num_records int64, and the structs min, max and null_count, as
            `deltaweb.delta.values.statistics.columns` describes them.

        Raises:
            ColumnNotFoundError: If a name is no column.
        """
        wanted = None if columns is None else _hashable(columns)
        if wanted not in self._statistics:
            self._statistics[wanted] = self._typed_statistics(wanted)
        return self._statistics[wanted]

    @cached_property
    def _statistics(self) -> dict[tuple[ColumnName, ...] | None, pa.Table]:
        return {}

    def _typed_statistics(self, columns: Sequence[ColumnName] | None) -> pa.Table:
        schema = self.schema
        tables = [
            _typed(raw, block.num_files, schema, columns)
            for raw, block in zip(
                self.raw_statistics(), self._state.blocks, strict=True
            )
        ]
        if not tables:
            return read_statistics(_no_text(0), None, schema, columns)
        return pa.concat_tables(tables)

    # === Tombstones and transactions ===

    @cached_property
    def tombstones(self) -> pa.Table:
        """All tombstones that the log holds, expired ones too.

        Columns: path string, deletion_timestamp int64 (ms; 0 where the log has
        none), data_change bool, size int64 or null, dv_id string.
        """
        return self._state.tombstones()

    def unexpired_tombstones(self, now: datetime) -> pa.Table:
        """Return the tombstones that `delta.deletedFileRetentionDuration` keeps.

        Args:
            now: The time to compare with; aware.

        Raises:
            PropertyError: If the property is not an interval of fixed length.
        """
        oldest = to_ms(now) - deleted_file_retention_ms(self.metadata.configuration)
        return self.tombstones.filter(pc.field("deletion_timestamp") >= oldest)

    @cached_property
    def transactions(self) -> dict[str, SetTransaction]:
        """The newest transaction of each application."""
        return self._state.transactions()

    # === Rows ===

    def scan(
        self,
        columns: Sequence[str] | None = None,
        predicate: Condition | str | None = None,
        limit: int | None = None,
        *,
        typed_variants: bool = False,
    ) -> "RowScan":
        """Read rows by the logical schema, batch by batch; see `Frames`."""
        check_names("columns", columns)
        check_number("limit", limit)
        self._check_readable()
        schema = scanning.variant_parts.SchemaWithParts.of(self.schema)
        predicate = understood(predicate, schema, self._parse_sql)
        source = replace(
            self.row_source(self.files),
            schema=schema,
            statistics=self._statistics_of_stored,
            counted=self._counted_if_soon,
        )
        if typed_variants:
            source = source.with_typed_variants()
        return scanning.rows.iter_rows(
            source, columns=columns, predicate=predicate, limit=limit
        )

    def to_pyarrow_dataset(self) -> "Dataset":
        """Return the files as a dataset of pyarrow; see `Frames`."""
        from deltaweb.delta.snapshot.dataset import snapshot_dataset  # noqa: PLC0415 (few ask for it)

        return snapshot_dataset(
            self._store,
            self.version,
            self.files,
            schema=self.schema,
            protocol=self.protocol,
            metadata=self.metadata,
        )

    def counted(self, files: pa.Table) -> pa.Table:
        """Return files with `NUM_RECORDS`, by which a reading of them is checked.

        Args:
            files: Rows of `files`.
        """
        if NUM_RECORDS in files.column_names:
            return files
        known = next(iter(self._statistics.values()), None)
        typed = self.statistics([]) if known is None else known
        return self._with_counts(files, typed[NUM_RECORDS])

    def _with_counts(self, files: pa.Table, counts: pa.ChunkedArray) -> pa.Table:
        if files is not self.files:
            counts = counts.take(pc.index_in(files["path"], self.files["path"]))
        return files.append_column(NUM_RECORDS, counts)

    def _counted_if_soon(self, files: pa.Table) -> pa.Table:
        """Return files with `NUM_RECORDS` if it is known, or soon found out.

        Statistics that do not read are unknown.
        """
        if not self._statistics and files.num_rows * FEW_OF < self.num_files:
            return files
        is_large = exact_sum(files["size"]) >= WORTH_COUNTING_BYTES
        with suppress(LogCorruptError):
            if self._statistics or is_large:
                return self.counted(files)
            return self._with_counts(files, self._soon_counted)
        return files

    @cached_property
    def _soon_counted(self) -> pa.ChunkedArray:
        """The numRecords of `files`, null where it takes long to find them."""
        counts = []
        for block in self._state.blocks:
            is_held = block.block.held_bytes is not None
            is_many = block.num_files >= WORTH_COUNTING_FILES
            found = pa.nulls(block.num_files, pa.int64())
            if block.block.load_counts and (is_held or is_many):
                found = stored_counts(*block.counts(), block.num_files)
            counts.append(found)
        return pa.chunked_array(counts, pa.int64())

    def _statistics_of_stored(self, paths: Sequence[ColumnName]) -> pa.Table:
        """Return statistics of the columns that are stored: of no part of a variant."""
        stored = [path for path in paths if self.schema.find(path[0])]
        return self.statistics(stored)

    def file_rows(self, files: pa.Table) -> Iterator[pa.RecordBatch]:
        """Yield all rows of some of the version's files, by the logical schema.

        Args:
            files: Rows of `files`.

        Raises:
            DeltaError: If the version may not be read, or a file does not read.
        """
        yield from self._read_rows(files)

    @cached_property
    def _read_rows(self) -> "ReadRows":
        return scanning.rows.row_reader(self.row_source(self.files))

    def row_source(self, files: pa.Table) -> "RowSource":
        """Return what the rows of some of the version's files are read from.

        Args:
            files: Rows of `files`.

        Raises:
            DeltaError: If the version may not be read.
        """
        self._check_readable()
        return scanning.rows.RowSource(
            schema=self.schema,
            partition_columns=self.metadata.partition_columns,
            files=files,
            open_file=self._store.open_data_file,
        )

    def _check_readable(self) -> None:
        """Refuse rows that would not be those of the version."""
        if self.refusal is not None:
            raise self.refusal
        provider = self.metadata.format.provider
        if provider.lower() != PARQUET:
            raise UnsupportedFeatureError(
                root=self._store.root,
                version=self.version,
                features=[f"data files of format {provider}"],
            )


def _refusal(root: str, state: SnapshotState) -> DeltaError | None:
    refusal = reading_refusal(
        state.protocol, state.metadata, root=root, version=state.version
    )
    if refusal is None and state.metadata.schema_string is None:
        return SchemaMissingError(root=root, version=state.version)
    return refusal


def _hashable(columns: Sequence[ColumnName]) -> tuple[ColumnName, ...]:
    return tuple(name if isinstance(name, str) else tuple(name) for name in columns)


def _live_sizes(sizes: pa.Array, mask: pa.BooleanArray | None) -> pa.Array:
    return sizes if mask is None else sizes.filter(mask)


def _no_text(count: int) -> pa.ChunkedArray:
    return pa.chunked_array([pa.nulls(count, pa.string())])


def _typed(
    raw: RawStatistics,
    count: int,
    schema: StructType,
    columns: Sequence[ColumnName] | None,
) -> pa.Table:
    text = raw.json_text
    if text is None and raw.parsed is None:
        text = _no_text(count)
    return read_statistics(text, raw.parsed, schema, columns)
