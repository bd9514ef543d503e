"""One table's log to an index folder, in this process.

The Spark pipeline runs this body in its tasks, one table a task. Files are Arrow
columns throughout; only commits are objects, one at a time.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deltaweb.delta.errors import DeltaError, SchemaError
from deltaweb.delta.log_segment import VersionRun, list_log
from deltaweb.delta.log_store import LogStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.base_index import BaseIndex, load_base
from deltaweb.index.commit_rows import History
from deltaweb.index.engine import Engine, InProcess
from deltaweb.index.file_index import (
    COMMIT_SCHEMA,
    COMMITS,
    METADATA,
    METADATA_SCHEMA,
    PROTOCOL_SCHEMA,
    PROTOCOLS,
    IndexMissingError,
    write_batches,
    write_summary,
    written_beside,
)
from deltaweb.index.file_rows import NewestFiles
from deltaweb.index.history_reader import HistoryReader, Progress
from deltaweb.index.index_result import INDEXED, UNSUPPORTED, IndexResult
from deltaweb.index.index_source import commit_digest, write_source
from deltaweb.index.readability import Readability
from deltaweb.index.stored_values import clean_json, clean_text
from deltaweb.index.summary import table_summary, version_states
from deltaweb.index.version_totals import VersionTotals, completed_commits
from deltaweb.storage.location import open_store
from deltaweb.table import DeltaTable


def build_index(  # noqa: PLR0913 (where, where to, and who is told)
    location: str,
    storage_options: Mapping[str, Any] | None,
    folder: Path | str,
    *,
    on_progress: Progress | None = None,
    now_ms: int | None = None,
    engine: Engine | None = None,
    base: Path | str | None = None,
) -> IndexResult:
    """Read a table's log and write its index.

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
        base: The folder of the index that the table has, to go on from.

    Returns:
        The facts of the newest version, or the error's.
    """
    moment_ms = int(time.time() * 1000) if now_ms is None else now_ms
    table = DeltaTable(location, storage_options)
    builder = _Builder(
        table=table,
        engine=engine or InProcess(table),
        store=open_store(location, storage_options),
        report=on_progress or _no_progress,
        now_ms=moment_ms,
        base=None if base is None else _find_base(Path(base)),
    )
    try:
        return builder.build(Path(folder))
    except DeltaError as error:
        return IndexResult.from_error(error)


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
        reader = HistoryReader(self.table, self.engine, self.report)
        history, runs = reader.read(snapshot)
        with written_beside(folder) as beside:
            newest = self._write_files(beside, snapshot, is_newest=fault is None)
            totals = reader.read_totals(history, runs, snapshot, newest)
            states = version_states(history, runs, totals)
            summary = table_summary(snapshot, newest, history, states, self.now_ms)
            result = _result(folder, snapshot, newest, summary)
            result = self._of_log(_with_fault(result, fault), history)
            self.report("Writing the index", 0, None, "")
            _write_history(beside, history, totals, states)
            write_summary(beside, result.to_json())
        return result

    def _write_files(
        self, beside: Path, snapshot: Snapshot, *, is_newest: bool
    ) -> NewestFiles | None:
        """Write the files of a snapshot; none where it may not be read.

        What it was made from is told only where no fault hides newer versions:
        whoever goes on from it would not see the fault.
        """
        if snapshot.refusal is not None:
            return None
        self.report("Reading statistics", 0, None, "")
        newest = self.engine.write_files(beside, snapshot)
        if is_newest:
            write_source(beside, snapshot, self.store, newest)
        return newest

    def _of_log(self, result: IndexResult, history: History) -> IndexResult:
        """Add what the log holds, and whether the base is of another one."""
        listing = list_log(self.store)
        version = result.version or 0
        is_rewritten = self.base is not None and self.base.is_of_another_log(
            self.store,
            listing.commits,
            version if listing.latest_version is None else listing.latest_version,
            history.metadata_ids(),
        )
        return replace(
            result,
            first_commit=listing.commits[0] if listing.commits else None,
            is_rewritten=is_rewritten,
            commit_digest=commit_digest(self.store, version) or "",
        )

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


def _result(
    folder: Path,
    snapshot: Snapshot,
    newest: NewestFiles | None,
    summary: dict[str, Any],
) -> IndexResult:
    try:
        num_columns = len(snapshot.schema.fields)
    except SchemaError:
        num_columns = None
    refusal = snapshot.refusal
    return IndexResult(
        state=UNSUPPORTED if newest is None else INDEXED,
        folder=str(folder),
        version=snapshot.version,
        committed_at_ms=_epoch_ms(snapshot.timestamp),
        delta_id=clean_text(snapshot.metadata.id or ""),
        num_files=None if newest is None else newest.num_files,
        size_bytes=None if newest is None else newest.size_bytes,
        num_records=None if newest is None else newest.total_records,
        num_tombstones=None if newest is None else newest.num_tombstones,
        num_columns=num_columns,
        partition_columns=clean_json(list(snapshot.metadata.partition_columns)),
        summary=clean_json(summary),
        error_code=refusal.code if refusal else "",
        error=refusal.message if refusal else "",
        error_hint=refusal.hint if refusal else "",
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


def _epoch_ms(moment: datetime) -> int:
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000)


# === Files of the index ===


def _write_history(
    folder: Path,
    history: History,
    totals: VersionTotals,
    states: Sequence[Readability],
) -> None:
    batches = (
        completed_commits(batch, slice(start, start + batch.num_rows), totals, states)
        for start, batch in history.commit_batches()
    )
    write_batches(folder, COMMITS, COMMIT_SCHEMA, batches)
    write_batches(folder, METADATA, METADATA_SCHEMA, [history.metadata_batch()])
    write_batches(folder, PROTOCOLS, PROTOCOL_SCHEMA, [history.protocol_batch()])
