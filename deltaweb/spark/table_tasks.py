"""What tasks do with the tables of a run: each takes the next one that nobody has.

So many small tables share few tasks, a slow one holds up none but itself, and one that
takes its Python worker down leaves the others to be done by the next job.
"""

import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from deltaweb.delta.errors import DeltaError
from deltaweb.index.build import LogTooLargeError, index_table
from deltaweb.index.engine import Engine
from deltaweb.index.index_result import CANCELLED, FAILED, IndexResult
from deltaweb.spark.run_folder import RunFolder
from deltaweb.table import DeltaTable

REPORT_INTERVAL_S: Final = 0.5
DETAIL_LENGTH: Final = 10_000
LARGE: Final[dict[str, Any]] = {"state": "LARGE"}  # what a task says, and no result

Row = tuple[int, dict[str, Any]]
"""A table of the run, and what came of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRequest:
    """A table to index.

    Attributes:
        location: A path, or a URL that fsspec knows.
        folder: The index folder to make; every executor must see it.
        storage_options: Options of the store; they reach the executors with the
            task, and are in no text of it.
        allowed_roots: Roots outside of the table that its log may lead to.
        max_task_bytes: A log of more bytes is replayed by Spark; None for never.
            Where the base is gone on from, only commits that are new count.
        base: The folder of the index that the table has; empty without one.
    """

    location: str
    folder: str
    storage_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    allowed_roots: tuple[str, ...] = ()
    max_task_bytes: int | None = None
    base: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """What all tasks of one Spark job have before them.

    Attributes:
        requests: Tables by their position in the run.
        folder: Where tasks tell how far they are.
        num_tasks: Tasks that share the tables.
    """

    requests: Mapping[int, IndexRequest]
    folder: RunFolder
    num_tasks: int

    def index_tables(self, numbers: Iterable[int]) -> Iterator[Row]:
        """Index tables until none is left to take.

        Args:
            numbers: The number of the task.

        Returns:
            The results that the run's folder could not hold.
        """
        for number in numbers:
            for position, request in self.requests.items():
                if self._take(position, number):
                    values = _small_table(position, request, self.folder)
                    if not self.folder.tell_result(position, values):
                        yield position, values

    def _take(self, position: int, number: int) -> bool:
        """Tell whether a table is now this task's."""
        try:
            return self.folder.claim(position)
        except FileNotFoundError:  # the run was given up
            return False
        except OSError:  # a full disk: each task has tables of its own
            return position % self.num_tasks == number


class _CancelledError(Exception):
    """Raised in the work on a table that was cancelled."""


class _Reporter:
    """Tells a table's progress, not too often, and looks whether to stop."""

    def __init__(self, position: int, folder: RunFolder) -> None:
        self._position = position
        self._folder = folder
        self._due_s = 0.0

    @property
    def is_cancelled(self) -> bool:
        """Whether the table was cancelled."""
        return self._folder.is_cancelled(self._position)

    def __call__(self, step: str, done: int, total: int | None, unit: str) -> None:
        if time.monotonic() < self._due_s:
            return
        self._due_s = time.monotonic() + REPORT_INTERVAL_S
        if self.is_cancelled:
            raise _CancelledError
        self._folder.tell_progress(self._position, [step, done, total, unit])


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
    """Index a table; whatever is wrong with it is its result.

    Args:
        position: Position of the table in its run.
        request: The table.
        folder: The run's folder.
        engine: What replays the log; this process by default.
        max_bytes: The most bytes of the log to read; None for any.

    Raises:
        LogTooLargeError: If the log has more bytes than that.
    """
    report = _Reporter(position, folder)
    try:
        table = DeltaTable(
            request.location,
            request.storage_options,
            allowed_roots=request.allowed_roots,
        )
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
    except _CancelledError:
        return IndexResult(state=CANCELLED)
    except DeltaError as error:
        return IndexResult.from_error(error)
    except Exception as error:  # noqa: BLE001 (one table never fails the others)
        if report.is_cancelled:  # jobs of Spark that were stopped say so their own way
            return IndexResult(state=CANCELLED)
        return IndexResult(
            state=FAILED,
            error_code="internal-error",
            error=f"The worker met an error it does not know: {error!r:.300}",
            error_hint="Retry the job; if it fails again, report the details.",
            error_detail=traceback.format_exc()[-DETAIL_LENGTH:],
        )
