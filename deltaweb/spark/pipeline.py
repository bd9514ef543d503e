"""One Spark job that indexes many tables, a table a task.

A task that finds its table's log to be large leaves it: such a table is then indexed
by jobs of its own, in which Spark replays the log (`deltaweb.spark.index_files`).

Tasks tell how far they are, and what came out, by small files in a scratch folder
that the driver reads twice a second; so results arrive while other tables are still
being worked on. Index folders are written by the tasks themselves, to the same storage.
"""

import json
import logging
import os
import secrets
import shutil
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from deltaweb.index.build import LogTooLargeError, build_index
from deltaweb.index.engine import Engine
from deltaweb.index.index_result import CANCELLED, FAILED, IndexResult
from deltaweb.spark.index_files import SparkEngine
from deltaweb.spark.log_reader import LogSource
from deltaweb.spark.session import is_alive
from deltaweb.storage.write_faults import write_fault

logger = logging.getLogger(__name__)

POLL_INTERVAL_S: Final = 0.25
REPORT_INTERVAL_S: Final = 0.5
JOIN_TIMEOUT_S: Final = 30
LARGE: Final[dict[str, Any]] = {"state": "LARGE"}  # what a task says, and no result


class SparkLostError(Exception):
    """The Spark session died in the middle of the work."""

    code = "spark-lost"

    def __init__(self) -> None:
        self.message = "Spark stopped in the middle of the work."
        self.hint = "Retry; if it stops again, give it more memory or look at its log."
        super().__init__(f"{self.message} {self.hint}")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRequest:
    """A table to index.

    Attributes:
        location: A path, or a URL that fsspec knows.
        folder: The index folder to make; every executor must see it.
        storage_options: Options of the store; they reach the executors with the
            task, and are in no text of it.
        max_task_bytes: A log of more bytes is replayed by Spark; None for never.
            Where the base is gone on from, only commits that are new count.
        base: The folder of the index that the table has; empty without one.
    """

    location: str
    folder: str
    storage_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    max_task_bytes: int | None = None
    base: str = ""


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """How far a task is: what is done of a step, of how much, in which unit."""

    step: str
    done: int
    total: int | None
    unit: str


OnResult = Callable[[int, IndexResult], None]
OnTick = Callable[[Mapping[int, TaskProgress]], Collection[int]]


def index_tables(
    spark: SparkSession,
    requests: Sequence[IndexRequest],
    on_result: OnResult,
    *,
    scratch: Path,
    on_tick: OnTick | None = None,
) -> None:
    """Index tables by one Spark job and hand on each result as it arrives.

    A broken table is a result that says so, and so is a task that dies: the others
    are not failed by it.

    Args:
        spark: The session; its executors see `scratch` and the index folders.
        requests: The tables.
        on_result: Called once for each request, by its position, in this thread.
        scratch: Where the run may keep small files; made when needed.
        on_tick: Called twice a second or more with the progress of running tasks;
            returns the positions to cancel.

    Raises:
        SparkLostError: If the session dies; requests without a result are not done.
        DeltaError: If the scratch folder cannot be made.
        Exception: What `on_result` or `on_tick` raises, after the job is cancelled.
    """
    folder = scratch / f"run-{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise write_fault(error, place=str(scratch)) from error
    run = _Run(spark, requests, folder, on_result, on_tick or _cancel_none)
    try:
        run.execute(range(len(requests)))
        # A task that took its Python worker down ended the whole job: the others are
        # done again, each by a job of its own.
        for position in run.missing():
            if position in run.large:
                continue
            cause = run.execute([position])
            if position in run.missing() and position not in run.large:
                run.deliver(position, _died(cause))
        for position in sorted(run.large):
            run.replay(position)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cancel_none(_progress: Mapping[int, TaskProgress]) -> Collection[int]:
    return ()


