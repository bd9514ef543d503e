"""The files of the newest snapshot as the index holds them: all columns typed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import PartitionValueError, SchemaError
from deltaweb.delta.partition_values import partition_schema, type_partition_values
from deltaweb.delta.schema import LeafField, StructType, leaf_fields
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.statistics_shape import statistics_shape
from deltaweb.index.file_index import FILES, ROWS_A_BATCH, write_batches

INDEXED_COLUMNS: Final = 32  # leaf columns with statistics, as writers count them
INDEXED_COLUMNS_PROPERTY: Final = "delta.dataSkippingNumIndexedCols"
MAX_SUM: Final = 2.0**62
MIN_INDEXED_COLUMNS: Final = 4
MAX_STATISTICS_CELLS: Final = (
    8_000_000  # files times columns; more files, fewer columns
)


@dataclass(frozen=True, slots=True, eq=False)
class NewestFiles:
    """The live files and their statistics, row for row.

    Attributes:
        files: By the snapshot's columns.
        statistics: `num_records`, `min`, `max`, `null_count`.
    """

    files: pa.Table
    statistics: pa.Table

    @property
    def num_records(self) -> pa.ChunkedArray:
        """Rows of each file; null where it does not tell."""
        return self.statistics["num_records"]

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


def load_newest_files(snapshot: Snapshot) -> NewestFiles:
    """Read the files and the statistics of the columns that the index keeps.

    Where the schema does not parse the files are listed all the same, without.
    """
    try:
        columns = [".".join(leaf.path) for leaf in indexed_leaves(snapshot)]
        statistics = snapshot.statistics(columns)
    except SchemaError:
        statistics = _no_statistics(snapshot.num_files)
    records = statistics["num_records"]
    told = pc.if_else(pc.less(records, 0), pa.scalar(None, pa.int64()), records)
    return NewestFiles(snapshot.files, statistics.set_column(0, "num_records", told))


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


def write_files(folder: Path, snapshot: Snapshot, newest: NewestFiles) -> None:
    """Write `files.arrow`."""
    table = newest.files.select(
        ["path", "size", "modification_time", "partition_values"]
    ).append_column("partition", _partition_column(snapshot, newest.files))
    for name in newest.statistics.column_names:
        table = table.append_column(name, newest.statistics[name])
    whole = table.combine_chunks()
    batches = whole.to_batches(max_chunksize=ROWS_A_BATCH)
    write_batches(folder, FILES, whole.schema, batches)


def _partition_column(snapshot: Snapshot, files: pa.Table) -> pa.ChunkedArray:
    """The typed partition values; a value that is not of its type is text.

    An index must show a table whose writer got a value wrong.
    """
    names = snapshot.metadata.partition_columns
    if not names:
        return pa.chunked_array([_no_columns(files.num_rows)])
    values = files["partition_values"]
    try:
        columns = partition_schema(snapshot.schema, names)
        return type_partition_values(values, columns, files["path"])
    except (PartitionValueError, SchemaError):
        texts = [
            pc.map_lookup(values, query_key=name, occurrence="last") for name in names
        ]
        rows = pa.table(texts, names=list(names)).to_struct_array()
        return pa.chunked_array(rows.chunks, rows.type)


def _no_statistics(num_files: int) -> pa.Table:
    shape = statistics_shape(StructType(())).arrow
    no_column = _no_columns(num_files)
    num_records = pa.nulls(num_files, pa.int64())
    arrays = [num_records, no_column, no_column, no_column]
    return pa.Table.from_arrays(arrays, schema=shape)


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
