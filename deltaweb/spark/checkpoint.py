"""Checkpoints of large logs, written by one task of Spark.

The checkpoint is that of `deltaweb.delta.writing.checkpoint.builder`, which works in
bounded memory; a task of its own gets the memory and the disk of a worker of Spark, and
may die without harm to the process that waits for it.

Source: delta_protocol.md, "Requirements for Writers", "Checkpoints".
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from deltaweb.delta.log.segment import load_log_segment
from deltaweb.delta.writing.checkpoint import builder
from deltaweb.delta.writing.checkpoint.request import (
    CheckpointRequest,
    WrittenCheckpoint,
)
from deltaweb.errors import DeltawebError
from deltaweb.spark.driver.cluster import is_local
from deltaweb.spark.job import SparkJob
from deltaweb.spark.run_folder import RunFolder, TaskProgress, TaskReporter
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.storage.place import TablePlace

ATTEMPTS: Final = 3  # of a task whose process dies, as a cluster makes by itself
TASK: Final = 0


class TaskDiedError(DeltawebError, code="spark-task-died"):
    """The process of a task died, each time that the task was tried."""

    message = "A task of Spark died while it wrote the checkpoint."
    hint = "Give Spark's workers more memory, then retry."


def build_checkpoint(
    spark: SparkSession,
    source: TablePlace,
    request: CheckpointRequest,
    *,
    scratch: Path | None = None,
) -> WrittenCheckpoint:
    """Write a checkpoint of a version that exists.

    Args:
        scratch: A folder that executors see, where the task may report how far it is;
            a temporary one of this machine for None.
    """
    request.check()
    store = source.open()
    version = load_log_segment(store, request.version).version
    request.check_wanted(store, version)
    asked = replace(request, version=version, on_progress=None, is_cancelled=None)
    with RunFolder.begin(scratch or Path(tempfile.gettempdir())) as folder:
        work = partial(_run, spark, partial(_write, source, asked, folder))
        newest = TaskProgress("", 0, 0, "")

        def look() -> None:
            nonlocal newest
            request.check_wanted(store, version)
            # A task that is tried again begins again.
            found = folder.progress().get(TASK, newest)
            newest = max(newest, found, key=lambda progress: progress.done)
            if request.on_progress is not None and newest.total:
                request.on_progress(newest.done, newest.total)

        job = SparkJob(spark, "Write a checkpoint", work)
        return job.run(look, ask_to_stop=partial(folder.cancel, TASK))


def _run(
    spark: SparkSession, write: Callable[[int], WrittenCheckpoint]
) -> WrittenCheckpoint:
    """Run the task, again where its process died and Spark does not try again."""
    attempts = ATTEMPTS if is_local(spark.sparkContext.master or "") else 1
    while True:
        attempts -= 1
        try:
            return spark.sparkContext.parallelize([TASK], 1).map(write).collect()[0]
        except (PySparkException, Py4JError) as error:
            if "Python worker exited unexpectedly" not in str(error):
                raise
            if not attempts:
                raise TaskDiedError from error


# === In the task ===


def _write(
    source: TablePlace, request: CheckpointRequest, folder: RunFolder, task: int
) -> WrittenCheckpoint:
    reporter = TaskReporter(folder, task)
    sees_folder = folder.path.exists()  # Spark stops a task that does not
    asked = replace(
        request,
        on_progress=lambda done, total: reporter.report("", done, total, "actions"),
        is_cancelled=lambda: sees_folder and reporter.is_cancelled,
    )
    with faults_are_carried():
        return builder.build_checkpoint(source.open(), asked)
