"""Work of Spark in a thread of its own, so that it can be watched and stopped."""

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, TypeVar

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from deltaweb.delta.errors import StorageFullError
from deltaweb.spark.pipeline import SparkLostError
from deltaweb.spark.session import is_alive
from deltaweb.spark.task_faults import faults_are_raised

POLL_INTERVAL_S: Final = 0.2
JOIN_TIMEOUT_S: Final = 30

T = TypeVar("T")
OnTasks = Callable[[int, int | None], None]
"""Called with the tasks that are done, and of how many; it may raise to stop."""


def watch_work(
    spark: SparkSession, work: Callable[[], T], report: OnTasks, *, title: str
) -> T:
    """Do work that runs jobs of Spark, and tell how far they are.

    Args:
        spark: The session.
        work: Runs the jobs, in another thread.
        report: Called some times a second; what it raises stops the jobs.
        title: What the jobs are for.

    Raises:
        DeltaError: What a task met.
        StorageFullError: If Spark's own files found the disk full.
        SparkLostError: If the session dies.
    """
    context = spark.sparkContext
    group = f"work-{secrets.token_hex(8)}"
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            context.setJobGroup(group, title, interruptOnCancel=True)
            with faults_are_raised():
                results.append(work())
        except BaseException as error:  # noqa: BLE001 (raised by the waiting thread)
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    with _cancelling(context, group, thread):
        while thread.is_alive():
            thread.join(POLL_INTERVAL_S)
            report(*_tasks_done(context, group))
    if errors:
        raise _named(errors[0], spark) from errors[0].__cause__
    return results[0]


def _named(error: BaseException, spark: SparkSession) -> BaseException:
    """Return an error of ours for one of Spark's that tells what is wrong."""
    # A JVM that is gone refuses the connection.
    if not isinstance(error, PySparkException | Py4JError | ConnectionError):
        return error
    if not is_alive(spark):
        return SparkLostError()
    if "No space left on device" in str(error):
        place = "the folder of Spark's files"
        return StorageFullError(location=place, reason="the disk is full")
    return error


@contextmanager
def _cancelling(
    context: SparkContext, group: str, thread: threading.Thread
) -> Iterator[None]:
    """Cancel the group's jobs when the block is left by an error."""
    try:
        yield
    except BaseException:
        with suppress(Py4JError, OSError):  # a JVM that is gone does no more work
            context.cancelJobGroup(group)
        thread.join(JOIN_TIMEOUT_S)
        raise


def _tasks_done(context: SparkContext, group: str) -> tuple[int, int | None]:
    """Return how many tasks of the group are done, and how many there are."""
    done = total = 0
    try:
        tracker = context.statusTracker()
        for job_id in tracker.getJobIdsForGroup(group):
            job = tracker.getJobInfo(job_id)
            for stage_id in job.stageIds if job else ():
                stage = tracker.getStageInfo(stage_id)
                if stage:
                    done += stage.numCompletedTasks
                    total += stage.numTasks
    except (Py4JError, OSError):  # the work itself says what is wrong
        return 0, None
    return done, total or None
