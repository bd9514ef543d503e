"""What tasks do with the tables of a run: each takes the next one that nobody has.

So many small tables share few tasks, a slow one holds up none but itself, and one that
takes its Python worker down leaves the others to be done by the next job.
"""

import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, Final

from deltaweb.delta.errors import DeltaError
from deltaweb.environment.own_process import leave_modules_out_of_collections
from deltaweb.index.build.full import LogTooLargeError, index_table
from deltaweb.index.folder.result import CANCELLED, FAILED, IndexResult
from deltaweb.index.history.engine import Engine
from deltaweb.spark.driver.installed import SparkMissingError
from deltaweb.spark.run_folder import (
    RunCancelledError,
    RunFolder,
    TableClaims,
    TaskProgress,
    TaskReporter,
)
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable

DETAIL_LENGTH: Final = 10_000
LARGE: Final[dict[str, Any]] = {"state": "LARGE"}  # what a task says, and no result

TICK_INTERVAL_S: Final = 0.25

OnResult = Callable[[int, IndexResult], None]
OnTick = Callable[[Mapping[int, TaskProgress]], Collection[int]]

Row = tuple[int, dict[str, Any]]
"""A table of the run, and what came of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRequest:
    """A table to index.

    Attributes:
        folder: The index folder to make; every executor must see it.
        max_task_bytes: A log of more bytes is replayed by Spark; None for never.
            Where the base is gone on from, only commits that are new count.
    """

    place: TablePlace
    folder: str
    max_task_bytes: int | None = None
    base: str = ""


def cancel_none(_progress: Mapping[int, TaskProgress]) -> Collection[int]:
    """Let all go on: what a run does that nobody looks at."""
    return ()


@dataclass(frozen=True, slots=True)
class Share:
    """What all tasks of one Spark job have before them.

    Attributes:
        claims: Which tables they have taken; None where they cannot tell each other.
    """

    requests: Mapping[int, IndexRequest]
    folder: RunFolder
    claims: TableClaims | None
    num_tasks: int

    def index_tables(self, numbers: Iterable[int]) -> Iterator[Row]:
        """Index tables until none is left to take.

        Returns:
            The results that the run's folder could not hold.
        """
        for number in numbers:
            for position, request in self.requests.items():
                if self._take(position, number):
                    values = _small_table(position, request, self.folder)
                    if not self.folder.report_result(position, values):
                        yield position, values
        leave_modules_out_of_collections()

    def _take(self, position: int, number: int) -> bool:
        """Tell whether a table is now this task's."""
        with suppress(OSError):  # a full disk
            if self.claims is not None:
                return self.claims.claim(position)
        return position % self.num_tasks == number  # each task has tables of its own


def _small_table(
    position: int, request: IndexRequest, folder: RunFolder
) -> dict[str, Any]:
    """Index a table in this process, unless its log is large."""
    try:
        limit = request.max_task_bytes
        return index_one(position, request, folder, max_bytes=limit).to_json()
    except LogTooLargeError:
        return LARGE


def index_one(
    position: int,
    request: IndexRequest,
    folder: RunFolder,
    *,
    engine: Engine | None = None,
    max_bytes: int | None = None,
) -> IndexResult:
    """Index a table; whatever is wrong with it is its result."""
    report = TaskReporter(folder, position)
    try:
        table = DeltaTable.from_store(request.place.open())
        return index_table(
            table,
            request.folder,
            on_progress=report,
            engine=engine,
            base=request.base or None,
            max_bytes=max_bytes,
        )
    except LogTooLargeError:
        raise
    except RunCancelledError:
        return IndexResult(state=CANCELLED)
    except DeltaError as error:
        return IndexResult.from_error(error)
    except Exception as error:  # noqa: BLE001 (one table never fails the others)
        if report.is_cancelled:  # jobs of Spark that were stopped say so their own way
            return IndexResult(state=CANCELLED)
        return IndexResult(
            state=FAILED,
            error_code="internal-error",
            error=f"The worker met an unexpected error: {error!r:.300}",
            error_hint="Retry the job; if it fails again, report the details.",
            error_detail=traceback.format_exc()[-DETAIL_LENGTH:],
        )


# === Without Spark ===


def index_in_process(
    requests: Sequence[IndexRequest],
    on_result: OnResult,
    *,
    scratch: Path,
    on_tick: OnTick | None = None,
    is_spark_there: Callable[[], bool] | None = None,
) -> None:
    """Index tables one after the other in this process.

    Each result is handed on as `deltaweb.spark.pipeline.index_tables` does.

    Args:
        on_tick: Called some times a second with the progress of the table that is
            being worked on; returns the positions to cancel.
        is_spark_there: Tells whether Spark takes the tables that have no result yet;
            None where it is not installed. With it, a log that is larger than its
            request lets a task read is left to Spark, and has no result; without it,
            its result says so.
    """
    look = on_tick or cancel_none
    with RunFolder.begin(scratch) as folder:
        for position, request in enumerate(requests):
            work = _begin(position, request, folder)
            while not wait([work], TICK_INTERVAL_S).done:
                for unwanted in look(folder.progress()):
                    folder.cancel(unwanted)
                if is_spark_there is not None and is_spark_there():
                    return  # a slow store holds up its own table alone there
            result = work.result()
            if isinstance(result, IndexResult):
                on_result(position, result)
            elif is_spark_there is None:
                missing = SparkMissingError(why=f"{result} ")
                on_result(position, IndexResult.from_error(missing))


def _begin(
    position: int, request: IndexRequest, folder: RunFolder
) -> "Future[IndexResult | LogTooLargeError]":
    """Index a table in a thread that ends by itself once the run's folder is gone."""
    future: Future[IndexResult | LogTooLargeError] = Future()

    def work() -> None:
        try:
            most = request.max_task_bytes
            result = index_one(position, request, folder, max_bytes=most)
        except LogTooLargeError as error:
            future.set_result(error)
        except BaseException as error:  # noqa: BLE001 (raised again where it is waited for)
            future.set_exception(error)
        else:
            future.set_result(result)

    Thread(target=work, daemon=True).start()
    return future
