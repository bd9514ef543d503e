"""Rows of many small files, in large batches: opening each is what takes the time.

A file is read together with others where it holds the columns of the table as they
are, and nothing of it is to be left out, renamed or brought to another calendar. Any
other is read by itself, as `rows` reads it; so is every file that has a fault, which
then is told of it by name.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow as pa

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.file_actions import NUM_RECORDS, VECTOR
from deltaweb.delta.protocol.schema import StructType, arrow_schema, is_mapped_type
from deltaweb.delta.scan.data_file import (
    BATCH_BYTES,
    HELD_BYTES,
    MAX_BATCH_ROWS,
)
from deltaweb.delta.scan.decoded_bytes import DecodedBytes
from deltaweb.delta.scan.rows import RowSource, iter_rows
from deltaweb.delta.values.data_values import Origin, conform
from deltaweb.delta.values.old_calendar.calendar import old_calendar
from deltaweb.delta.values.partition_values import (
    partition_schema,
    type_partition_values,
)
from deltaweb.delta.values.stored_columns import MismatchError
from deltaweb.parquet.arrow_footer import open_parquet
from deltaweb.parquet.errors import ParquetError
from deltaweb.parquet.tail import read_footer
from deltaweb.parquet.values.dictionaries import StoredChunks
from deltaweb.parquet.values.verdicts import check_chunks, check_schema
from deltaweb.parquet.values.whole_groups import LeafColumns, WholeGroups

FAULTS: Final = (
    *(DeltaError, ParquetError, MismatchError),
    *(pa.ArrowException, OSError, ValueError),
)


def packed_rows(source: RowSource) -> Iterator[pa.RecordBatch]:
    """Yield all rows of files, in their order.

    Args:
        source: What to read from; its files are of one partition, and have their size
            (int64, bytes) as well.
    """
    files = source.files
    no_counts = pa.nulls(files.num_rows)
    counts = files[NUM_RECORDS] if NUM_RECORDS in files.column_names else no_counts
    packs = _Packs.of(source)
    if packs is None:
        yield from iter_rows(source)
        return
    for position, (path, size, num_records, is_marked) in enumerate(
        zip(
            files["path"].to_pylist(),
            files["size"].to_pylist(),
            counts.to_pylist(),
            files[VECTOR].is_valid().to_pylist(),
            strict=True,
        )
    ):
        rows = None if is_marked or size > HELD_BYTES else packs.read(path, num_records)
        if rows is None or not packs.has_room(rows):
            yield from packs.take(position)
        if rows is None:
            packs.first = position + 1
            yield from iter_rows(replace(source, files=files.slice(position, 1)))
        else:
            packs.add(rows)
    yield from packs.take(files.num_rows)


@dataclass
class _Packs:
    """Rows of files that follow one another and are not handed on yet."""

    source: RowSource
    stored: StructType
    first: int = 0
    _rows: list[pa.Table] = field(default_factory=list)
    _num_rows: int = 0
    _num_bytes: int = 0

    @classmethod
    def of(cls, source: RowSource) -> "_Packs | None":
        """Return where rows of a table's files wait; None where they cannot."""
        apart = set(source.partition_columns)
        stored = StructType(
            tuple(column for column in source.schema.fields if column.name not in apart)
        )
        is_empty = not (stored.fields and source.files.num_rows)
        return (
            None if is_empty or is_mapped_type(source.schema) else cls(source, stored)
        )

    def __post_init__(self) -> None:
        schema = arrow_schema(self.stored)
        self._names, self._types = schema.names, schema.types
        self._columns = LeafColumns.of([*schema])

    def read(self, path: str, num_records: int | None) -> pa.Table | None:
        """Return the rows of a file, None of one that is to be read by itself."""
        try:
            with self.source.open_file(path) as opened:
                if opened.size() > HELD_BYTES:
                    return None
                held = pa.BufferReader(opened.read(HELD_BYTES))
            parquet = open_parquet(held)
            metadata, schema = parquet.metadata, parquet.schema_arrow
            chunks = StoredChunks(read_footer(held))
            decoded = DecodedBytes(chunks, metadata, [*schema], held)
            if (
                metadata.num_rows > MAX_BATCH_ROWS
                or metadata.num_rows < (num_records or 0)
                or schema.names != self._names
                or schema.types != self._types
                or old_calendar(metadata, [*schema]) is not None
                or any(
                    decoded.may_unfold(group, metadata.num_rows)
                    for group in range(metadata.num_row_groups)
                )
            ):
                return None
            check_schema(chunks.root)
            groups = WholeGroups(chunks, metadata, self._columns, held)
            for group, num_rows in enumerate(groups.num_rows):
                check_chunks(chunks, group, num_rows)
            rows = parquet.read(use_threads=False)
            groups.check(rows)
        except FAULTS:
            return None
        return rows

    def has_room(self, rows: pa.Table) -> bool:
        if self._num_rows + rows.num_rows > MAX_BATCH_ROWS:
            return False
        return self._num_bytes + int(rows.nbytes) <= BATCH_BYTES

    def add(self, rows: pa.Table) -> None:
        self._rows.append(rows)
        self._num_rows += rows.num_rows
        self._num_bytes += rows.nbytes

    def take(self, position: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows that wait, of the files before a position."""
        tables, self._rows, self._num_rows, self._num_bytes = self._rows, [], 0, 0
        first, self.first = self.first, position
        if not tables:
            return
        files = self.source.files.slice(first, position - first)
        try:
            whole = self._whole(tables, files)
        except FAULTS:
            yield from iter_rows(replace(self.source, files=files))
            return
        if whole.num_rows:
            yield whole

    def _whole(self, tables: list[pa.Table], files: pa.Table) -> pa.RecordBatch:
        """Return rows by the table's schema, with their partition values."""
        rows = pa.concat_tables(tables, promote_options="none").combine_chunks()
        values = {
            column.name: conform(
                _only(chunks), column.data_type, column.name, origin=Origin.DATA_FILE
            )
            for column, chunks in zip(self.stored.fields, rows.columns, strict=True)
        }
        partitions = partition_schema(self.source.schema, self.source.partition_columns)
        (partition,) = type_partition_values(
            files["partition_values"].slice(0, 1), partitions, files["path"].slice(0, 1)
        ).chunk(0)
        schema = arrow_schema(self.source.schema)
        columns = [
            values[name]
            if name in values
            else pa.repeat(partition[name], rows.num_rows)
            for name in schema.names
        ]
        return pa.RecordBatch.from_arrays(columns, schema=schema)


def _only(column: pa.ChunkedArray) -> pa.Array:
    """Return the values of a column that is of one piece."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