def _died(error: BaseException | None) -> IndexResult:
    cause = str(error).strip().splitlines()[0][:300] if error else "no answer came"
    return IndexResult(
        state=FAILED,
        error_code="internal-error",
        error=f"The Spark task ended without a result: {cause}.",
        error_hint="Retry; if it fails again, give the worker more memory.",
        error_detail=str(error or "")[-10_000:],
    )


# === In the driver ===


class _Run:
    """The requests of one call, and what has come of them."""

    def __init__(
        self,
        spark: SparkSession,
        requests: Sequence[IndexRequest],
        folder: Path,
        on_result: OnResult,
        on_tick: OnTick,
    ) -> None:
        self._spark = spark
        self._requests = requests
        self._folder = folder
        self._on_result = on_result
        self._on_tick = on_tick
        self._delivered: set[int] = set()
        self.large: set[int] = set()

    def missing(self) -> list[int]:
        """The positions without a result."""
        return [i for i in range(len(self._requests)) if i not in self._delivered]

    def deliver(self, position: int, result: IndexResult) -> None:
        """Hand on a result."""
        self._delivered.add(position)
        self._on_result(position, result)

    def execute(self, positions: Iterable[int]) -> BaseException | None:
        """Run one Spark job and return what ended it early, if anything did."""
        tasks = self._tasks(positions)
        work = partial(_run_in_executors, self._spark, tasks)
        return self._watch(_SparkJob(self._spark, f"Index {len(tasks)} tables", work))

    def replay(self, position: int) -> None:
        """Index a large table: its log is replayed by jobs of Spark."""
        (self._folder / f"{position}.result.json").unlink(missing_ok=True)
        (task,) = self._tasks([position])
        work = partial(_index_in_driver, self._spark, task)
        error = self._watch(_SparkJob(self._spark, "Index a large table", work))
        if position in self.missing():
            cancelled = IndexResult(state=CANCELLED)
            is_cancelled = (self._folder / f"{position}.cancel").exists()
            self.deliver(position, cancelled if is_cancelled else _died(error))

    def _watch(self, job: "_SparkJob") -> BaseException | None:
        """Hand on what arrives until a job ends; return what ended it early."""
        job.start()
        try:
            while not job.wait(POLL_INTERVAL_S):
                self._collect()
                for position in self._on_tick(self._progress()):
                    (self._folder / f"{position}.cancel").touch()
                    if position in self.large:
                        job.cancel_tasks()
        except BaseException:
            job.cancel()
            raise
        self._collect()
        for position, values in job.rows:
            if position not in self._delivered:  # its file could not be written
                self._take(position, values)
        if job.error is not None:
            logger.warning("The Spark job ended early: %s", job.error)
            if not is_alive(self._spark):
                raise SparkLostError from job.error
        return job.error

    def _tasks(self, positions: Iterable[int]) -> list["_Task"]:
        return [
            _Task(position, self._requests[position], str(self._folder))
            for position in positions
        ]

    def _collect(self) -> None:
        for position in self.missing():
            values = _read_json(self._folder / f"{position}.result.json")
            if values is not None:
                self._take(position, values)

    def _take(self, position: int, values: dict[str, Any]) -> None:
        if values == LARGE:
            self.large.add(position)
        else:
            self.deliver(position, IndexResult.from_json(values))

    def _progress(self) -> dict[int, TaskProgress]:
        read = {
            position: _read_json(self._folder / f"{position}.progress.json")
            for position in self.missing()
        }
        return {i: TaskProgress(*values) for i, values in read.items() if values}


