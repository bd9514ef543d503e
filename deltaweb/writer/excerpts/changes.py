"""What may be seen of the changes of a version, a data file of each of its files.

To somebody who sees a part of a table, an update of what is hidden is no change: its
two rows are equal. And a row that an update moves out of the part is one that goes. So
rows that go and come again, equal, are taken away, whichever files hold them.
"""

from collections.abc import Iterator
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
from deltaweb.delta.protocol.schema import StructType, arrow_schema
from deltaweb.storage.place import TablePlace
from deltaweb.writer.excerpts.excerpt import EXCERPT, write_excerpt
from deltaweb.writer.files.parquet_file import WrittenFile

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
                yield rows.select(schema.names).cast(schema)


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
