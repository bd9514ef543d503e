"""One table's log to an index folder, in this process.

The Spark pipeline runs this body in its tasks, one table a task. Files are Arrow
columns throughout; only commits are objects, one at a time.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from deltaweb.delta.commit_batch import without_collections
from deltaweb.delta.errors import DeltaError, LogCorruptError, StorageFullError
from deltaweb.delta.log_overview import load_log_overview
from deltaweb.delta.log_segment import LogListing, VersionRun
from deltaweb.delta.log_store import LogStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.base_index import (
    BaseIndex,
    CannotGoOnError,
    load_base,
)
from deltaweb.index.engine import Engine, InProcess
from deltaweb.index.file_index import (
    FILES,
    IndexMissingError,
    write_summary,
    written_beside,
)
from deltaweb.index.file_rows import NewestFiles
from deltaweb.index.history.commit_rows import History
from deltaweb.index.history.lifetimes import UNKNOWN
from deltaweb.index.history.version_totals import VersionTotals
from deltaweb.index.history_reader import HistoryReader, Progress
from deltaweb.index.index_result import IndexResult
from deltaweb.index.index_seal import mark_file
from deltaweb.index.index_source import commit_digest, write_source
from deltaweb.index.index_update import UpdateRequest, update_index
from deltaweb.index.log_since import log_bytes
from deltaweb.index.lost_history import LostHistory, write_history
from deltaweb.index.newest_result import newest_result
from deltaweb.index.summary import (
    Story,
    files_summary,
    states_of_versions,
    table_summary,
    version_states,
)
from deltaweb.table import DeltaTable

FILES_WORTH_A_THREAD: Final = 20_000
ATTEMPTS: Final = 3  # at a log whose files go away while they are read

logger = logging.getLogger(__name__)

_Written = tuple[NewestFiles | None, dict[str, Any]]
"""The files of the newest version, none where they may not be read; what is drawn."""


class LogTooLargeError(Exception):
    """A log has more bytes than the process is to read."""

    def __init__(self, size_bytes: int) -> None:
        super().__init__(f"The log has {size_bytes:,} bytes.")


def build_index(  # noqa: PLR0913 (where, where to, and who is told)
    location: str,
    storage_options: Mapping[str, Any] | None,
    folder: Path | str,
    *,
    on_progress: Progress | None = None,
    now_ms: int | None = None,
    engine: Engine | None = None,
    base: Path | str | None = None,
    max_bytes: int | None = None,
) -> IndexResult:
    """Read a table's log and write its index.

    With a base, only what came since is read; `deltaweb.index.index_update` says when
    the whole log is read all the same.

    A newest version that may not be read is indexed by its metadata and history
    alone. Where the end of a log is broken the newest version before it is indexed,
    and the result says so, as it does for a table of which nothing can be read.

    Args:
        location: A path, or a URL that fsspec knows.
        storage_options: Options of the store.
        folder: The index folder to make; written beside and renamed.
        on_progress: Called with the step, what is done of it, of how much, and the
            unit; it may raise to stop the work.
        now_ms: The time that the days of `commits_30d` end at; now by default.
        engine: What replays the log; this process by default.
        base: The folder of the index that the table has, to go on from. An engine
            that is given reads the whole log, and takes from the base what the log
            has lost.
        max_bytes: The most bytes of the log to read here; None for any.

    Returns:
        The facts of the newest version, or the error's.

    Raises:
        LogTooLargeError: If the log that is to be read has more than `max_bytes`.
    """
    try:
        table = DeltaTable(location, storage_options)
        return index_table(
            table,
            folder,
            on_progress=on_progress,
            now_ms=now_ms,
            engine=engine,
            base=base,
            max_bytes=max_bytes,
        )
    except DeltaError as error:
        return IndexResult.from_error(error)


def index_table(  # noqa: PLR0913 (as `build_index`)
    table: DeltaTable,
    folder: Path | str,
    *,
    on_progress: Progress | None = None,
    now_ms: int | None = None,
    engine: Engine | None = None,
    base: Path | str | None = None,
    max_bytes: int | None = None,
) -> IndexResult:
    """Do as `build_index` does, for a table that is opened.

    Raises:
        DeltaError: If nothing of the table can be read, or the index not be written.
        LogTooLargeError: As `build_index` does.
    """
    request = UpdateRequest(
        base=Path(base or ""),
        folder=Path(folder),
        report=on_progress or _no_progress,
        now_ms=int(time.time() * 1000) if now_ms is None else now_ms,
        max_bytes=max_bytes,
    )
    if base is not None and engine is None:
        result = _updated(table, request)
        if result is not None:
            return result
    _check_size(table, max_bytes)
    builder = _Builder(
        table=table,
        engine=engine or InProcess(table),
        store=table.store,
        report=request.report,
        now_ms=request.now_ms,
        base=None if base is None else _find_base(Path(base)),
    )
    with without_collections():
        for _ in range(ATTEMPTS - 1):
            try:
                return builder.build(request.folder)
            except LogCorruptError as fault:
                if not _is_cleaned_away(table.store, fault):
                    raise
                logger.info("The log of %s is read again: %s", table.root, fault)
        return builder.build(request.folder)


def _is_cleaned_away(store: LogStore, fault: LogCorruptError) -> bool:
    """Tell whether a file was listed, and is gone: somebody cleans the log up."""
    try:
        store.status(fault.path.rsplit("/", 1)[-1])
    except FileNotFoundError:
        return True
    except DeltaError:
        return False  # storage does not answer
    return False


def _updated(table: DeltaTable, request: UpdateRequest) -> IndexResult | None:
    """Go on from the base; None where the log must be read from the start."""
    try:
        return update_index(table, request)
    except StorageFullError:
        raise
    except (CannotGoOnError, DeltaError, OSError, pa.ArrowException) as reason:
        logger.info("The log of %s is read from the start: %s", table.root, reason)
        return None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # Values that nobody wrote so: a disk that forgets must not stop the table.
        logger.warning("An index that is spoilt: %s", request.base, exc_info=True)
        return None


def _check_size(table: DeltaTable, max_bytes: int | None) -> None:
    """Refuse a log of too many bytes.

    Raises:
        LogTooLargeError: If it has more.
    """
    if max_bytes is None:
        return
    try:
        size_bytes = log_bytes(table.store)
    except DeltaError:
        return  # the index says what is wrong
    if size_bytes > max_bytes:
        raise LogTooLargeError(size_bytes)


def _find_base(folder: Path) -> BaseIndex | None:
    """Return the index in a folder; None where it is not whole."""
    try:
        return load_base(folder)
    except IndexMissingError:
        return None


def _no_progress(_step: str, _done: int, _total: int | None, _unit: str) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class _Builder:
    """The pieces of one index while it is made."""

    table: DeltaTable
    engine: Engine
    store: LogStore
    report: Progress
    now_ms: int
    base: BaseIndex | None

    def build(self, folder: Path) -> IndexResult:
        self.report("Reading the newest snapshot", 0, None, "")
        snapshot, fault = self._newest_snapshot()
        with written_beside(folder) as beside:
            with (
                self._writing_files(beside, snapshot) as written,
                self.engine.commit_reader(snapshot.version + 1) as read_commits,
            ):
                overview = load_log_overview(self.store)
                reader = HistoryReader(
                    self.store, overview, self.engine, read_commits, self.report
                )
                history, runs = reader.read(snapshot)
                newest, files = written()
            if newest is not None and fault is None:
                self._write_source(beside, snapshot, newest)
            facts = self._facts_of_log(overview.listing, snapshot, history)
            lost = LostHistory(
                None if facts["is_rewritten"] else self.base,
                history.versions[0] if history.versions else snapshot.version,
            )
            totals = reader.read_totals(history, runs, snapshot, newest)
            states = version_states(history, runs, totals)
            story = Story(
                runs=states_of_versions(snapshot, history, states),
                events=[*lost.events(), *history.events],
                timestamps_ms=[*lost.timestamps_ms(), *history.timestamps_ms],
            )
            summary = table_summary(snapshot.metadata, files, story, self.now_ms)
            time_ms = reader.times.finish(snapshot.version)
            result = newest_result(folder, snapshot, newest, summary, time_ms)
            if newest is None:
                result = _with_listed_totals(result, history, totals)
            result = replace(_with_fault(result, fault), **facts)
            self.report("Writing the index", 0, None, "")
            write_history(beside, history, totals, states, lost)
            write_summary(beside, result.to_json())
        return result

    @contextmanager
    def _writing_files(
        self, beside: Path, snapshot: Snapshot
    ) -> Iterator[Callable[[], _Written]]:
        """Give what returns the files of a snapshot, written.

        They are written while the history is read, where they are many and the engine
        allows it; else when they are asked for.
        """
        write = partial(self._write_files, beside, snapshot)
        if snapshot.refusal is not None:
            yield lambda: (None, files_summary(None, ()))
        elif snapshot.num_files >= FILES_WORTH_A_THREAD and self.engine.can_share:
            with ThreadPoolExecutor(1) as pool:
                yield partial(self._reported, pool.submit(write).result)
        else:
            yield partial(self._reported, write)

    def _write_files(self, beside: Path, snapshot: Snapshot) -> _Written:
        newest = self.engine.write_files(beside, snapshot)
        mark_file(beside, FILES)
        return newest, files_summary(newest, snapshot.metadata.partition_columns)

    def _reported(self, write: Callable[[], _Written]) -> _Written:
        self.report("Reading statistics", 0, None, "")
        return write()

    def _write_source(
        self, beside: Path, snapshot: Snapshot, newest: NewestFiles
    ) -> None:
        """Tell what the files were made from.

        That is told only where no fault hides newer versions: whoever goes on from it
        would not see the fault.
        """
        digest = commit_digest(self.store, snapshot.version)
        write_source(beside, snapshot, digest, newest)

    def _facts_of_log(
        self, listing: LogListing, snapshot: Snapshot, history: History
    ) -> dict[str, Any]:
        """What the log holds, and whether the base is of another one."""
        latest = listing.latest_version
        is_rewritten = self.base is not None and self.base.is_of_another_log(
            self.store,
            listing.commits,
            snapshot.version if latest is None else latest,
            history.metadata_ids(),
        )
        return {
            "first_commit": listing.commits[0] if listing.commits else None,
            "is_rewritten": is_rewritten,
            "commit_digest": commit_digest(self.store, snapshot.version) or "",
        }

    def _newest_snapshot(self) -> tuple[Snapshot, DeltaError | None]:
        """The newest snapshot, or the newest before the fault that hides it."""
        try:
            return self.engine.load(), None
        except DeltaError as error:
            fault = error
        for run in reversed(self.table.readable_versions()):
            snapshot = self._newest_of(run)
            if snapshot is not None:
                return snapshot, fault
        raise fault

    def _newest_of(self, run: VersionRun) -> Snapshot | None:
        """The newest version of a run that reads; what follows a fault does not."""
        found, low, high = None, run.first, run.last
        while low <= high:
            middle = (low + high + 1) // 2
            try:
                found = self.engine.load(middle)
            except DeltaError:
                high = middle - 1
            else:
                low = middle + 1
        return found


def _with_listed_totals(
    result: IndexResult, history: History, totals: VersionTotals
) -> IndexResult:
    """Say what the log tells of the files of a newest version that is not read."""
    if history.versions[-1:] != [result.version] or totals.num_files[-1] == UNKNOWN:
        return result
    return replace(
        result,
        num_files=int(totals.num_files[-1]),
        size_bytes=int(totals.size_bytes[-1]),
    )


def _with_fault(result: IndexResult, fault: DeltaError | None) -> IndexResult:
    if fault is None:
        return result
    return replace(
        result,
        is_broken=True,
        error_code=fault.code,
        error=fault.message,
        error_hint=fault.hint,
    )
