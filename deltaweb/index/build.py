"""One table's log to an index folder, in this process.

The Spark pipeline runs this body in its tasks, one table a task. Files are Arrow
columns throughout; only commits are objects, one at a time.
"""

import time
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from deltaweb.delta.errors import DeltaError, SchemaError
from deltaweb.delta.log_segment import VersionRun, list_log
from deltaweb.delta.log_store import LogStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.commit_files import read_file_actions, starting_files
from deltaweb.index.commit_rows import History
from deltaweb.index.file_index import (
    COMMIT_SCHEMA,
    COMMITS,
    METADATA,
    METADATA_SCHEMA,
    PROTOCOL_SCHEMA,
    PROTOCOLS,
    write_batches,
    write_summary,
    written_beside,
)
from deltaweb.index.file_rows import NewestFiles, write_files
from deltaweb.index.index_result import INDEXED, UNSUPPORTED, IndexResult
from deltaweb.index.index_source import write_source
from deltaweb.index.lifetimes import (
    UNKNOWN,
    FileActions,
    Lifetimes,
    concat_actions,
)
from deltaweb.index.readability import Readability, split_at_faults
from deltaweb.index.stored_values import clean_json, clean_text
from deltaweb.index.summary import table_summary, version_states
from deltaweb.index.version_totals import VersionTotals, completed_commits
from deltaweb.storage.location import open_store
from deltaweb.table import DeltaTable

MAX_FILE_ACTIONS: Final = 4_000_000  # in memory at once; a longer log has no totals

Progress = Callable[[str, int, int | None, str], None]


def build_index(  # noqa: PLR0913 (where, where to, and who is told)
    location: str,
    storage_options: Mapping[str, Any] | None,
    folder: Path | str,
    *,
    on_progress: Progress | None = None,
    now_ms: int | None = None,
    engine: "Engine | None" = None,
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
    )
    try:
        return builder.build(Path(folder))
    except DeltaError as error:
        return IndexResult.from_error(error)


def _no_progress(_step: str, _done: int, _total: int | None, _unit: str) -> None:
    """Tell nobody."""


class Engine(typing.Protocol):
    """Replays versions of one table, and writes their files."""

    def load(self, version: int | None = None) -> Snapshot:
        """Return a version, also when it may not be read; its files may be elsewhere.

        Raises:
            DeltaError: As `DeltaTable.snapshot_metadata` does.
        """
        ...

    def with_files(self, snapshot: Snapshot) -> Snapshot:
        """Return a loaded version with its files in this process."""
        ...

    def write_files(self, folder: Path, snapshot: Snapshot) -> NewestFiles:
        """Write `files.arrow` of a loaded version."""
        ...


@dataclass(frozen=True, slots=True)
class InProcess:
    """Replays in this process."""

    table: DeltaTable

    def load(self, version: int | None = None) -> Snapshot:
        """Return a version, also when it may not be read."""
        return self.table.snapshot_metadata(version)

    def with_files(self, snapshot: Snapshot) -> Snapshot:
        """Return the snapshot itself."""
        return snapshot

    def write_files(self, folder: Path, snapshot: Snapshot) -> NewestFiles:
        """Write `files.arrow`."""
        return write_files(folder, snapshot)


@dataclass(slots=True)
class _Builder:
    """The pieces of one index while it is made."""

    table: DeltaTable
    engine: Engine
    store: LogStore
    report: Progress
    now_ms: int

    def build(self, folder: Path) -> IndexResult:
        self.report("Reading the newest snapshot", 0, None, "")
        snapshot, fault = self._newest_snapshot()
        runs = self.table.readable_versions()
        history = self._read_history(snapshot, runs)
        if history.faults:
            runs = self._readable_runs(runs, history)
        with written_beside(folder) as beside:
            newest = self._write_files(beside, snapshot, is_newest=fault is None)
            totals = self._read_totals(history, runs, snapshot, newest)
            states = version_states(history, runs, totals)
            summary = table_summary(snapshot, newest, history, states, self.now_ms)
            result = _with_fault(_result(folder, snapshot, newest, summary), fault)
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

    def _read_history(self, newest: Snapshot, runs: Sequence[VersionRun]) -> History:
        history = History(root=self.store.root)
        starts = [run.first for run in runs if run.first > 0]
        for summary in self.table.commit_summaries():
            if summary.version > newest.version:
                break
            while starts and starts[0] <= summary.version:
                self._start_run(history, starts.pop(0))
            history.add(summary)
            done = len(history.versions)
            self.report("Replaying the log", done, newest.version + 1, "commits")
        for version in starts:
            self._start_run(history, version)
        return history

    def _readable_runs(
        self, runs: Sequence[VersionRun], history: History
    ) -> list[VersionRun]:
        """The runs without what broken commits keep from being built."""
        checkpoints = [found.version for found in list_log(self.store).checkpoints]
        spans = [(run.first, run.last) for run in runs]
        split = split_at_faults(spans, history.faults, checkpoints)
        return [VersionRun(first, last) for first, last in split]

    def _start_run(self, history: History, version: int) -> None:
        """Take metadata and protocol of a version that only a checkpoint tells."""
        try:
            snapshot = self.engine.load(version)
        except DeltaError:
            return
        history.start_at(version, snapshot.protocol, snapshot.metadata)

    def _read_totals(
        self,
        history: History,
        runs: Sequence[VersionRun],
        snapshot: Snapshot,
        newest: NewestFiles | None,
    ) -> VersionTotals:
        totals = VersionTotals.unknown(history.versions)
        versions = np.array(history.versions, dtype=np.int64)
        for run in runs:
            inside = (versions >= run.first) & (versions <= run.last)
            try:
                lifetimes = self._lifetimes(run, versions[inside].tolist())
            except (DeltaError, FileNotFoundError):
                continue
            if lifetimes is not None:
                positions = versions[inside] - run.first
                totals.take(np.flatnonzero(inside), positions, lifetimes.totals())
                if run.first > 0:
                    totals.forget_removals(versions == run.first)
                vacuums = [v for v in history.vacuums if v.version >= run.first]
                hurt = lifetimes.vacuumed(vacuums)
                totals.vacuumed_by[inside] = hurt[positions]
        refused = np.array([refusal is not None for refusal in history.refusals], bool)
        totals.num_records[refused] = UNKNOWN
        if newest is not None and len(versions) and versions[-1] == snapshot.version:
            totals.set_newest(newest)
        return totals

    def _lifetimes(self, run: VersionRun, commits: list[int]) -> Lifetimes | None:
        parts: list[FileActions] = []
        if not commits or commits[0] > 0 or run.first > 0:
            start = self.engine.load(run.first)
            if start.num_files > MAX_FILE_ACTIONS:
                return None
            start = self.engine.with_files(start)
            rows = start.statistics([])["num_records"]
            parts.append(starting_files(start.files, rows, run.first - 1))
            commits = [version for version in commits if version > run.first]
        total = len(parts[0].keys) if parts else 0

        def report(done: int) -> None:
            self.report("Following the files", done, len(commits), "commits")

        for part in read_file_actions(self.store, commits, report):
            total += len(part.keys)
            if total > MAX_FILE_ACTIONS:
                return None
            parts.append(part)
        return Lifetimes(concat_actions(parts), first=run.first, last=run.last)


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
