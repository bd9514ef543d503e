"""Data files dealt out to tasks, so that each reads about as many bytes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from deltaweb.delta.log.file_actions import NUM_RECORDS, VECTOR
from deltaweb.delta.scan.rows import DELETED_BY
from deltaweb.delta.snapshot import Snapshot
from deltaweb.spark.arrow_frames import Batches, map_in_arrow, run_parts
from deltaweb.spark.log.replay import ReplayedState, use_state
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable

READ: Final = ("path", "partition_values", VECTOR, DELETED_BY, NUM_RECORDS)
"""Of a file, for its rows."""
TASK_BYTES: Final = 64 << 20
"""Data files that a task reads, about."""
MAX_TASKS: Final = 400
LISTED_FILES: Final = 200_000
"""A table of more files is replayed by Spark; the driver never lists it."""
PARTS_A_CORE: Final = 4
LEAST_PARTS: Final = 16
"""Parts that replayed files are dealt out to."""

T = TypeVar("T")
Read = Callable[[Iterator[pa.Table]], Batches]
"""Reads files that come as tables; called in tasks."""
Rows = AbstractContextManager[DataFrame]
FrameOf = Callable[[Read, pa.Schema], Rows]
"""Gives the rows that tasks read by a function, of a schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRequest:
    """A version whose data files are read.

    Attributes:
        num_files: About how many it has; None if unknown.
    """

    place: TablePlace
    version: int
    num_files: int | None = None


def over_files(
    spark: SparkSession,
    request: VersionRequest,
    work: Callable[[Snapshot | ReplayedState, FrameOf], T],
    columns: Sequence[str] = (*READ[:2], VECTOR),
) -> T:
    """Do work on what tasks read of a version's files, which the driver lists if few.

    Args:
        work: Gets the version, and what makes a frame of it.
        columns: What is told of files where tasks list them.
    """

    def replayed(state: ReplayedState) -> T:
        num_cores = spark.sparkContext.defaultParallelism
        parts = max(PARTS_A_CORE * num_cores, LEAST_PARTS)
        files = state.live_files().select(*columns).repartition(parts)

        def frame_of(
            read: Read, schema: pa.Schema
        ) -> AbstractContextManager[DataFrame]:
            return nullcontext(map_in_arrow(files, partial(_of_batches, read), schema))

        return work(state, frame_of)

    if (request.num_files or 0) > LISTED_FILES:
        return use_state(spark, request.place, request.version, replayed)
    table = DeltaTable.from_store(request.place.open())
    snapshot = table.snapshot_metadata(request.version)

    def frame_of(read: Read, schema: pa.Schema) -> Rows:
        at_least = spark.sparkContext.defaultParallelism
        parts = deal_out(snapshot.files, at_least=at_least)
        return run_parts(spark, parts, partial(_of_table, read), schema)

    return work(snapshot, frame_of)


def _of_batches(read: Read, batches: Batches) -> Batches:
    return read(pa.Table.from_batches([batch]) for batch in batches)


def _of_table(read: Read, files: pa.Table) -> Batches:
    return read(iter([files]))


def deal_out(
    files: pa.Table, *, at_least: int, more: Sequence[str] = ()
) -> list[pa.Table]:
    """Return what rows are read from of files in shares, none of them empty.

    Args:
        files: Rows by `FILES_SCHEMA`, or with what of it a `RowSource` needs and size.
        at_least: How many shares where the files are as many: what runs at once.
    """
    count = min(num_tasks(size_bytes(files), at_least=at_least), files.num_rows)
    order = pc.sort_indices(files["size"], sort_keys=[("", "descending")])
    ordered = files.select(
        [name for name in (*READ, *more) if name in files.column_names]
    )
    ordered = ordered.take(order)
    return [
        ordered.take(pa.array(range(first, ordered.num_rows, count), pa.int64()))
        for first in range(count)
    ]


def num_tasks(size_bytes: int, *, at_least: int) -> int:
    return min(max(-(-size_bytes // TASK_BYTES), at_least), MAX_TASKS)


def size_bytes(files: pa.Table) -> int:
    return int(pc.sum(files["size"]).as_py() or 0)
