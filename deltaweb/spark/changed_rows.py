"""Comparing rows in the tasks of Spark: rows are spread, then compared where they met.

What is shuffled are blocks of rows in Arrow's own format. So Spark never looks at a
value: every type arrives as the readers of data files made it.
"""

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np
import pyarrow as pa

from deltaweb.delta.changes import RowDiffRequest, RowLimits
from deltaweb.delta.changes.buckets import RowBuckets
from deltaweb.delta.changes.row_codes import dealt, row_hashes
from deltaweb.delta.changes.rows import ComparedRows, common_rows, compare_buckets
from deltaweb.delta.changes.tally import Tally
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.rows import RowSource
from deltaweb.spark.arrow_frames import Batches, packed, row_of, unpacked
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.storage.place import TablePlace
from deltaweb.storage.write_faults import write_fault

PARTITION: Final = "partition"
SPREAD_SCHEMA: Final = pa.schema(
    [(PARTITION, pa.int32()), ("side", pa.int8()), ("rows", pa.binary())]
)
"""A block of rows of one version that are compared in one task."""
FOUND_SCHEMA: Final = pa.schema(
    [("counts", pa.string()), ("sample", pa.string()), ("changes", pa.string())]
)
"""What a task found: counts as JSON, and names of files, "" for none."""
HELD_BYTES: Final = 32 << 20
"""Rows that a task holds until it makes blocks of them."""
HASH_SHIFT: Final = np.uint64(32)
"""Buckets within a task go by the lower half of the hash, tasks by the upper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTask:
    """What every task of a comparison knows.

    Attributes:
        num_partitions: Over how many tasks rows are spread.
        folder: Where tasks leave what they found; the driver sees it.
        sample_rows: How many rows of each kind a task's sample has at most.
    """

    place: TablePlace
    schemas: tuple[StructType, StructType]
    partition_columns: tuple[tuple[str, ...], tuple[str, ...]]
    compared: ComparedRows
    num_partitions: int
    folder: str
    limits: RowLimits
    sample_rows: int
    keeps_changes: bool


# === Reading and spreading ===


def spread_rows(task: ComparedTask, part: tuple[int, pa.Table]) -> Batches:
    """Read files of one version, side and all, and yield their rows in blocks."""
    side, files = part
    with faults_are_carried():
        source = RowSource(
            schema=task.schemas[side],
            partition_columns=task.partition_columns[side],
            files=files,
            open_file=task.place.open().open_data_file,
        )
        rows = common_rows(source, task.compared.columns)
        by = task.compared.spread_by
        for number, block in spread(rows, by, task.num_partitions):
            yield row_of(SPREAD_SCHEMA, number, side, block)


def spread(
    tables: Iterable[pa.Table], by: Sequence[str], num_partitions: int
) -> Iterator[tuple[int, bytes]]:
    """Yield rows, packed, each with the number of the task that equal ones meet in."""
    held: list[pa.Table] = []
    for rows in tables:
        held.append(rows)
        if sum(table.nbytes for table in held) >= HELD_BYTES:
            yield from _blocks(pa.concat_tables(held), by, num_partitions)
            held = []
    if held:
        yield from _blocks(pa.concat_tables(held), by, num_partitions)


def _blocks(
    rows: pa.Table, by: Sequence[str], num_partitions: int
) -> Iterator[tuple[int, bytes]]:
    hashes = row_hashes(rows, by, seed=0) >> HASH_SHIFT
    for number, some in dealt(rows, hashes, num_partitions):
        yield number, packed(some)


# === Comparing ===


def compare_rows(task: ComparedTask, batches: Batches) -> Batches:
    """Compare the rows of both versions that met in a task; yields one row."""
    compared = task.compared
    mark = secrets.token_hex(8)  # a task that is tried again has files of its own
    with faults_are_carried(), _ChangedRowsFile(task, f"{mark}.changes") as file:
        request = RowDiffRequest(
            sample_rows=task.sample_rows,
            write=file.write if task.keeps_changes else None,
        )
        tally = Tally(compared.columns, compared.key, request)
        folder = Path(task.folder)
        with RowBuckets(
            compared.schema, compared.spread_by, task.limits, folder=folder
        ) as buckets:
            for side, rows in _unpacked(batches):
                tally.num_rows_read += rows.num_rows
                buckets.add(side, rows)
            compare_buckets(buckets, compared, tally)
        sample = tally.sample().to_table()
        name = _write_sample(task, f"{mark}.sample", sample) if len(sample) else ""
    counts = json.dumps(tally.counts())
    yield row_of(FOUND_SCHEMA, counts, name, file.name_if_written)


def _unpacked(batches: Batches) -> Iterator[tuple[int, pa.Table]]:
    for batch in batches:
        for side, block in zip(batch["side"], batch["rows"], strict=True):
            yield side.as_py(), unpacked(block.as_buffer())


def _write_sample(task: ComparedTask, name: str, sample: pa.Table) -> str:
    with _ChangedRowsFile(task, name) as file:
        file.write(sample)
    return name


class _ChangedRowsFile:
    """A file of Arrow's in the folder that the driver reads; made when rows come."""

    def __init__(self, task: ComparedTask, name: str) -> None:
        self._path = Path(task.folder) / name
        self._writer: pa.RecordBatchStreamWriter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._writer is None:
            return
        try:
            self._writer.close()
        except OSError as error:
            if kind is None:
                raise write_fault(error, place=str(self._path.parent)) from error
        if kind is not None:
            self._path.unlink(missing_ok=True)

    @property
    def name_if_written(self) -> str:
        return "" if self._writer is None else self._path.name

    def write(self, rows: pa.Table) -> None:
        try:
            if self._writer is None:
                options = pa.ipc.IpcWriteOptions(compression="zstd")
                self._writer = pa.ipc.new_stream(
                    str(self._path), rows.schema, options=options
                )
            self._writer.write_table(rows)
        except OSError as error:
            raise write_fault(error, place=str(self._path.parent)) from error
