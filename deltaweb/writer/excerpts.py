"""What somebody who sees a part of a table may see of its files, and of its changes.

What may be seen of a data file is one of its own. It is stored as the table's files
are, by the same names and ids of columns, and says nothing of what it was made from: no
statistics of other rows, no column that is not in the schema, and no key of a writer in
its footer.

To somebody who sees a part of a table, an update of what is hidden is no change: its
two rows are equal. And a row that an update moves out of the part is one that goes. So
rows that go and come again, equal, are taken away, whichever files hold them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes import RowLimits
from deltaweb.delta.changes.bucket_diff import Indices
from deltaweb.delta.changes.row_changes import CHANGE_TYPE, ChangeType
from deltaweb.delta.feed.changed_files import ChangedFiles
from deltaweb.delta.feed.changed_rows import FeedRows
from deltaweb.delta.feed.net_changes import (
    NUMBER,
    POSITION,
    Kept,
    NetChanges,
    as_going_and_coming,
    by_file,
)
from deltaweb.delta.log.store import DataStore
from deltaweb.delta.protocol.schema import StructType, arrow_schema
from deltaweb.delta.scan.row_condition import RowCondition
from deltaweb.delta.scan.rows import RowSource, iter_rows
from deltaweb.delta.values.data_values import relabelled
from deltaweb.delta.values.footer_bounds import floating_leaves
from deltaweb.storage.place import TablePlace
from deltaweb.writer.files.data_files import ROW_GROUP_BYTES, ROW_GROUP_ROWS, FileLayout
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
                statistics = FileStatistics(layout.stored_statistics())
                known = dictionaries_of(shape, rows)
                file = OpenParquetFile(store, path, statistics, known)
                # One file holds them all, and a NaN may come with any row.
                file.unbounded = floating_leaves(shape.schema)
            file.write(shape.stored(rows))
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


# === Of changes ===


TELLS_KINDS: Final = "tells_kinds"
KIND: Final = "kind"
_CHANGES: Final = {"remove": ChangeType.DELETE.value, "add": ChangeType.INSERT.value}


def numbered(changed: list[ChangedFiles]) -> pa.Table:
    """Return the files of a version, each with its number and what it is an excerpt of.

    `KIND` is `remove` for rows that go and `add` for rows that come. A file with rows
    of both is there twice.
    """
    tables = []
    for one in changed:
        known = [dict(v or ()) for v in one.files["partition_values"].to_pylist()]
        for kind, change in _CHANGES.items():
            its = [one.tells_kinds or v.get(CHANGE_TYPE) == change for v in known]
            files = one.files.filter(pa.array(its, pa.bool_()))
            for name, value in ((KIND, kind), (TELLS_KINDS, one.tells_kinds)):
                column = pa.repeat(pa.scalar(value), files.num_rows)
                files = files.append_column(name, column)
            tables.append(files)
    files = pa.concat_tables(tables) if tables else pa.table({})
    return files.append_column(NUMBER, pa.array(range(files.num_rows), pa.int64()))


@dataclass(frozen=True, kw_only=True, eq=False)
class ChangeExcerpts:
    """What may be seen of the changes of a version; it travels to executors.

    Attributes:
        rows: What is read of each file: those of its rows that may be seen.
    """

    place: TablePlace
    rows: FeedRows
    seen: StructType
    partition_columns: tuple[str, ...]
    target: TablePlace
    limits: RowLimits | None = None

    @cached_property
    def schema(self) -> StructType:
        known = (one for one in self.rows.row_schema.fields if one.name == CHANGE_TYPE)
        return StructType((*self.seen.fields, *known))

    def write(self, files: pa.Table) -> Iterator[tuple[str, WrittenFile | None]]:
        """Write what may be seen; yield each by its path once it is written."""
        kept = None if is_one_way(files) else self._kept(files)
        for number in range(files.num_rows) if kept is None else sorted(kept):
            yield self.write_file(files.slice(number, 1), kept)

    def write_file(
        self, file: pa.Table, kept: Kept | None
    ) -> tuple[str, WrittenFile | None]:
        """Write the rows that are kept of one file, all that may be seen for None."""
        rows = self._read(file)
        if kept is not None:
            rows = _at(rows, kept[file[NUMBER][0].as_py()])
        written = write_excerpt(
            rows,
            self.schema,
            self.partition_columns,
            store=self.target.open(),
            path=file[EXCERPT][0].as_py(),
        )
        return file[EXCERPT][0].as_py(), written

    # === Rows that go and come again ===

    def placed(self, file: pa.Table) -> Iterator[pa.Table]:
        """Yield the rows of one file that may be seen, with where each is."""
        number, first = file[NUMBER][0], 0
        for batch in self._read(file):
            count = batch.num_rows
            positions = pa.array(range(first, first + count), pa.int64())
            rows = batch.append_column(NUMBER, pa.repeat(number, count))
            yield pa.table(rows.append_column(POSITION, positions))
            first += count

    def net_changes(self) -> NetChanges:
        """Return what takes rows that were placed."""
        return NetChanges(arrow_schema(self.seen), self.limits)

    def _kept(self, files: pa.Table) -> Kept:
        with self.net_changes() as net:
            for number in range(files.num_rows):
                for rows in self.placed(files.slice(number, 1)):
                    net.add(rows)
            return by_file(net.places())

    def _read(self, file: pa.Table) -> Iterator[pa.RecordBatch]:
        """Yield the rows of its kind that may be seen."""
        tells, kind = file[TELLS_KINDS][0].as_py(), file[KIND][0].as_py()
        opened = self.place.open().open_data_file
        schema = arrow_schema(self.schema)
        for batch in self.rows.scan(file, opened, tells_kinds=tells):
            rows = as_going_and_coming(batch)
            if tells:
                rows = rows.filter(pc.equal(rows[CHANGE_TYPE], _CHANGES[kind]))
            if rows.num_rows:
                yield relabelled(rows.select(schema.names), schema)


def is_one_way(files: pa.Table) -> bool:
    """Return whether all rows of files come, or all go: none can do both."""
    return len(set(files[KIND].to_pylist())) <= 1


def _at(
    batches: Iterator[pa.RecordBatch], positions: Indices
) -> Iterator[pa.RecordBatch]:
    """Yield the rows at positions, which ascend."""
    first = 0
    for batch in batches:
        start, end = np.searchsorted(positions, (first, first + batch.num_rows))
        if start < end:
            yield batch.take(pa.array(positions[start:end] - first))
        first += batch.num_rows
