"""The files of the newest snapshot as the index holds them: all columns typed."""

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import PartitionValueError, SchemaError
from deltaweb.delta.log.blocks import RawStatistics, SelectedBlock
from deltaweb.delta.log.commits.partition_keys import partition_keys
from deltaweb.delta.log.file_actions import FILES_SCHEMA, VECTOR, files_of_block
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import (
    LeafField,
    StructType,
    arrow_schema,
    leaf_fields,
)
from deltaweb.delta.protocol.table_properties import INDEXED_COLUMNS
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.values.partition_values import (
    partition_schema,
    type_partition_values,
)
from deltaweb.delta.values.statistics.columns import read_statistics
from deltaweb.delta.values.statistics.record_counts import deleted_records, live_records
from deltaweb.index.files.statistics_text import statistics_texts
from deltaweb.index.folder.file_index import (
    FILES,
    PARTITION_NAMES,
    ROWS_A_BATCH,
    bounded_batches,
)
from deltaweb.index.folder.parts import KeptPart, map_table, write_parts
from deltaweb.sharing.wire.lines import KEPT_SCHEMA, kept_columns
from deltaweb.sharing.wire.partition_values import instant_columns

FILES_WORTH_READING_AHEAD: Final = 500_000
MAX_INDEXED_COLUMNS: Final = 32  # leaf columns with statistics, as writers count them
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
        num_records: Live rows of each file; null if unknown.
        deleted_rows: How many rows these delete; None if one does not say.
    """

    files: pa.Table
    num_records: pa.ChunkedArray
    num_tombstones: int = 0
    num_vectors: int = 0
    deleted_rows: int | None = 0
    has_typed_partitions: bool = True

    @property
    def num_files(self) -> int:
        return int(self.files.num_rows)

    @property
    def size_bytes(self) -> int | None:
        """Sum of the sizes; None when a long does not hold it."""
        return _sum(self.files["size"])

    @property
    def total_records(self) -> int | None:
        """Sum of the rows; None if a file's are unknown."""
        return None if self.num_records.null_count else _sum(self.num_records)


@dataclass(frozen=True, slots=True)
class FileColumns:
    """What `files.arrow` holds of every file of a snapshot.

    Attributes:
        partition_keys: What the log calls them, in the same order.
        statistics: Columns with typed statistics; None where the schema does not
            parse.
        has_vectors: Whether a file may have a deletion vector.
    """

    schema: StructType | None
    partition_columns: tuple[str, ...]
    partition_keys: tuple[str, ...]
    statistics: tuple[ColumnPath, ...] | None
    has_typed_partitions: bool = True
    has_vectors: bool = False

    @property
    def has_instants(self) -> bool:
        """Whether answers write partition values otherwise than the log does."""
        if self.schema is None:
            return False
        return bool(instant_columns(self.schema, self.partition_columns))

    def with_texts(self) -> "FileColumns":
        """Return the same with partition values as texts."""
        return replace(self, has_typed_partitions=False)


def choose_columns(snapshot: Snapshot) -> FileColumns:
    """Choose what the index holds of each file; a broken schema types nothing."""
    names = tuple(dict.fromkeys(snapshot.metadata.partition_columns))
    keys = tuple(partition_keys(snapshot.protocol, snapshot.metadata))
    has_vectors = any(map(_has_vectors, snapshot.state.blocks))
    try:
        leaves = indexed_leaves(snapshot)
    except SchemaError:
        return FileColumns(None, names, keys, None, not names, has_vectors)
    paths = tuple(leaf.path for leaf in leaves)
    columns = FileColumns(snapshot.schema, names, keys, paths, has_vectors=has_vectors)
    try:
        arrow_schema(partition_schema(snapshot.schema, names))
    except SchemaError:
        return columns.with_texts()
    return columns


def block_rows(block: SelectedBlock, columns: FileColumns) -> pa.Table:
    """Return the live files of a block as rows of `files.arrow`."""
    compact = block.compact()
    files = pa.Table.from_batches([files_of_block(compact.block.files)])
    partition = _partition_column(files, columns)
    raw = compact.statistics()
    texts = statistics_texts(raw, compact.text, compact.num_files)
    statistics = _typed_statistics(_Loaded(raw, texts), columns)
    return _joined(_listed(files, partition, columns), statistics, columns)


def has_fitting_values(block: SelectedBlock, columns: FileColumns) -> bool:
    """Tell whether all partition values of a block are of their types."""
    files = files_of_block(block.compact().block.files)
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
    statistics = _typed_statistics(nothing, columns)
    return _joined(_listed(files, partition, columns), statistics, columns)


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
    listed = _listed(files, partition, columns)
    records: list[pa.ChunkedArray] = []

    def rows() -> Iterator[pa.Table]:
        first = 0
        for loaded in _loaded(snapshot.state.blocks, files.num_rows):
            statistics = _typed_statistics(loaded, columns)
            records.append(statistics["num_records"])
            some = listed.slice(first, statistics.num_rows)
            yield _joined(some, statistics, columns)
            first += statistics.num_rows

    write_rows(folder, columns, rows())
    chunks = [chunk for column in records for chunk in column.chunks]
    return _newest(
        files,
        pa.chunked_array(chunks, pa.int64()),
        files[VECTOR],
        num_tombstones=snapshot.tombstones.num_rows,
        is_typed=columns.has_typed_partitions,
    )


