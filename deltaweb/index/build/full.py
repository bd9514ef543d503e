"""One table's log to an index folder, in this process.

The Spark pipeline runs this body in its tasks, one table a task. Files are Arrow
columns throughout; only commits are objects, one at a time.
"""

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa

from deltaweb.delta.errors import DeltaError, LogCorruptError, StorageFullError
from deltaweb.delta.log.checkpoints.sidecars import log_size_bytes
from deltaweb.delta.log.overview import load_log_overview
from deltaweb.delta.log.segment import LogListing, VersionRun, load_log_segment
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.environment.own_process import without_collections
from deltaweb.index.build.base_index import (
    ArchivedHistory,
    BaseIndex,
    CannotUpdateError,
    load_base,
)
from deltaweb.index.build.finish import (
    BuildRequest,
    ReadLog,
    WrittenFiles,
    finish_index,
)
from deltaweb.index.build.health_facts import checkpoints_of
from deltaweb.index.build.update import update_index
from deltaweb.index.files.source import commit_digest
from deltaweb.index.folder.file_index import (
    COMMITS,
    METADATA,
    PROTOCOLS,
    written_beside,
)
from deltaweb.index.folder.parts import IndexMissingError
from deltaweb.index.folder.result import IndexResult
from deltaweb.index.history.commit_rows import History
from deltaweb.index.history.engine import Engine, InProcess
from deltaweb.index.history.reader import HistoryReader, Progress
from deltaweb.index.history.version_totals import completed_commits
from deltaweb.index.summary import states_of_versions, version_states
from deltaweb.table import DeltaTable

FILES_WORTH_A_THREAD: Final = 20_000
ATTEMPTS: Final = 3  # at a log whose files go away while they are read

logger = logging.getLogger(__name__)


class LogTooLargeError(Exception):
    """A log has more bytes than the process is to read."""

    def __init__(self, size_bytes: int) -> None:
        super().__init__(f"The log has {size_bytes:,} bytes.")


def index_table(  # noqa: PLR0913 (where to, from what, by what, how far)
    table: DeltaTable,
    folder: Path | str,
    *,
    on_progress: Progress | None = None,
    now_ms: int | None = None,
    engine: Engine | None = None,
    base: Path | str | None = None,
    max_bytes: int | None = None,
) -> IndexResult:
    """Read a table's log and write its index.

    With a base, only what came since is read; `deltaweb.index.build.update` says when
    the whole log is read all the same.

    A newest version that may not be read is indexed by its metadata and history
    alone. Where the end of a log is broken the newest version before it is indexed,
    and the result says so.

    Args:
        folder: The index folder to make; written beside and renamed.
        on_progress: Called with the step, what is done of it, of how much, and the
            unit; it may raise to stop the work.
        base: The folder of the index that the table has, to be updated. An engine
            that is given reads the whole log, and takes from the base what the log
            has lost.

    Returns:
        The facts of the newest version.
    """
    request = BuildRequest(
        table=table,
        folder=Path(folder),
        base=None if base is None else Path(base),
        report=on_progress or _ignore_progress,
        now_ms=int(time.time() * 1000) if now_ms is None else now_ms,
        max_bytes=max_bytes,
    )
    if engine is None:
        result = _updated(request)
        if result is not None:
            return result
    _check_size(table, max_bytes)
    builder = _Builder(request, engine or InProcess(table), _find_base(request.base))
    with without_collections():
        for _ in range(ATTEMPTS - 1):
            try:
                return builder.build()
            except LogCorruptError as fault:
                if not _is_cleaned_away(table.store, fault):
                    raise
                logger.info("The log of %s is read again: %s", table.root, fault)
        return builder.build()


def _is_cleaned_away(store: LogStore, fault: LogCorruptError) -> bool:
    """Tell whether a file was listed, and is gone: somebody cleans the log up."""
    try:
        store.status(fault.path.rsplit("/", 1)[-1])
    except FileNotFoundError:
        return True
    except DeltaError:
        return False  # storage does not answer
    return False


def _updated(request: BuildRequest) -> IndexResult | None:
    """Update the base; None where the log must be read from the start."""
    if request.base is None:
        return None
    root = request.table.root
    try:
        return update_index(request, request.base)
    except StorageFullError:
        raise
    except (CannotUpdateError, DeltaError, OSError, pa.ArrowException) as reason:
        logger.info("The log of %s is read from the start: %s", root, reason)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # Values that were not written so: a disk that forgets must not stop the table.
        logger.warning("An index is corrupt: %s", request.base, exc_info=True)
    return None


