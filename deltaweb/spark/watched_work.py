"""Work of Spark that is reported on while it goes on, and whose faults are named."""

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar, cast

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from deltaweb.delta.errors import StorageFullError
from deltaweb.spark.pipeline import SparkLostError
from deltaweb.spark.session import is_alive
from deltaweb.spark.spark_job import SparkJob
from deltaweb.spark.task_faults import faults_are_raised

POLL_INTERVAL_S: Final = 0.2

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
    job = SparkJob(spark, title, partial(_do, work))
    job.start()
    try:
        is_over = False
        while not is_over:
            is_over = job.wait(POLL_INTERVAL_S)
            report(*job.tasks_done())
    except BaseException:
        job.cancel()
        raise
    if job.error is not None:
        raise _named(job.error, spark) from job.error.__cause__
    return cast("T", job.result)


def _do(work: Callable[[], T]) -> T:
    with faults_are_raised():
        return work()


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
