"""What may be seen of many data files, written by tasks: each has some of the files."""

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import SparkSession

from deltaweb.spark.arrow_frames import Batches, run_tasks
from deltaweb.spark.data_files.shares import deal_out
from deltaweb.spark.job import OnProgress, run_job
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.spark.writing.change_tasks import ANSWER, pack, unpack
from deltaweb.writer.excerpt import EXCERPT, Excerpts
from deltaweb.writer.files.parquet_file import WrittenFile

if TYPE_CHECKING:
    from pyspark import Broadcast

Written = tuple[str, WrittenFile | None]


def write_excerpts(
    spark: SparkSession, excerpts: Excerpts, files: pa.Table, on_progress: OnProgress
) -> list[Written]:
    """Write what may be seen of files; return each by its path, in any order.

    Args:
        files: As a `RowSource` has them, with size and `EXCERPT`.
        on_progress: Called with the tasks that are done; it may raise to stop.
    """
    at_least = spark.sparkContext.defaultParallelism
    parts = deal_out(files, at_least=at_least, more=(EXCERPT,))
    kept = spark.sparkContext.broadcast(parts)
    try:
        frame = run_tasks(
            spark, len(parts), partial(_write_part, excerpts, kept), ANSWER
        )
        rows = run_job(
            spark, frame.collect, on_progress, title="Rewrite files of a share"
        )
    finally:
        kept.destroy()
    return [one for row in rows for one in unpack(row[0], list)]


def _write_part(
    excerpts: Excerpts, parts: "Broadcast[list[pa.Table]]", number: int
) -> Batches:
    with faults_are_carried():
        written = list(excerpts.write(parts.value[number]))
    yield from pack(written)
