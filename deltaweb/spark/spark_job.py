"""A Spark job in a thread of its own, so that it can be watched and cancelled."""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

logger = logging.getLogger(__name__)

JOIN_TIMEOUT_S: Final = 30
CANCEL_INTERVAL_S: Final = 0.5

T = TypeVar("T")


class SparkJob(Generic[T]):
    """Work that runs jobs of Spark.

    Attributes:
        result: What the work returned; None before its end.
        error: What ended it early, if anything did.
    """

    def __init__(self, spark: SparkSession, title: str, work: Callable[[], T]) -> None:
        self.result: T | None = None
        self.error: BaseException | None = None
        self._context = spark.sparkContext
        self._title = title
        self._work = work
        self._group = f"work-{secrets.token_hex(8)}"
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end; tell whether it has come."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def tasks_done(self) -> tuple[int, int | None]:
        """Return how many tasks are done, and how many there are, if that is known."""
        done = total = 0
        try:
            tracker = self._context.statusTracker()
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
        self.cancel_tasks()
        while not self.wait(CANCEL_INTERVAL_S) and time.monotonic() < ends_at_s:
            self.cancel_tasks()

    def cancel_tasks(self) -> None:
        """Stop the jobs' tasks."""
        try:
            self._context.cancelJobGroup(self._group)
        except Exception:
            logger.warning("The Spark job could not be cancelled.", exc_info=True)

    def _run(self) -> None:
        try:
            self._context.setJobGroup(self._group, self._title, interruptOnCancel=True)
            self.result = self._work()
        except BaseException as error:  # noqa: BLE001 (read by the waiting thread)
            self.error = error
