"""Which rows two versions do not share, from the files that they do not share.

Rows are compared as multisets of whole rows: a row that is there three times before
and once after was deleted twice. With key columns, a deleted and an inserted row of
one key are an update. Counts are exact, however many rows there are; see `buckets`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.data_values import conform
from deltaweb.delta.errors import ColumnNotFoundError, RowDiffKeyError
from deltaweb.delta.rows import RowSource, iter_rows
from deltaweb.delta.schema import StructType, arrow_schema
from deltaweb.delta.table_changes.bucket_diff import (
    BucketDiff,
    Indices,
    diff_bucket,
)
from deltaweb.delta.table_changes.buckets import RowBuckets, RowLimits
from deltaweb.delta.table_changes.common_type import CommonSchema, common_schema
from deltaweb.delta.table_changes.value_text import as_text

CHANGE_TYPE: Final = "_change_type"
WRITE_ROWS: Final = 65_536
SAMPLE_ROWS: Final = 100

Progress = Callable[[int, int], None]
"""Called with the files that were read so far, and of how many."""
WriteChanges = Callable[[pa.Table], None]
"""Takes changed rows: `_change_type`, then the columns of both versions."""


class ChangeType(StrEnum):
    """How a row changed, in the words of the change data feed.

    Source: PROTOCOL.md, "Change Data Files".
    """

    INSERT = "insert"
    DELETE = "delete"
    UPDATE_BEFORE = "update_preimage"
    UPDATE_AFTER = "update_postimage"


@dataclass(frozen=True, eq=False)
class RowSample:
    """Some of the changed rows, each with the columns of both versions.

    Attributes:
        inserted: Rows that are new.
        deleted: Rows that are gone.
        updated_before: Rows as they were, row for row with `updated_after`.
        updated_after: Rows as they are.
        changed: The columns that differ in each pair.
    """

    inserted: pa.Table
    deleted: pa.Table
    updated_before: pa.Table
    updated_after: pa.Table
    changed: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class RowChanges:
    """What comparing rows found; every count is exact.

    Attributes:
        inserted: How many rows are new.
        deleted: How many rows are gone.
        updated: How many rows changed under their key; None without a key.
        changed_cells: How many updates changed each column.
        unmatched_keys: Keys with several rows on a side, which count as inserted and
            deleted rows, since nobody can tell which became which.
        null_key_rows: Changed rows whose key has a null: inserted or deleted, for a
            null matches nothing.
        key: The key columns.
        columns: What rows were compared in.
        sample: Some of the rows.
        num_files_read: How many files were opened.
        num_rows_read: How many rows were read.
    """

    inserted: int
    deleted: int
    updated: int | None
    changed_cells: dict[str, int]
    unmatched_keys: int
    null_key_rows: int
    key: tuple[str, ...]
    columns: CommonSchema
    sample: RowSample
    num_files_read: int
    num_rows_read: int


@dataclass(frozen=True)
class RowDiffRequest:
    """How rows are to be compared.

    Attributes:
        key: Columns that tell one row from another; none for whole rows alone.
        limits: What it may take.
        folder: Where rows go that do not fit in memory; the system's place for None.
        sample_rows: How many rows of each kind the sample has at most.
        begin: Takes the schema of the changed rows, before any of them.
        write: Takes every changed row; None when nobody wants them all.
        on_progress: Called while files are read, and before each bucket of rows is
            compared; it may raise to stop.
    """

    key: Sequence[str] = ()
    limits: RowLimits = field(default_factory=RowLimits)
    folder: Path | None = None
    sample_rows: int = SAMPLE_ROWS
    begin: Callable[[pa.Schema], None] | None = None
    write: WriteChanges | None = None
    on_progress: Progress | None = None


def diff_rows(
    before: RowSource, after: RowSource, request: RowDiffRequest | None = None
) -> RowChanges:
    """Compare the rows of files of one version with those of another.

    Args:
        before: Files of the first version that the second does not have.
        after: Files of the second version that the first does not have.
        request: How; by whole rows for None.

    Raises:
        ColumnNotFoundError: If a key column is in neither version.
        RowDiffKeyError: If a key column is not the same in both.
        RowDiffTooLargeError: If the rows are beyond the limits.
        StorageFullError: If the disk is full.
        DataFileError: If a file is missing or does not read.
    """
    request = request or RowDiffRequest()
    columns = common_schema(before.schema, after.schema)
    key = _check_key(request.key, before.schema, after.schema, columns)
    tally = _Tally(columns, key, request)
    if request.begin is not None:
        request.begin(tally.schema)
    schema = arrow_schema(columns.schema)
    with RowBuckets(
        schema, key or schema.names, request.limits, folder=request.folder
    ) as buckets:
        total = before.files.num_rows + after.files.num_rows
        for side, source in enumerate((before, after)):
            for rows in _common_rows(source, columns, tally, total):
                buckets.add(side, rows)
        for olds, news in buckets.buckets():
            tally.note_files(tally.num_files_read, total)
            tally.take(diff_bucket(olds, news, key=key, as_text=columns.as_text))
    return tally.result()


def free_name(taken: Sequence[str]) -> str:
    """Return the name of the column of change types, which no column has."""
    name = CHANGE_TYPE
    while name.lower() in {other.lower() for other in taken}:
        name = f"_{name}"
    return name


def change_schema(columns: CommonSchema) -> pa.Schema:
    """Return the schema of the rows that `RowDiffRequest.write` takes."""
    schema = arrow_schema(columns.schema)
    return schema.insert(0, pa.field(free_name(schema.names), pa.string()))


def _check_key(
    key: Sequence[str], before: StructType, after: StructType, columns: CommonSchema
) -> tuple[str, ...]:
    names = columns.schema.names
    for name in key:
        if name not in names:
            raise ColumnNotFoundError(column=name, columns=names)
        if name not in before.names or name not in after.names:
            raise RowDiffKeyError(column=name, reason="one of the versions lacks it")
        if name in columns.as_text:
            raise RowDiffKeyError(column=name, reason="its type is another one now")
    return tuple(dict.fromkeys(key))


def _common_rows(
    source: RowSource, columns: CommonSchema, tally: "_Tally", total: int
) -> Iterator[pa.Table]:
    """Read the rows of one version, brought to the common schema."""
    if not source.files.num_rows:
        return
    schema = arrow_schema(columns.schema)
    scan = iter_rows(source)
    done = tally.num_files_read
    for batch in scan:
        tally.num_rows_read += batch.num_rows
        tally.note_files(done + scan.files_scanned, total)
        arrays = [
            _common_values(batch, name, columns, schema.field(name).type)
            for name in schema.names
        ]
        yield pa.Table.from_arrays(arrays, schema=schema)
    tally.note_files(done + scan.files_scanned, total)


def _common_values(
    batch: pa.RecordBatch, name: str, columns: CommonSchema, target: pa.DataType
) -> pa.Array:
    if name not in batch.schema.names:
        return pa.nulls(batch.num_rows, target)
    values = batch.column(name)
    if name in columns.as_text:
        return as_text(values)
    if values.type.equals(target):
        return values
    field_type = columns.schema.fields[columns.schema.names.index(name)].data_type
    return conform(values, field_type, name)


class _Tally:
    """What was found so far."""

    def __init__(
        self, columns: CommonSchema, key: tuple[str, ...], request: RowDiffRequest
    ) -> None:
        self.columns = columns
        self.key = key
        self.request = request
        self.schema = change_schema(columns)
        self.num_files_read = 0
        self.num_rows_read = 0
        self.counts = dict.fromkeys(ChangeType, 0)
        self.changed_cells = dict.fromkeys(columns.schema.names, 0)
        self.unmatched_keys = 0
        self.null_key_rows = 0
        self.samples: dict[ChangeType, list[pa.Table]] = {k: [] for k in ChangeType}
        self.changed: list[tuple[str, ...]] = []

    def note_files(self, done: int, total: int) -> None:
        """Take down how many files were opened."""
        self.num_files_read = done
        if self.request.on_progress is not None:
            self.request.on_progress(done, total)

    def take(self, found: BucketDiff) -> None:
        """Add the changes of one bucket."""
        self.unmatched_keys += found.unmatched_keys
        self.null_key_rows += found.null_key_rows
        room = self.request.sample_rows - self.counts[ChangeType.UPDATE_BEFORE]
        parts = (
            (ChangeType.DELETE, found.before, found.deleted),
            (ChangeType.INSERT, found.after, found.inserted),
            (ChangeType.UPDATE_BEFORE, found.before, found.updated_before),
            (ChangeType.UPDATE_AFTER, found.after, found.updated_after),
        )
        for kind, rows, chosen in parts:
            self._sample(kind, rows, chosen)
            self.counts[kind] += len(chosen)
        for row in range(min(max(room, 0), len(found.updated_before))):
            self.changed.append(
                tuple(name for name, cells in found.changed.items() if cells[row])
            )
        for name, cells in found.changed.items():
            self.changed_cells[name] += int(cells.sum())
        if self.request.write is not None:
            self._write(found, self.request.write)

    def _sample(self, kind: ChangeType, rows: pa.Table, chosen: Indices) -> None:
        room = self.request.sample_rows - self.counts[kind]
        if room > 0 and len(chosen):
            self.samples[kind].append(rows.take(pa.array(chosen[:room])))

    def _write(self, found: BucketDiff, write: WriteChanges) -> None:
        for kind, rows, chosen in (
            (ChangeType.DELETE, found.before, found.deleted),
            (ChangeType.INSERT, found.after, found.inserted),
        ):
            for start in range(0, len(chosen), WRITE_ROWS):
                part = chosen[start : start + WRITE_ROWS]
                write(self._changes(rows.take(pa.array(part)), [kind] * len(part)))
        pair = [ChangeType.UPDATE_BEFORE, ChangeType.UPDATE_AFTER]
        for start in range(0, len(found.updated_before), WRITE_ROWS):
            stop = start + WRITE_ROWS
            olds = found.before.take(pa.array(found.updated_before[start:stop]))
            news = found.after.take(pa.array(found.updated_after[start:stop]))
            order = np.arange(2 * olds.num_rows).reshape(2, -1).T.ravel()
            both = pa.concat_tables([olds, news]).take(pa.array(order))
            write(self._changes(both, pair * olds.num_rows))

    def _changes(self, rows: pa.Table, kinds: Sequence[ChangeType]) -> pa.Table:
        first = pa.array([kind.value for kind in kinds], pa.string())
        return pa.Table.from_arrays([first, *rows.columns], schema=self.schema)

    def result(self) -> RowChanges:
        """Return all of it."""
        nothing = arrow_schema(self.columns.schema).empty_table()
        rows = {
            kind: pa.concat_tables([nothing, *tables])
            for kind, tables in self.samples.items()
        }
        return RowChanges(
            inserted=self.counts[ChangeType.INSERT],
            deleted=self.counts[ChangeType.DELETE],
            updated=self.counts[ChangeType.UPDATE_BEFORE] if self.key else None,
            changed_cells={n: c for n, c in self.changed_cells.items() if c},
            unmatched_keys=self.unmatched_keys,
            null_key_rows=self.null_key_rows,
            key=self.key,
            columns=self.columns,
            sample=RowSample(
                inserted=rows[ChangeType.INSERT],
                deleted=rows[ChangeType.DELETE],
                updated_before=rows[ChangeType.UPDATE_BEFORE],
                updated_after=rows[ChangeType.UPDATE_AFTER],
                changed=tuple(self.changed),
            ),
            num_files_read=self.num_files_read,
            num_rows_read=self.num_rows_read,
        )
