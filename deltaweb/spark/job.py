"""The one frame of work on Spark: begun, watched, cancelled, its faults translated.

Work runs in a thread of its own, so that the calling one can report how far it is, and
stop it. What ends it early is raised as the error that it is: the Delta core's own from
a task, a full disk, a session that died.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Final, Generic, TypeVar, cast

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from deltaweb.delta.errors import StorageFullError
from deltaweb.environment.logs import ids_of_lines
from deltaweb.errors import DeltawebError
from deltaweb.spark.driver.pyspark_internals import is_running
from deltaweb.spark.task_faults import faults_are_raised

logger = logging.getLogger(__name__)

LOOK_INTERVAL_S: Final = 0.2
STOPS_WITHIN_S: Final = 10  # by itself, where it can be asked to
JOIN_TIMEOUT_S: Final = 30
CANCEL_INTERVAL_S: Final = 0.5

MDC: Final = "mdc."
"""The prefix of local properties that Spark's tasks write in the lines of logs."""

T = TypeVar("T")
OnProgress = Callable[[int, int | None], None]
"""Called with what is done, and of how much; it may raise to stop the work."""


class SparkLostError(DeltawebError, code="spark-lost"):
    """The Spark session died in the middle of the work."""

    message = "Spark stopped in the middle of the work."
    hint = "Retry. If it stops again, give it more memory or look at its log."


class SparkJob(Generic[T]):
    """Work that runs jobs of Spark.

    Its lines have the ids of the thread that makes it. Spark shows them in the
    description of its jobs, and its tasks have them in their log (`MDC`).
    """

    def __init__(self, spark: SparkSession, title: str, work: Callable[[], T]) -> None:
        self.result: T | None = None
        self.error: BaseException | None = None
        self._spark = spark
        self._title = title
        self._work = work
        self._group = f"work-{secrets.token_hex(8)}"
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._run,), daemon=True
        )

    def watch(
        self,
        on_look: Callable[[], None],
        *,
        every_s: float = LOOK_INTERVAL_S,
        ask_to_stop: Callable[[], None] | None = None,
    ) -> None:
        """Do the work, and look at it until its end.

        Args:
            on_look: Called in this thread; what it raises stops the work.
            ask_to_stop: Asks tasks to stop, which then remove what they began. Spark
                stops those that do not.
        """
        self._thread.start()
        try:
            while not self.wait(every_s):
                on_look()
        except BaseException:
            if ask_to_stop is not None:
                ask_to_stop()
                self.wait(STOPS_WITHIN_S)
            self.cancel()
            raise
        if isinstance(self.error, SparkLostError):
            raise self.error from self.error.__cause__

    def run(
        self,
        on_look: Callable[[], None],
        *,
        ask_to_stop: Callable[[], None] | None = None,
    ) -> T:
        """Do the work as `watch` does, and return its result."""
        self.watch(on_look, ask_to_stop=ask_to_stop)
        if self.error is not None:
            raise self.error from self.error.__cause__
        return cast("T", self.result)

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end; return whether it has come."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def tasks_done(self) -> tuple[int, int | None]:
        """Return how many tasks are done, and how many there are, if that is known."""
        done = total = 0
        try:
            tracker = self._spark.sparkContext.statusTracker()
            for job_id in tracker.getJobIdsForGroup(self._group):
                job = tracker.getJobInfo(job_id)
                for stage_id in job.stageIds if job else ():
                    stage = tracker.getStageInfo(stage_id)
                    if stage:
                        done += stage.numCompletedTasks
                        total += stage.numTasks
        except (Py4JError, OSError):  # the work itself says what is wrong
            return 0, None
        return done, total or None

    def cancel(self) -> None:
        """Stop the jobs' tasks and wait for the end of the work.

        Jobs that it begins meanwhile are stopped, too.
        """
        ends_at_s = time.monotonic() + JOIN_TIMEOUT_S
        while not self.wait(0) and time.monotonic() < ends_at_s:
            self.cancel_tasks()
            self.wait(CANCEL_INTERVAL_S)

    def cancel_tasks(self) -> None:
        try:
            self._spark.sparkContext.cancelJobGroup(self._group)
        except Exception:
            logger.warning("The Spark job could not be cancelled.", exc_info=True)

    def _run(self) -> None:
        try:
            context = self._spark.sparkContext
            title = described(self._title)
            context.setJobGroup(self._group, title, interruptOnCancel=True)
            for name, value in ids_of_lines().items():
                context.setLocalProperty(f"{MDC}{name}", value)
            with faults_are_raised():
                self.result = self._work()
        except BaseException as error:  # noqa: BLE001 (read by the waiting thread)
            self.error = translated(error, self._spark)
            if self.error is not error:
                self.error.__cause__ = error


def described(title: str) -> str:
    """Return a title with the ids of the request and the job that it is done for."""
    ids = ", ".join(f"{name} {value}" for name, value in ids_of_lines().items())
    return f"{title} ({ids})" if ids else title


def run_job(
    spark: SparkSession, work: Callable[[], T], on_progress: OnProgress, *, title: str
) -> T:
    """Do work that runs jobs of Spark, and report how many of their tasks are done.

    Args:
        on_progress: Called some times a second with tasks, and once after the last,
            when all are done.
    """
    job = SparkJob(spark, title, work)
    result = job.run(lambda: on_progress(*job.tasks_done()))
    # Spark counts ends of tasks a moment after them, and never those of reused stages.
    done, total = job.tasks_done()
    on_progress(total or done, total)
    return result


def translated(error: BaseException, spark: SparkSession) -> BaseException:
    """Return the error that one of Spark's means, or the error itself."""
    # A JVM that is gone refuses the connection.
    if not isinstance(error, PySparkException | Py4JError | ConnectionError):
        return error
    if not is_running(spark):
        return SparkLostError()
    if "No space left on device" in str(error):
        place = "the folder of Spark's files"
        return StorageFullError(location=place, reason="the disk is full")
    return error
