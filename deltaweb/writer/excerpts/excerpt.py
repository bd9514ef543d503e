"""What may be seen of a data file, as a data file of its own.

It is stored as the table's files are, by the same names and ids of columns, and says
nothing of what it was made from: no statistics of other rows, no column that is not in
the schema, and no key of a writer in its footer.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from deltaweb.delta.log.store import DataStore
from deltaweb.delta.protocol.schema import StructType, arrow_schema
from deltaweb.delta.scan.row_condition import RowCondition
from deltaweb.delta.scan.rows import RowSource, iter_rows
from deltaweb.delta.values.footer_bounds import floating_leaves
from deltaweb.storage.place import TablePlace
from deltaweb.writer.data_files import ROW_GROUP_BYTES, ROW_GROUP_ROWS, FileLayout
from deltaweb.writer.files.file_shape import FileShape
from deltaweb.writer.files.parquet_file import (
    OpenParquetFile,
    WrittenFile,
    dictionaries_of,
)
from deltaweb.writer.files.statistics import FileStatistics, statistics_columns

EXCERPT: Final = "excerpt"
"""The column of files with the path of what is made of each."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Excerpts:
    """What may be seen of the data files of a version; it travels to executors.

    Attributes:
        condition: Only rows that it is true for; None for every row.
        seen: The logical schema of what may be seen.
    """

    place: TablePlace
    schema: StructType
    partition_columns: tuple[str, ...]
    condition: RowCondition | None
    seen: StructType
    target: TablePlace

    def write(self, files: pa.Table) -> Iterator[tuple[str, WrittenFile | None]]:
        """Write what may be seen of files; yield each by its path once it is written.

        None, and no file, is written where nothing of one may be seen.
        """
        store, open_file = self.target.open(), self.place.open().open_data_file
        known = [name for name in self.partition_columns if name in self.seen.names]
        for row, path in enumerate(files[EXCERPT].to_pylist()):
            source = RowSource(
                schema=self.schema,
                partition_columns=self.partition_columns,
                files=files.slice(row, 1).drop_columns([EXCERPT]),
                open_file=open_file,
            )
            rows = iter_rows(source, columns=self.seen.names, predicate=self.condition)
            written = write_excerpt(rows, self.seen, known, store=store, path=path)
            yield path, written


def write_excerpt(
    batches: Iterable[pa.RecordBatch],
    schema: StructType,
    partition_columns: Sequence[str],
    *,
    store: DataStore,
    path: str,
) -> WrittenFile | None:
    """Write rows as one Parquet file; None, and no file, where there are none.

    Args:
        batches: Rows by the schema, partition columns included.
        schema: The logical schema of what may be seen, which knows what its columns
            are stored as.
    """
    data = StructType(
        tuple(f for f in schema.fields if f.name not in partition_columns)
    )
    columns = statistics_columns(data, {})
    layout = FileLayout(schema, tuple(partition_columns), columns)
    shape = FileShape.of(schema, partition_columns)
    file: OpenParquetFile | None = None
    try:
        for rows in _row_groups(batches, arrow_schema(schema)):
            if file is None:
                statistics = FileStatistics(columns, layout.stored_paths())
                known = dictionaries_of(shape, rows)
                file = OpenParquetFile(store, path, shape, statistics, known)
                # One file holds them all, and a NaN may come with any row.
                file.unbounded = floating_leaves(shape.schema)
            file.write(rows)
        return None if file is None else file.finish()
    except BaseException:
        if file is not None:
            file.discard()
        raise


def _row_groups(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema
) -> Iterable[pa.Table]:
    waiting: list[pa.RecordBatch] = []
    num_bytes = num_rows = 0
    for batch in batches:
        waiting.append(batch)
        num_bytes, num_rows = num_bytes + batch.nbytes, num_rows + batch.num_rows
        if num_bytes >= ROW_GROUP_BYTES or num_rows >= ROW_GROUP_ROWS:
            yield pa.Table.from_batches(waiting, schema)
            waiting, num_bytes, num_rows = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting, schema)
