"""Indexes tables one after the other in this process, where Spark is not installed.

What a task of Spark does with a table (`deltaweb.spark.table_tasks`) needs no Spark: it
is done by a thread here, which reports as a task does.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from deltaweb.index.build.full import LogTooLargeError
from deltaweb.index.folder.result import IndexResult
from deltaweb.spark.installed import SparkMissingError
from deltaweb.spark.run_folder import RunFolder
from deltaweb.spark.table_tasks import (
    TICK_INTERVAL_S,
    IndexRequest,
    OnResult,
    OnTick,
    cancel_none,
    index_one,
)


def index_tables(
    requests: Sequence[IndexRequest],
    on_result: OnResult,
    *,
    scratch: Path,
    on_tick: OnTick | None = None,
) -> None:
    """Index tables and hand on each result, as `deltaweb.spark.pipeline` does.

    A log that is larger than its request lets a task read is a result that says so.

    Args:
        requests: The tables.
        on_result: Called once for each request, by its position, in this thread.
        scratch: Where the run may keep small files; made when needed.
        on_tick: Called some times a second with the progress of the table that is
            being worked on; returns the positions to cancel.

    Raises:
        DeltaError: If the scratch folder cannot be made.
        Exception: What `on_result` or `on_tick` raises, after the work is cancelled.
    """
    look = on_tick or cancel_none
    with RunFolder.begin(scratch) as folder, ThreadPoolExecutor(1) as thread:
        for position, request in enumerate(requests):
            work = thread.submit(_index, position, request, folder)
            try:
                while not wait([work], TICK_INTERVAL_S).done:
                    for unwanted in look(folder.progress()):
                        folder.cancel(unwanted)
            except BaseException:
                folder.cancel(position)
                raise
            on_result(position, work.result())


def _index(position: int, request: IndexRequest, folder: RunFolder) -> IndexResult:
    try:
        return index_one(position, request, folder, max_bytes=request.max_task_bytes)
    except LogTooLargeError as error:
        return IndexResult.from_error(SparkMissingError(why=f"{error} "))
