"""The files of the newest snapshot as the index holds them: all columns typed."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.column_path import ColumnPath
from deltaweb.delta.errors import PartitionValueError, SchemaError
from deltaweb.delta.file_actions import FILES_SCHEMA
from deltaweb.delta.partition_values import partition_schema, type_partition_values
from deltaweb.delta.replay import RawStatistics, SelectedBlock
from deltaweb.delta.schema import LeafField, StructType, arrow_schema, leaf_fields
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.statistics import read_statistics
from deltaweb.index.file_index import (
    FILES,
    ROWS_A_BATCH,
    bounded_batches,
    map_table,
    write_batches,
)
from deltaweb.index.statistics_text import statistics_texts

FILES_WORTH_READING_AHEAD: Final = 500_000
INDEXED_COLUMNS: Final = 32  # leaf columns with statistics, as writers count them
INDEXED_COLUMNS_PROPERTY: Final = "delta.dataSkippingNumIndexedCols"
LISTED: Final = ("path", "size", "modification_time", "partition_values")
MAX_SUM: Final = 2.0**62
MIN_INDEXED_COLUMNS: Final = 4
MAX_STATISTICS_CELLS: Final = (
    8_000_000  # files times columns; more files, fewer columns
)


@dataclass(frozen=True, slots=True, eq=False)
class NewestFiles:
    """The live files, row for row, as far as totals need them.

    Attributes:
        files: By the snapshot's columns.
        num_records: Rows of each file; null where it does not tell.
        num_tombstones: Count of tombstones in the log.
        has_deletion_vectors: Whether any file has one.
        has_typed_partitions: Whether all partition values are of their types.
    """

    files: pa.Table
    num_records: pa.ChunkedArray
    num_tombstones: int = 0
    has_deletion_vectors: bool = False
    has_typed_partitions: bool = True

    @property
    def num_files(self) -> int:
        """Count of files."""
        return int(self.files.num_rows)

    @property
    def size_bytes(self) -> int | None:
        """Sum of the sizes; None when a long does not hold it."""
        return _sum(self.files["size"])

    @property
    def total_records(self) -> int | None:
        """Sum of the rows; None when a file does not tell."""
        return None if self.num_records.null_count else _sum(self.num_records)


@dataclass(frozen=True, slots=True)
class FileColumns:
    """What `files.arrow` holds of every file of a snapshot.

    Attributes:
        schema: The logical schema; None where it does not parse.
        partition_columns: Names of the partition columns.
        statistics: Columns with typed statistics; None where the schema does not
            parse.
        has_typed_partitions: Whether partition values are typed, or texts.
    """

    schema: StructType | None
    partition_columns: tuple[str, ...]
    statistics: tuple[ColumnPath, ...] | None
    has_typed_partitions: bool = True

    def with_texts(self) -> "FileColumns":
        """Return the same with partition values as texts."""
        return replace(self, has_typed_partitions=False)


def choose_columns(snapshot: Snapshot) -> FileColumns:
    """Choose what the index holds of each file; a broken schema types nothing."""
    names = tuple(snapshot.metadata.partition_columns)
    try:
        leaves = indexed_leaves(snapshot)
    except SchemaError:
        return FileColumns(None, names, None, has_typed_partitions=not names)
    paths = tuple(leaf.path for leaf in leaves)
    columns = FileColumns(snapshot.schema, names, paths)
    try:
        arrow_schema(partition_schema(snapshot.schema, names))
    except SchemaError:
        return columns.with_texts()
    return columns


def block_rows(block: SelectedBlock, columns: FileColumns) -> pa.Table:
    """Return the live files of a block as rows of `files.arrow`.

    Raises:
        PartitionValueError: If a value is not of its type.
    """
    compact = block.compact()
    files = pa.Table.from_batches([compact.block.files.cast(FILES_SCHEMA)])
    partition = _partition_column(files, columns)
    raw = compact.statistics()
    texts = statistics_texts(raw, compact.text, compact.num_files)
    return _joined(
        files.select(list(LISTED)).append_column("partition", partition),
        _typed_statistics(_Loaded(raw, texts), columns),
    )


def has_fitting_values(block: SelectedBlock, columns: FileColumns) -> bool:
    """Tell whether all partition values of a block are of their types."""
    files = block.compact().block.files.cast(FILES_SCHEMA)
    try:
        _partition_column(pa.Table.from_batches([files]), columns)
    except PartitionValueError:
        return False
    return True


def no_rows(columns: FileColumns) -> pa.Table:
    """Return `files.arrow` without a row."""
    files = FILES_SCHEMA.empty_table()
    partition = _partition_column(files, columns)
    nothing = _Loaded(RawStatistics(None, None), pa.nulls(0, pa.string()))
    return _joined(
        files.select(list(LISTED)).append_column("partition", partition),
        _typed_statistics(nothing, columns),
    )


def write_files(folder: Path, snapshot: Snapshot) -> NewestFiles:
    """Write `files.arrow`: the live files, with statistics as text and typed.

    Statistics take most of the memory, so they are read and written some rows at a
    time. Where the schema does not parse, none is typed.
    """
    files = snapshot.files
    columns = choose_columns(snapshot)
    try:
        partition = _partition_column(files, columns)
    except PartitionValueError:
        # An index must show a table whose writer got a value wrong.
        columns = columns.with_texts()
        partition = _partition_column(files, columns)
    listed = files.select(list(LISTED)).append_column("partition", partition)
    records: list[pa.ChunkedArray] = []

    def rows() -> Iterator[pa.Table]:
        first = 0
        for loaded in _loaded(snapshot.state.blocks, files.num_rows):
            statistics = _typed_statistics(loaded, columns)
            records.append(statistics["num_records"])
            yield _joined(listed.slice(first, statistics.num_rows), statistics)
            first += statistics.num_rows

    write_rows(folder, columns, rows())
    chunks = [chunk for column in records for chunk in column.chunks]
    return NewestFiles(
        files,
        pa.chunked_array(chunks, pa.int64()),
        num_tombstones=snapshot.tombstones.num_rows,
        has_deletion_vectors=files["dv_id"].null_count < files.num_rows,
        has_typed_partitions=columns.has_typed_partitions,
    )


def write_rows(folder: Path, columns: FileColumns, rows: Iterable[pa.Table]) -> None:
    """Write rows of `files.arrow`, in batches of `ROWS_A_BATCH`."""
    write_batches(
        folder, FILES, no_rows(columns).schema, bounded_batches(rows, ROWS_A_BATCH)
    )


def map_newest(
    folder: Path, *, num_tombstones: int, has_deletion_vectors: bool, is_typed: bool
) -> NewestFiles:
    """Return what was written to `files.arrow` as it is mapped into memory.

    Args:
        folder: The index.
        num_tombstones: Count of tombstones in the log.
        has_deletion_vectors: Whether any file has one.
        is_typed: Whether partition values are of their types.
    """
    rows = map_table(folder / FILES)
    return NewestFiles(
        rows.select(list(LISTED)),
        rows["num_records"],
        num_tombstones=num_tombstones,
        has_deletion_vectors=has_deletion_vectors,
        has_typed_partitions=is_typed,
    )


def indexed_leaves(snapshot: Snapshot) -> list[LeafField]:
    """The leaf columns whose statistics the index keeps, from the left.

    Partition columns have none. Many files leave room for fewer columns.

    Raises:
        SchemaError: If the schema does not parse.
    """
    leaves = leaf_fields(snapshot.schema)
    partitions = set(snapshot.metadata.partition_columns)
    stored = [leaf for leaf in leaves if leaf.path[0] not in partitions]
    room = MAX_STATISTICS_CELLS // max(1, snapshot.num_files)
    limit = min(_configured_columns(snapshot), max(MIN_INDEXED_COLUMNS, room))
    return stored[:limit]


def _joined(listed: pa.Table, statistics: pa.Table) -> pa.Table:
    for name in statistics.column_names:
        listed = listed.append_column(statistics.field(name), statistics[name])
    return listed


# === Statistics ===


class _Loaded(NamedTuple):
    """What the log holds of some files: statistics as they are, and as text."""

    raw: RawStatistics
    texts: pa.StringArray


def _loaded(blocks: Iterable[SelectedBlock], num_files: int) -> Iterator[_Loaded]:
    """Yield what the log holds of all files in turn; of many, one batch ahead.

    Memory that one thread takes and another one gives back comes anew from the
    kernel each time, which costs more than reading ahead saves for fewer.
    """
    loading = chain.from_iterable(map(_load_parts, blocks))
    if num_files < FILES_WORTH_READING_AHEAD:
        yield from loading
        return
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, loading, None)
        while (loaded := coming.result()) is not None:
            coming = pool.submit(next, loading, None)
            yield loaded


def _load_parts(block: SelectedBlock) -> Iterator[_Loaded]:
    for raw, num_files in block.statistics_parts(ROWS_A_BATCH):
        yield _Loaded(raw, statistics_texts(raw, None, num_files))


def _typed_statistics(loaded: _Loaded, columns: FileColumns) -> pa.Table:
    raw, texts = loaded
    text = raw.json_text
    if columns.schema is None or columns.statistics is None:
        nothing = pa.chunked_array([pa.nulls(len(texts), pa.string())])
        table = read_statistics(nothing, None, StructType(()), [])
    else:
        if text is None and raw.parsed is None:
            text = pa.chunked_array([texts])
        table = read_statistics(text, raw.parsed, columns.schema, columns.statistics)
    records = table["num_records"]
    told = pc.if_else(pc.less(records, 0), pa.scalar(None, pa.int64()), records)
    table = table.set_column(0, "num_records", told)
    return table.append_column("stats", pa.chunked_array([texts]))


# === Partition values ===


def _partition_column(files: pa.Table, columns: FileColumns) -> pa.ChunkedArray:
    """The partition values as a struct: typed, or as texts.

    Raises:
        PartitionValueError: If a value is not of its type.
    """
    names = columns.partition_columns
    if not names:
        return pa.chunked_array([_no_columns(files.num_rows)])
    values = files["partition_values"]
    if columns.schema is not None and columns.has_typed_partitions:
        typed = partition_schema(columns.schema, names)
        return type_partition_values(values, typed, files["path"])
    texts = [pc.map_lookup(values, query_key=name, occurrence="last") for name in names]
    rows = pa.table(texts, names=list(names)).to_struct_array()
    return pa.chunked_array(rows.chunks, rows.type)


def _no_columns(num_rows: int) -> pa.StructArray:
    return pa.StructArray.from_buffers(pa.struct([]), num_rows, [None])


def _sum(values: pa.ChunkedArray) -> int | None:
    """Add up longs; None where a long does not hold the sum."""
    if abs(pc.sum(values.cast(pa.float64(), safe=False)).as_py() or 0.0) >= MAX_SUM:
        return None
    return int(pc.sum(values).as_py() or 0)


def _configured_columns(snapshot: Snapshot) -> int:
    text = snapshot.metadata.configuration.get(INDEXED_COLUMNS_PROPERTY, "")
    is_count = text.isascii() and text.isdigit() and len(text) < len(str(1 << 30))
    return min(INDEXED_COLUMNS, int(text)) if is_count else INDEXED_COLUMNS
