"""Comparing rows in the tasks of Spark: rows are spread, then compared where they met.

What is shuffled are blocks of rows in Arrow's own format. So Spark never looks at a
value: every type arrives as the readers of data files made it.
"""

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import pyarrow as pa

from deltaweb.delta.changes import RowDiffRequest, RowLimits
from deltaweb.delta.changes.buckets import RowBuckets
from deltaweb.delta.changes.row_codes import row_hashes
from deltaweb.delta.changes.rows import (
    ComparedRows,
    common_rows,
    compare_buckets,
)
from deltaweb.delta.changes.tally import Tally
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.rows import RowSource
from deltaweb.spark.arrow_frames import Batches
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.storage.place import TablePlace
from deltaweb.storage.write_faults import write_fault

if TYPE_CHECKING:
    from pyspark import Broadcast

PARTITION: Final = "partition"
SPREAD_SCHEMA: Final = pa.schema(
    [
        (PARTITION, pa.int32()),
        ("side", pa.int8()),
        ("num_rows", pa.int64()),
        ("rows", pa.binary()),
    ]
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


@dataclass(frozen=True, slots=True)
class ComparedPart:
    """Files of one version that a task reads: path and partition values."""

    side: int
    files: pa.Table


# === Reading and spreading ===


def spread_rows(
    task: ComparedTask, parts: "Broadcast[list[ComparedPart]]", number: int
) -> Batches:
    """Read the files of one part, and yield their rows in blocks."""
    part = parts.value[number]
    with faults_are_carried():
        source = RowSource(
            schema=task.schemas[part.side],
            partition_columns=task.partition_columns[part.side],
            files=part.files,
            open_file=task.place.open().open_data_file,
        )
        held: list[pa.Table] = []
        for rows in common_rows(source, task.compared.columns):
            held.append(rows)
            if sum(table.nbytes for table in held) >= HELD_BYTES:
                yield from _blocks(task, part.side, pa.concat_tables(held))
                held = []
        if held:
            yield from _blocks(task, part.side, pa.concat_tables(held))


def _blocks(task: ComparedTask, side: int, rows: pa.Table) -> Batches:
    """Yield a block for every task that rows go to."""
    by = task.compared.spread_by
    for number, block in spread(rows, by, task.num_partitions):
        values = ([number], [side], [block.num_rows], [packed(block)])
        columns = [
            pa.array(value, kind.type)
            for value, kind in zip(values, SPREAD_SCHEMA, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=SPREAD_SCHEMA)


def spread(
    rows: pa.Table, by: Sequence[str], num_partitions: int
) -> Iterator[tuple[int, pa.Table]]:
    """Yield rows with the number of the task that those of equal values meet in."""
    hashes = row_hashes(rows, by, seed=0) >> HASH_SHIFT
    numbers = (hashes % np.uint64(num_partitions)).astype(np.int64)
    order = np.argsort(numbers, kind="stable")
    ends = np.searchsorted(numbers[order], np.arange(num_partitions + 1))
    ordered = rows.combine_chunks().take(pa.array(order))
    for number in range(num_partitions):
        start, stop = int(ends[number]), int(ends[number + 1])
        if start < stop:
            yield number, ordered.slice(start, stop - start)


def packed(rows: pa.Table) -> bytes:
    """Return rows as the bytes of a stream of Arrow's."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(sink, rows.schema, options=options) as writer:
        writer.write_table(rows)
    data: bytes = sink.getvalue().to_pybytes()
    return data


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
    values = ([json.dumps(tally.counts())], [name], [file.name_if_written])
    yield pa.RecordBatch.from_arrays(
        [pa.array(value, pa.string()) for value in values], schema=FOUND_SCHEMA
    )


def _unpacked(batches: Batches) -> Iterator[tuple[int, pa.Table]]:
    for batch in batches:
        for side, block in zip(batch["side"], batch["rows"], strict=True):
            with pa.ipc.open_stream(block.as_buffer()) as reader:
                yield side.as_py(), reader.read_all()


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
