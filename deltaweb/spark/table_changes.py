"""Which rows two versions do not share, for changes too large for one process.

The same answer as `deltaweb.delta.changes.diff_rows` gives, by the same pieces:
tasks read the files that differ, rows are shuffled by a hash of their key or of all of
their values, and each task compares what it got by `diff_bucket`. The driver gets
counts and names of files; a sample and all changed rows come from those, a block at a
time.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession

from deltaweb.delta.changes import RowChanges, RowDiffRequest, RowSample
from deltaweb.delta.changes.rows import ComparedRows
from deltaweb.delta.changes.tally import Tally
from deltaweb.delta.scan.rows import RowSource
from deltaweb.spark.arrow_frames import map_in_arrow, run_parts
from deltaweb.spark.changed_rows import (
    FOUND_SCHEMA,
    PARTITION,
    SPREAD_SCHEMA,
    ComparedTask,
    compare_rows,
    spread_rows,
)
from deltaweb.spark.data_files.shares import deal_out, num_tasks, size_bytes
from deltaweb.spark.job import OnProgress, run_job
from deltaweb.storage.place import TablePlace


class _Found(NamedTuple):
    """What a task found: counts, and names of files, "" for none."""

    counts: dict[str, Any]
    sample: str
    changes: str


def diff_rows(
    spark: SparkSession,
    place: TablePlace,
    before: RowSource,
    after: RowSource,
    request: RowDiffRequest | None = None,
) -> RowChanges:
    """Compare the rows of files of one version with those of another.

    Args:
        place: Where the files are; tasks open them, this process does not.
        request: How; by whole rows for None. Its `on_progress` counts tasks.
    """
    request = request or RowDiffRequest()
    compared = ComparedRows.of(before.schema, after.schema, request.key)
    tally = Tally(compared.columns, compared.key, request)
    if request.begin is not None:
        request.begin(tally.schema)
    at_least = spark.sparkContext.defaultParallelism
    parts = [
        (side, files)
        for side, source in enumerate((before, after))
        for files in deal_out(source.files, at_least=at_least)
    ]
    if not parts:
        return tally.result()
    total_bytes = size_bytes(before.files) + size_bytes(after.files)
    num_partitions = num_tasks(total_bytes, at_least=at_least)
    count = len(parts) + num_partitions
    report = partial(_report, request, count)
    with _folder(request.folder) as folder:
        task = ComparedTask(
            place=place,
            schemas=(before.schema, after.schema),
            partition_columns=(
                tuple(before.partition_columns),
                tuple(after.partition_columns),
            ),
            compared=compared,
            num_partitions=num_partitions,
            folder=str(folder),
            limits=request.limits,
            sample_rows=request.sample_rows,
            keeps_changes=request.write is not None,
        )
        found = _compare(spark, task, parts, report)
        _add_up(found, folder, request, tally, lambda: report(count, None))
    tally.num_files_read = sum(files.num_rows for _, files in parts)
    return tally.result()


def _report(request: RowDiffRequest, count: int, done: int, _: int | None) -> None:
    """Tell of tasks; how many there are is known before Spark plans them."""
    if request.on_progress is not None:
        request.on_progress(min(done, count), count)


@contextmanager
def _folder(parent: Path | None) -> Iterator[Path]:
    """Give a folder that goes with the comparison."""
    with tempfile.TemporaryDirectory(
        prefix="changes-", dir=parent, ignore_cleanup_errors=True
    ) as name:
        yield Path(name)


def _compare(
    spark: SparkSession,
    task: ComparedTask,
    parts: list[tuple[int, pa.Table]],
    report: OnProgress,
) -> list[_Found]:
    read = partial(spread_rows, task)
    with run_parts(spark, parts, read, SPREAD_SCHEMA) as blocks:
        met = blocks.repartitionById(task.num_partitions, blocks[PARTITION])
        frame = map_in_arrow(met, partial(compare_rows, task), FOUND_SCHEMA)
        rows = run_job(spark, frame.collect, report, title="Compare rows")
    return [_Found(json.loads(row[0]), row[1], row[2]) for row in rows]


def _add_up(
    found: list[_Found],
    folder: Path,
    request: RowDiffRequest,
    tally: Tally,
    check: Callable[[], None],
) -> None:
    """Add up what tasks found, and hand on the rows that they left in files."""
    for part in found:
        tally.add_counts(part.counts)
        if part.sample and tally.has_room:
            with _opened(folder / part.sample) as reader:
                tally.add_sample(RowSample.from_table(reader.read_all()))
    for part in found:
        if part.changes and request.write is not None:
            path = folder / part.changes
            with _opened(path) as reader:
                for batch in reader:
                    check()
                    request.write(pa.Table.from_batches([batch], tally.schema))
            path.unlink()


@contextmanager
def _opened(path: Path) -> Iterator[pa.RecordBatchStreamReader]:
    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        yield reader