class _SparkJob:
    """A Spark job in a thread of its own, so that it can be watched and cancelled."""

    def __init__(
        self, spark: SparkSession, title: str, work: Callable[[], "list[_Row]"]
    ) -> None:
        self.error: BaseException | None = None
        self.rows: list[_Row] = []
        self._context = spark.sparkContext
        self._title = title
        self._work = work
        self._group = f"index-{secrets.token_hex(8)}"
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Submit the job."""
        self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end; tell whether it has come."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Stop the job's tasks and wait for their end."""
        self.cancel_tasks()
        self._thread.join(JOIN_TIMEOUT_S)

    def cancel_tasks(self) -> None:
        """Stop the job's tasks."""
        try:
            self._context.cancelJobGroup(self._group)
        except Exception:
            logger.warning("The Spark job could not be cancelled.", exc_info=True)

    def _run(self) -> None:
        try:
            self._context.setJobGroup(self._group, self._title, interruptOnCancel=True)
            self.rows = self._work()
        except BaseException as error:  # noqa: BLE001 (read by the waiting thread)
            self.error = error


def _run_in_executors(spark: SparkSession, tasks: Sequence["_Task"]) -> "list[_Row]":
    rows = spark.sparkContext.parallelize(tasks, max(1, len(tasks)))
    return rows.mapPartitions(_run_tasks).collect()


def _index_in_driver(spark: SparkSession, task: "_Task") -> "list[_Row]":
    request = task.request
    source = LogSource(request.location, request.storage_options)
    result = _index_one(task, SparkEngine(spark, source))
    return [(task.position, result.to_json())]


# === In the executors ===


@dataclass(frozen=True, slots=True)
class _Task:
    """A request as it travels to an executor."""

    position: int
    request: IndexRequest
    scratch: str


_Row = tuple[int, dict[str, Any]]


class _CancelledError(Exception):
    """Raised in a task whose request was cancelled."""


class _Reporter:
    """Writes a task's progress, not too often, and looks whether to stop."""

    def __init__(self, task: _Task) -> None:
        folder = Path(task.scratch)
        self._progress = folder / f"{task.position}.progress.json"
        self._cancel = folder / f"{task.position}.cancel"
        self._due = 0.0

    @property
    def is_cancelled(self) -> bool:
        """Whether the request was cancelled."""
        return self._cancel.exists()

    def __call__(self, step: str, done: int, total: int | None, unit: str) -> None:
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + REPORT_INTERVAL_S
        if self.is_cancelled:
            raise _CancelledError
        with suppress(OSError):  # a full disk costs the report, not yet the work
            _write_json(self._progress, [step, done, total, unit])


def _run_tasks(tasks: Iterable[_Task]) -> Iterator[_Row]:
    for task in tasks:
        try:
            values = _index_one(task, max_bytes=task.request.max_task_bytes).to_json()
        except LogTooLargeError:
            values = LARGE
        with suppress(OSError):  # a full disk: the result comes with the job's end
            place = Path(task.scratch) / f"{task.position}.result.json"
            _write_json(place, values)
        yield task.position, values


def _index_one(
    task: _Task, engine: Engine | None = None, max_bytes: int | None = None
) -> IndexResult:
    request = task.request
    report = _Reporter(task)
    try:
        return build_index(
            request.location,
            request.storage_options,
            request.folder,
            on_progress=report,
            engine=engine,
            base=request.base or None,
            max_bytes=max_bytes,
        )
    except LogTooLargeError:
        raise
    except _CancelledError:
        return IndexResult(state=CANCELLED)
    except Exception as error:  # noqa: BLE001 (one table never fails the others)
        if report.is_cancelled:  # jobs of Spark that were stopped say so their own way
            return IndexResult(state=CANCELLED)
        detail = traceback.format_exc()[-10_000:]
        return IndexResult(
            state=FAILED,
            error_code="internal-error",
            error=f"The worker met an error it does not know: {error!r:.300}",
            error_hint="Retry the job; if it fails again, report the details.",
            error_detail=detail,
        )


def _write_json(path: Path, values: object) -> None:
    """Write a small file whole, so that a reader never sees half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(values), encoding="utf-8")
    beside.replace(path)


def _read_json(path: Path) -> Any:  # noqa: ANN401 (any JSON; None without a file)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