def _check_size(table: DeltaTable, max_bytes: int | None) -> None:
    if max_bytes is None:
        return
    try:
        size_bytes = log_size_bytes(table.store, load_log_segment(table.store))
    except DeltaError:
        return  # the index says what is wrong
    if size_bytes > max_bytes:
        raise LogTooLargeError(size_bytes)


def _find_base(folder: Path | None) -> BaseIndex | None:
    """Return the index in a folder; None where it is not whole."""
    try:
        return None if folder is None else load_base(folder)
    except IndexMissingError:
        return None


def _ignore_progress(_step: str, _done: int, _total: int | None, _unit: str) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True)
class _Builder:
    """Reads a whole log.

    Attributes:
        base: The index before, for what the log has lost; None without one.
    """

    request: BuildRequest
    engine: Engine
    base: BaseIndex | None

    def build(self) -> IndexResult:
        report, store = self.request.report, self.request.table.store
        report("Reading the newest snapshot", 0, None, "")
        snapshot, fault = self._newest_snapshot()
        with written_beside(self.request.folder) as beside:
            with (
                self._writing_files(beside, snapshot) as written,
                self.engine.commit_reader(snapshot.version + 1) as read_commits,
            ):
                overview = load_log_overview(store)
                reader = HistoryReader(
                    store, overview, self.engine, read_commits, report
                )
                history, runs = reader.read(snapshot)
                files = written()
            listing = overview.listing
            is_rewritten = self._is_rewritten(listing, snapshot, history)
            archived = ArchivedHistory(
                None if is_rewritten else self.base,
                history.versions[0] if history.versions else snapshot.version,
            )
            totals = reader.read_totals(history, runs, snapshot, files.newest)
            states = version_states(history, runs, totals)
            commits = completed_commits(history, totals, states)
            log = ReadLog(
                snapshot=snapshot,
                files=files,
                rows={
                    COMMITS: archived.commits(commits),
                    METADATA: archived.changes(METADATA, history.metadata_batch()),
                    PROTOCOLS: archived.changes(PROTOCOLS, history.protocol_batch()),
                },
                runs=states_of_versions(snapshot, history, states),
                events=[*archived.events(), *history.events],
                committed_at_ms=reader.times.finish(snapshot.version),
                commit_digest=commit_digest(store, snapshot.version),
                first_commit=listing.commits[0] if listing.commits else None,
                checkpoints=checkpoints_of(
                    store, [one.version for one in listing.checkpoints]
                ),
                is_rewritten=is_rewritten,
                fault=fault,
            )
            return finish_index(self.request, beside, log)

    @contextmanager
    def _writing_files(
        self, beside: Path, snapshot: Snapshot
    ) -> Iterator[Callable[[], WrittenFiles]]:
        """Give what returns the files of a snapshot, once they are written.

        If there are many and the engine allows it, they are written while the history
        is read; otherwise when they are asked for.
        """
        write = partial(self._write_files, beside, snapshot)
        if snapshot.refusal is not None:
            yield partial(WrittenFiles.of, None, snapshot)
        elif snapshot.num_files >= FILES_WORTH_A_THREAD and self.engine.can_share:
            with ThreadPoolExecutor(1) as pool:
                yield partial(self._reported, pool.submit(write).result)
        else:
            yield partial(self._reported, write)

    def _write_files(self, beside: Path, snapshot: Snapshot) -> WrittenFiles:
        newest = self.engine.write_files(beside, snapshot)
        return WrittenFiles.of(newest, snapshot)

    def _reported(self, write: Callable[[], WrittenFiles]) -> WrittenFiles:
        self.request.report("Reading statistics", 0, None, "")
        return write()

    def _is_rewritten(
        self, listing: LogListing, snapshot: Snapshot, history: History
    ) -> bool:
        """Whether the base is of another log."""
        latest = listing.latest_version
        return self.base is not None and self.base.is_of_another_log(
            self.request.table.store,
            listing.commits,
            snapshot.version if latest is None else latest,
            history.metadata_ids(),
        )

    def _newest_snapshot(self) -> tuple[Snapshot, DeltaError | None]:
        """The newest snapshot, or the newest before the fault that hides it."""
        try:
            return self.engine.load(), None
        except DeltaError as error:
            fault = error
        for run in reversed(self.request.table.readable_versions()):
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
