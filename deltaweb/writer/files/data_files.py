"""The data files of one write: split by partition, of a target size, counted.

Memory holds the rows of one row group a partition at most, and less where there are
many partitions: when all that wait are more than `MAX_WAITING_BYTES`, the partition
that has most is written. Files that are open are few at a time, whatever the number
of partitions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self, TypeAlias

import pyarrow as pa

from deltaweb.delta.changes.row_changes import CHANGE_TYPE
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.features.materialized_partitions import stores_partitions
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import (
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
    leaf_fields,
    stored_schema,
)
from deltaweb.delta.protocol.table_properties import (
    DEFAULT_CODEC,
    DEFAULT_FILE_BYTES,
    DEFAULT_STRING_PREFIX,
    data_file_codec,
    string_prefix_length,
    target_file_bytes,
)
from deltaweb.delta.values.footer_bounds import leaves_with_nan
from deltaweb.delta.values.partition_values import (
    PartitionKey,
    canonical_keys,
    partition_schema,
    stored_keys,
)
from deltaweb.delta.writing.authorship import now_ms
from deltaweb.delta.writing.commit import discard_files
from deltaweb.delta.writing.transaction import ADDED_FILES
from deltaweb.writer.files.file_ends import FileEnds
from deltaweb.writer.files.file_shape import FileShape
from deltaweb.writer.files.parquet_file import (
    OpenParquetFile,
    WrittenFile,
    dictionaries_of,
)
from deltaweb.writer.files.partition_split import PartitionSplit, new_data_path
from deltaweb.writer.files.statistics import FileStatistics, statistics_columns

ROW_GROUP_BYTES: Final = 64 << 20
"""Of rows in memory that make one row group."""
ROW_GROUP_ROWS: Final = 1 << 20
MAX_WAITING_BYTES: Final = 256 << 20
DEALS_KEPT: Final = 4
"""Times that rows are dealt out before slices of them are copied."""
MAX_OPEN_FILES: Final = 400
SMALL_BYTES: Final = 256 << 10
"""Of rows in memory whose file is whole before storage sees it."""
CHANGE_DATA: Final = "_change_data/"


@dataclass(frozen=True, slots=True)
class FileLayout:
    """How the rows of a table become files.

    Attributes:
        schema: The table's logical schema, which knows what columns are stored as.
        statistics: The columns that get statistics, by the table's names.
        stores_partitions: Whether files have the partition columns, too: after others.
        folder: Below which folder of the table they go; empty for the table's own.
        first_of: The id of a table that does not exist before these files; else empty.
        codec: How columns are compressed, as Arrow calls it.
        prefix_length: How many characters statistics keep of a text.
    """

    schema: StructType
    partition_columns: tuple[str, ...]
    statistics: tuple[ColumnPath, ...]
    target_bytes: int = DEFAULT_FILE_BYTES
    stores_partitions: bool = False
    name: str = "part"
    folder: str = ""
    first_of: str = ""
    codec: str = DEFAULT_CODEC
    prefix_length: int = DEFAULT_STRING_PREFIX

    @classmethod
    def of_table(
        cls, protocol: Protocol, metadata: Metadata, target_bytes: int | None = None
    ) -> Self:
        """Return the layout that a table's definition asks for."""
        schema = table_schema(protocol, metadata)
        partitions = tuple(metadata.partition_columns)
        data = StructType(tuple(f for f in schema.fields if f.name not in partitions))
        if not data.fields:
            reason = "every column is a partition column, and files would have none"
            raise SchemaError(column="", reason=reason)
        return cls(
            schema,
            partitions,
            statistics_columns(data, metadata.configuration),
            target_bytes or target_file_bytes(metadata.configuration),
            stores_partitions=stores_partitions(protocol, metadata),
            codec=data_file_codec(metadata.configuration),
            prefix_length=string_prefix_length(metadata.configuration),
        )

    def of_changes(self) -> Self:
        """Return the layout of files with rows that changed, and what became of them.

        Source: delta_protocol.md, "Change Data Files".
        """
        kind = StructField(CHANGE_TYPE, PrimitiveType("string"))
        schema = replace(self.schema, fields=(*self.schema.fields, kind))
        return replace(
            self, schema=schema, statistics=(), name="cdc", folder=CHANGE_DATA
        )

    def with_statistics_of(self, columns: Iterable[ColumnPath]) -> Self:
        both = dict.fromkeys((*self.statistics, *columns))
        return replace(self, statistics=tuple(both))

    def of_kept_rows(self, columns: Iterable[StructField]) -> Self:
        """Return the layout of files in which rows keep what they are known by.

        Args:
            columns: The columns for that: last ones, which the schema has not.
        """
        schema = replace(self.schema, fields=(*self.schema.fields, *columns))
        return replace(self, schema=schema)

    @property
    def partition_keys(self) -> tuple[str, ...]:
        columns = partition_schema(self.schema, self.partition_columns).fields
        return tuple(column.stored_name for column in columns)

    def file_shape(self) -> FileShape:
        if not self.stores_partitions:
            return FileShape.of(self.schema, self.partition_columns)
        apart = self.partition_columns
        fields = sorted(self.schema.fields, key=lambda column: column.name in apart)
        return FileShape.of(replace(self.schema, fields=tuple(fields)), ())

    def stored_statistics(self) -> tuple[ColumnPath, ...]:
        """Return the columns that get statistics, by the names that files have."""
        leaves, stored = (
            [leaf.path for leaf in leaf_fields(schema)]
            for schema in (self.schema, stored_schema(self.schema))
        )
        names = dict(zip(leaves, stored, strict=True))
        return tuple(names[path] for path in self.statistics)


