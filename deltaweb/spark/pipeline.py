"""One Spark job that indexes many tables, shared by few tasks.

A task that finds its table's log to be large leaves it: such a table is then indexed
by jobs of its own, in which Spark replays the log (`deltaweb.spark.index_files`).

Tasks report how far they are, and what came out, by small files that the driver reads
some times a second (`deltaweb.spark.run_folder`); so results arrive while other tables
are still being worked on. Index folders are written by the tasks themselves, to the
same storage.
"""

import logging
import time
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from pyspark.sql import SparkSession

from deltaweb.index.folder.result import CANCELLED, FAILED, IndexResult
from deltaweb.spark.index_files import SparkEngine
from deltaweb.spark.job import SparkJob
from deltaweb.spark.run_folder import RunFolder
from deltaweb.spark.table_tasks import (
    DETAIL_LENGTH,
    LARGE,
    TICK_INTERVAL_S,
    IndexRequest,
    OnResult,
    OnTick,
    Row,
    Share,
    cancel_none,
    index_one,
)

__all__ = [
    "IndexRequest",
    "OnResult",
    "OnTick",
    "index_tables",
]

logger = logging.getLogger(__name__)

COLLECT_INTERVAL_S: Final = 0.05  # so that results are stored while others are made
TASKS_A_CORE: Final = 4  # more than can run at once: cores of a cluster come later


def index_tables(
    spark: SparkSession,
    requests: Sequence[IndexRequest],
    on_result: OnResult,
    *,
    scratch: Path,
    on_tick: OnTick | None = None,
) -> None:
    """Index tables by one Spark job and hand on each result as it arrives.

    A broken table is a result that says so, and so is one that takes its task down: the
    others are not failed by it.

    Args:
        spark: The session; its executors see `scratch` and the index folders.
        on_result: Called once for each request, by its position, in this thread.
        scratch: Where the run may keep small files; made when needed.
        on_tick: Called twice a second or more with the progress of running tasks;
            returns the positions to cancel.
    """
    with RunFolder.begin(scratch) as folder:
        run = _Run(spark, requests, folder, on_result, on_tick or cancel_none)
        run.index_small_tables()
        for position in sorted(run.large):
            run.replay(position)


def _died(error: BaseException | None) -> IndexResult:
    cause = str(error).strip().splitlines()[0][:300] if error else "no answer came"
    return IndexResult(
        state=FAILED,
        error_code="internal-error",
        error=f"The Spark task ended without a result: {cause}.",
        error_hint="Retry; if it fails again, give the worker more memory.",
        error_detail=str(error or "")[-DETAIL_LENGTH:],
    )


class _EndedJob(NamedTuple):
    """What ended a Spark job early, if anything did, and the tables its tasks took."""

    cause: BaseException | None
    taken: set[int]


class _Run:
    """The requests of one call, and what has come of them.

    Attributes:
        large: Positions of tables that a task found too large for itself.
    """

    def __init__(
        self,
        spark: SparkSession,
        requests: Sequence[IndexRequest],
        folder: RunFolder,
        on_result: OnResult,
        on_tick: OnTick,
    ) -> None:
        self._spark = spark
        self._requests = requests
        self._folder = folder
        self._on_result = on_result
        self._on_tick = on_tick
        self._missing = dict.fromkeys(range(len(requests)))  # in their order
        self.large: set[int] = set()

    def index_small_tables(self) -> None:
        """Index all tables but the large ones.

        A table that took its Python worker down ended its whole job. Nobody knows
        which one of those that were being worked on it was: each of them is done again
        by a job of its own, after all that were not begun.
        """
        begun: set[int] = set()
        while waiting := self._left() - begun:
            taken = self._execute(waiting).taken
            left = self._left()
            begun |= (taken & left) or left
        for position in sorted(begun & self._left()):
            cause = self._execute({position}).cause
            if position in self._left():
                self._deliver(position, _died(cause))

    def replay(self, position: int) -> None:
        self._folder.forget([position])
        work = partial(self._index_in_driver, position)
        job = SparkJob(self._spark, "Index a large table", work)
        error = self._watch(job, replayed=position)
        if position in self._missing:
            is_cancelled = self._folder.is_cancelled(position)
            cancelled = IndexResult(state=CANCELLED)
            self._deliver(position, cancelled if is_cancelled else _died(error))

    def _left(self) -> set[int]:
        return self._missing.keys() - self.large

    def _execute(self, positions: Collection[int]) -> _EndedJob:
        """Run one Spark job."""
        self._folder.forget(positions)
        context = self._spark.sparkContext
        num_tasks = min(len(positions), TASKS_A_CORE * context.defaultParallelism)
        requests = {number: self._requests[number] for number in sorted(positions)}
        claims = self._folder.begin_claims()
        share = Share(requests, self._folder, claims, num_tasks)
        title = f"Index {len(positions)} tables"
        work = partial(_run_in_executors, self._spark, share)
        cause = self._watch(SparkJob(self._spark, title, work))
        return _EndedJob(cause, set() if claims is None else claims.end())

    def _index_in_driver(self, position: int) -> list[Row]:
        request = self._requests[position]
        engine = SparkEngine(self._spark, request.place)
        result = index_one(position, request, self._folder, engine=engine)
        return [(position, result.to_json())]

    def _watch(
        self, job: SparkJob[list[Row]], replayed: int | None = None
    ) -> BaseException | None:
        """Hand on what arrives until a job ends; return what ended it early."""
        due_s = 0.0

        def look() -> None:
            nonlocal due_s
            self._collect()
            if time.monotonic() >= due_s:
                self._tick(job, replayed)
                due_s = time.monotonic() + TICK_INTERVAL_S

        job.watch(look, every_s=COLLECT_INTERVAL_S)
        self._collect()
        for position, values in job.result or ():
            self._take(position, values)
        if job.error is not None:
            logger.warning("The Spark job ended early: %s", job.error)
        return job.error

    def _tick(self, job: SparkJob[list[Row]], replayed: int | None) -> None:
        for position in self._on_tick(self._folder.progress()):
            self._folder.cancel(position)
            # The tasks of another job work on tables that are still wanted.
            if position == replayed:
                job.cancel_tasks()

    def _collect(self) -> None:
        for position, values in self._folder.take_results().items():
            self._take(position, values)

    def _take(self, position: int, values: dict[str, Any]) -> None:
        if position not in self._missing:
            return  # a task that was given up was faster, or slower
        if values == LARGE:
            self.large.add(position)
        else:
            self._deliver(position, IndexResult.from_json(values))

    def _deliver(self, position: int, result: IndexResult) -> None:
        del self._missing[position]
        self._on_result(position, result)


def _run_in_executors(spark: SparkSession, share: Share) -> list[Row]:
    numbers = spark.sparkContext.parallelize(range(share.num_tasks), share.num_tasks)
    return numbers.mapPartitions(share.index_tables).collect()