def write_rows(
    folder: Path,
    columns: FileColumns,
    rows: Iterable[pa.Table],
    kept: Iterable[KeptPart] = (),
) -> None:
    """Write `files.arrow`: parts of an older one, then rows by `ROWS_A_BATCH`."""
    schema = no_rows(columns).schema
    if columns.partition_keys != columns.partition_columns:
        pairs = [columns.partition_columns, columns.partition_keys]
        schema = schema.with_metadata({PARTITION_NAMES: json.dumps(pairs)})
    pieces = chain(kept, bounded_batches(rows, ROWS_A_BATCH))
    write_parts(folder, FILES, schema, pieces)


def map_newest(folder: Path, *, num_tombstones: int, is_typed: bool) -> NewestFiles:
    """Return what was written to `files.arrow` as it is mapped into memory.

    Args:
        is_typed: Whether partition values are of their types.
    """
    rows = map_table(folder, FILES)
    return _newest(
        rows.select(list(LISTED)),
        rows["num_records"],
        rows[VECTOR],
        num_tombstones=num_tombstones,
        is_typed=is_typed,
    )


def _newest(
    files: pa.Table,
    num_records: pa.ChunkedArray,
    vectors: pa.ChunkedArray,
    *,
    num_tombstones: int,
    is_typed: bool,
) -> NewestFiles:
    deleted = deleted_records(vectors)
    return NewestFiles(
        files,
        live_records(num_records, vectors),
        num_tombstones=num_tombstones,
        num_vectors=len(vectors) - vectors.null_count,
        deleted_rows=None if deleted.null_count else _sum(deleted),
        has_typed_partitions=is_typed,
    )


def _has_vectors(selected: SelectedBlock) -> bool:
    vectors = selected.block.files[VECTOR]
    if vectors.null_count == len(vectors):
        return False
    live = vectors if selected.mask is None else vectors.filter(selected.mask)
    return bool(live.null_count < len(live))


def _listed(
    files: pa.Table, partition: pa.ChunkedArray, columns: FileColumns
) -> pa.Table:
    """Return what an index holds of files beside their statistics.

    Where no file has a deletion vector, their column takes no room.
    """
    listed = files.select(list(LISTED)).append_column("partition", partition)
    vectors = files[VECTOR]
    if not columns.has_vectors:
        vectors = pa.chunked_array([pa.nulls(files.num_rows)])
    return listed.append_column(VECTOR, vectors)


def indexed_leaves(snapshot: Snapshot) -> list[LeafField]:
    """The leaf columns whose statistics the index keeps, from the left.

    Partition columns have none. Many files leave room for fewer columns.
    """
    leaves = leaf_fields(snapshot.schema)
    partitions = set(snapshot.metadata.partition_columns)
    stored = [leaf for leaf in leaves if leaf.path[0] not in partitions]
    room = MAX_STATISTICS_CELLS // max(1, snapshot.num_files)
    limit = min(_configured_columns(snapshot), max(MIN_INDEXED_COLUMNS, room))
    return stored[:limit]


def _joined(listed: pa.Table, statistics: pa.Table, columns: FileColumns) -> pa.Table:
    for name in statistics.column_names:
        listed = listed.append_column(statistics.field(name), statistics[name])
    if columns.has_instants:  # lines respell them
        return listed
    kept = pa.Table.from_batches(map(kept_columns, listed.to_batches()), KEPT_SCHEMA)
    for name in KEPT_SCHEMA.names:
        listed = listed.append_column(name, kept[name])
    return listed


# === Statistics ===


class _Loaded(NamedTuple):
    """What the log holds of some files: statistics as they are, and as text."""

    raw: RawStatistics
    texts: pa.StringArray


def _loaded(blocks: Iterable[SelectedBlock], num_files: int) -> Iterator[_Loaded]:
    """Yield what the log holds of all files in turn; of many, one batch ahead.

    Memory that one thread takes and another one gives back comes from the
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
    known = pc.if_else(pc.less(records, 0), pa.scalar(None, pa.int64()), records)
    table = table.set_column(0, "num_records", known)
    return table.append_column("stats", pa.chunked_array([texts]))


# === Partition values ===


def _partition_column(files: pa.Table, columns: FileColumns) -> pa.ChunkedArray:
    """The partition values as a struct: typed, or as texts."""
    names = columns.partition_columns
    if not names:
        return pa.chunked_array([_no_columns(files.num_rows)])
    values = files["partition_values"]
    if columns.schema is not None and columns.has_typed_partitions:
        typed = partition_schema(columns.schema, names)
        return type_partition_values(values, typed, files["path"])
    texts = [
        pc.map_lookup(values, query_key=key, occurrence="last")
        for key in columns.partition_keys
    ]
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
    text = snapshot.metadata.configuration.get(INDEXED_COLUMNS, "")
    is_count = text.isascii() and text.isdigit() and len(text) < len(str(1 << 30))
    return min(MAX_INDEXED_COLUMNS, int(text)) if is_count else MAX_INDEXED_COLUMNS