@dataclass(eq=False)
class _Waiting:
    """Rows of one partition that are not written yet."""

    tables: list[pa.Table] = field(default_factory=list)
    num_bytes: int = 0
    num_rows: int = 0

    def add(self, rows: pa.Table, num_bytes: int) -> None:
        self.tables.append(rows)
        self.num_bytes += num_bytes
        self.num_rows += rows.num_rows

    def let_go(self) -> None:
        """Copy the rows, so that they keep no others in memory."""
        rows = pa.concat_tables(self.tables)
        self.tables = [rows.take(pa.array(range(rows.num_rows), pa.int64()))]


class DataFileWriter:
    """Writes rows as new data files; as a context it takes them back on an error."""

    def __init__(self, store: TableStore, layout: FileLayout) -> None:
        self.num_rows = 0
        self.num_bytes = 0
        self._store = store
        self._layout = layout
        columns = partition_schema(layout.schema, layout.partition_columns)
        self._split = PartitionSplit(columns)
        self._spellings: Spellings = {}
        self._partition_keys = layout.partition_keys
        whole = arrow_schema(layout.schema)
        # Whether a null has its place is checked before; files are not to say so.
        self._rows = pa.schema([f.with_nullable(True) for f in whole])  # noqa: FBT003  # pyarrow's own
        self._columns = layout.file_shape()
        self._statistics = layout.stored_statistics()
        if not len(self._columns):
            raise SchemaError(column="", reason="no column of it can be stored")
        self._waiting: dict[PartitionKey, _Waiting] = {}
        self._waiting_bytes = 0
        self._undealt: list[pa.Table] = []
        self._undealt_bytes = self._undealt_rows = self._deals = 0
        self._open: dict[PartitionKey, OpenParquetFile] = {}
        self._ends: FileEnds[PartitionKey] = FileEnds()
        self._count = 0
        self._has_nan = False
        self._dictionaries: list[str] | bool = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.discard()

    def spell_as(self, files: pa.Table | None) -> None:
        """Let the rows that follow keep the texts of the partitions of some files.

        Args:
            files: With `partition_values`, as in the log; None for new rows: they get
                our texts.
        """
        spellings = spellings_of(files, self._split.columns)
        if spellings != self._spellings:
            self._deal()
            self._spellings = spellings

    def write(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Write rows of the table's columns, typed as they are."""
        if not rows.num_rows:
            return
        # Of columns that rows come without, which only stand last, there is nothing.
        lacking = [field.type for field in self._rows][len(rows.schema) :]
        nothing = [pa.nulls(rows.num_rows, kind) for kind in lacking]
        rows = pa.Table.from_arrays([*rows.columns, *nothing], schema=self._rows)
        self.num_rows += rows.num_rows
        self._undealt.append(rows)
        self._undealt_bytes += rows.nbytes
        self._undealt_rows += rows.num_rows
        if (
            self._undealt_bytes >= ROW_GROUP_BYTES
            or self._undealt_rows >= ROW_GROUP_ROWS
        ):
            self._deal()

    def _deal(self) -> None:
        """Hand the rows that came to their partitions, and write what is enough."""
        if not self._undealt:
            return
        rows = pa.concat_tables(self._undealt)
        self._undealt, self._undealt_bytes, self._undealt_rows = [], 0, 0
        if not self._deals:
            self._dictionaries = dictionaries_of(self._columns, rows)
        row_bytes = rows.nbytes / max(1, rows.num_rows)
        enough = min(ROW_GROUP_BYTES, 4 * self._layout.target_bytes)
        stored = self._columns.stored(rows)
        self._has_nan = self._has_nan or bool(leaves_with_nan(stored))
        for value, some in self._split.deal(rows, stored):
            key = self._spellings.get(value, value)
            waiting = self._waiting.setdefault(key, _Waiting())
            num_bytes = int(row_bytes * some.num_rows)
            waiting.add(some, num_bytes)
            self._waiting_bytes += num_bytes
            if waiting.num_bytes >= enough or waiting.num_rows >= ROW_GROUP_ROWS:
                self._flush(key)
        self._deals += 1
        if self._deals % DEALS_KEPT == 0:
            for waiting in self._waiting.values():
                waiting.let_go()
        while self._waiting_bytes > MAX_WAITING_BYTES:
            self._flush(
                max(self._waiting, key=lambda key: self._waiting[key].num_bytes)
            )

    def end_file(self) -> None:
        """Let the rows that follow go to other files than those before."""
        self._deal()
        for key in list(self._waiting):
            self._flush(key, is_last=True)
        for key in list(self._open):
            self._close(key)

    def finish(self) -> pa.Table:
        """Write what waits, and return the files in the columns of `ADDED_FILES`."""
        self.end_file()
        return self._added_files()

    def discard(self) -> None:
        """Delete what was written; faults are passed, a vacuum takes the rest."""
        for file in self._open.values():
            file.discard()
        self._open.clear()
        self._waiting.clear()
        discard_files(self._store, [*self._ends.discard()])

    # === Files ===

    def _flush(self, key: PartitionKey, *, is_last: bool = False) -> None:
        """Write what waits of a partition; the last of a file ends it."""
        waiting = self._waiting.pop(key)
        self._waiting_bytes -= waiting.num_bytes
        tables = waiting.tables
        rows = tables[0] if len(tables) == 1 else pa.concat_tables(tables)
        is_small = is_last and waiting.num_bytes <= SMALL_BYTES
        for start in range(0, rows.num_rows, ROW_GROUP_ROWS):
            some = rows.slice(start, ROW_GROUP_ROWS)
            file = self._file(key, is_small=is_small)
            if not file.write(some, has_nan=self._has_nan):
                self._close(key)
                file = self._file(key, file.unbounded, is_small=is_small)
                file.write(some, has_nan=self._has_nan)
        if is_last or self._file(key).size >= self._layout.target_bytes:
            self._close(key)

    def _file(
        self,
        key: PartitionKey,
        unbounded: frozenset[str] = frozenset(),
        *,
        is_small: bool = False,
    ) -> OpenParquetFile:
        file = self._open.get(key)
        if file is not None:
            return file
        if len(self._open) >= MAX_OPEN_FILES:
            self._close(max(self._open, key=lambda key: self._open[key].size))
        layout = self._layout
        path = layout.folder + new_data_path(
            self._partition(key), self._count, layout.name, layout.codec
        )
        statistics = FileStatistics(self._statistics, layout.prefix_length)
        file = OpenParquetFile(
            self._store,
            path,
            statistics,
            self._dictionaries,
            first_of=layout.first_of,
            unbounded=unbounded,
            codec=layout.codec,
            is_small=is_small,
        )
        self._count += 1
        self._open[key] = file
        return file

    def _close(self, key: PartitionKey) -> None:
        file = self._open.pop(key)
        self._ends.end(key, file)

    def _partition(self, key: PartitionKey) -> dict[str, str | None]:
        return dict(zip(self._partition_keys, key, strict=True))

    def _added_files(self) -> pa.Table:
        written_ms = now_ms()
        ended = self._ends.files()
        files: Sequence[WrittenFile] = [file for _, file in ended]
        self.num_bytes = sum(file.size for file in files)
        columns = {
            "path": [file.path for file in files],
            "size": [file.size for file in files],
            "modification_time": [written_ms] * len(files),
            "partition_values": [
                list(self._partition(key).items()) for key, _ in ended
            ],
            "stats": [file.stats for file in files],
        }
        return pa.table(
            {name: columns[name] for name in ADDED_FILES.names}, schema=ADDED_FILES
        )


# === How files spell their partitions ===


Spellings: TypeAlias = Mapping[PartitionKey, PartitionKey]
"""The texts of partitions that have others than ours, by ours."""


def spellings_of(files: pa.Table | None, columns: StructType) -> Spellings:
    """Return how files spell their partitions, where not as we do.

    Those of one partition that do not agree are written together, and get our text.

    Args:
        files: With `partition_values`, as in the log; None for none.
    """
    if files is None or not columns.fields:
        return {}
    values = files["partition_values"]
    found: dict[PartitionKey, PartitionKey] = {}
    keys = canonical_keys(values, columns)
    for key, said in zip(keys, stored_keys(values, columns), strict=True):
        if found.setdefault(key, said) != said:
            found[key] = key
    return {key: said for key, said in found.items() if said != key}
