"""One table's log to an index folder, in this process.

The Spark pipeline runs this body in its tasks, one table a task. Files are Arrow
columns throughout; only commits are objects, one at a time.
"""

import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import (
    DeltaError,
    SchemaError,
    SchemaMissingError,
)
from deltaweb.delta.log_segment import VersionRun, list_log
from deltaweb.delta.log_store import LogStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.commit_files import read_file_actions, starting_files
from deltaweb.index.commit_rows import History
from deltaweb.index.distribution import partition_totals, size_histogram
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
from deltaweb.index.file_rows import NewestFiles, load_newest_files, write_files
from deltaweb.index.index_result import INDEXED, UNSUPPORTED, IndexResult
from deltaweb.index.lifetimes import (
    UNKNOWN,
    FileActions,
    Flags,
    Lifetimes,
    Longs,
    Totals,
    concat_actions,
)
from deltaweb.index.readability import (
    GONE,
    GONE_REASON,
    PARTLY,
    READABLE,
    Readability,
    fault_reason,
    is_in_runs,
    partly_reason,
    readable_runs,
    split_at_faults,
)
from deltaweb.index.readability import UNSUPPORTED as UNSUPPORTED_VERSION
from deltaweb.storage.location import open_store
from deltaweb.table import DeltaTable

MAX_FILE_ACTIONS: Final = 4_000_000  # in memory at once; a longer log has no totals
DAYS_OF_COMMITS: Final = 30
DAY_MS: Final = 86_400_000
DEFAULT_TARGET_FILE_SIZE: Final = 128 << 20

Progress = Callable[[str, int, int | None, str], None]


def build_index(
    location: str,
    storage_options: Mapping[str, Any] | None,
    folder: Path | str,
    *,
    on_progress: Progress | None = None,
    now_ms: int | None = None,
) -> IndexResult:
    """Read a table's log and write its index.

    A newest version that may not be read is indexed by its metadata and history
    alone. A table that is broken gives a result that says so.

    Args:
        location: A path, or a URL that fsspec knows.
        storage_options: Options of the store.
        folder: The index folder to make; written beside and renamed.
        on_progress: Called with the step, what is done of it, of how much, and the
            unit; it may raise to stop the work.
        now_ms: The time that the days of `commits_30d` end at; now by default.

    Returns:
        The facts of the newest version, or the error's.
    """
    moment_ms = int(time.time() * 1000) if now_ms is None else now_ms
    builder = _Builder(
        table=DeltaTable(location, storage_options),
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


@dataclass(slots=True)
class _Builder:
    """The pieces of one index while it is made."""

    table: DeltaTable
    store: LogStore
    report: Progress
    now_ms: int

    def build(self, folder: Path) -> IndexResult:
        self.report("Reading the newest snapshot", 0, None, "")
        snapshot = self.table.snapshot_metadata()
        runs = self.table.readable_versions()
        history = self._read_history(snapshot, runs)
        if history.faults:
            runs = self._readable_runs(runs, history)
        newest = None
        if snapshot.refusal is None:
            self.report("Reading statistics", 0, None, "")
            newest = load_newest_files(snapshot)
        totals = self._read_totals(history, runs, snapshot, newest)
        states = _version_states(history, runs, totals)
        summary = _summary(snapshot, newest, history, states, self.now_ms)
        result = _result(folder, snapshot, newest, summary)
        self.report("Writing the index", 0, None, "")
        with written_beside(folder) as beside:
            if newest is not None:
                write_files(beside, snapshot, newest)
            _write_history(beside, history, totals, states)
            write_summary(beside, result.to_json())
        return result

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
            snapshot = self.table.snapshot_metadata(version)
        except DeltaError:
            return
        history.start_at(version, snapshot.protocol, snapshot.metadata)

    def _read_totals(
        self,
        history: History,
        runs: Sequence[VersionRun],
        snapshot: Snapshot,
        newest: NewestFiles | None,
    ) -> "_VersionTotals":
        totals = _VersionTotals.unknown(history.versions)
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
            start = self.table.snapshot_metadata(run.first)
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


@dataclass(slots=True, eq=False)
class _VersionTotals:
    """Totals by commit, row for row with the history; `UNKNOWN` where untold."""

    num_files: Longs
    size_bytes: Longs
    num_records: Longs
    removed_bytes: Longs
    removed_rows: Longs
    vacuumed_by: Longs

    @classmethod
    def unknown(cls, versions: Sequence[int]) -> "_VersionTotals":
        return cls(*(np.full(len(versions), UNKNOWN, np.int64) for _ in range(6)))

    def take(self, rows: Longs, positions: Longs, totals: Totals) -> None:
        """Take the totals of a run for the commits at `rows`."""
        self.num_files[rows] = totals.num_files[positions]
        self.size_bytes[rows] = totals.size_bytes[positions]
        self.num_records[rows] = totals.num_records[positions]
        self.removed_bytes[rows] = totals.removed_bytes[positions]
        self.removed_rows[rows] = totals.removed_rows[positions]

    def forget_removals(self, rows: Flags) -> None:
        """What left with the version that a run starts at is not known."""
        self.removed_bytes[rows] = self.removed_rows[rows] = UNKNOWN

    def set_newest(self, newest: NewestFiles) -> None:
        """The newest version has the snapshot's own numbers."""
        self.num_files[-1] = newest.num_files
        self.size_bytes[-1] = newest.size_bytes
        rows = newest.total_records
        self.num_records[-1] = UNKNOWN if rows is None else rows


def _version_states(
    history: History, runs: Sequence[VersionRun], totals: _VersionTotals
) -> list[Readability]:
    spans = [(run.first, run.last) for run in runs]
    can_be_built = is_in_runs(history.versions, spans)
    return [
        _state(refusal, int(vacuum)) if is_built else _gone(version, history.faults)
        for version, is_built, refusal, vacuum in zip(
            history.versions,
            can_be_built,
            history.refusals,
            totals.vacuumed_by,
            strict=True,
        )
    ]


def _gone(version: int, faults: Sequence[int]) -> Readability:
    position = bisect_right(faults, version)
    reason = fault_reason(faults[position - 1]) if position else GONE_REASON
    return Readability(GONE, reason)


def _state(refusal: DeltaError | None, vacuum: int) -> Readability:
    if refusal is not None:
        return Readability(UNSUPPORTED_VERSION, refusal_reason(refusal))
    if vacuum != UNKNOWN:
        return Readability(PARTLY, partly_reason(vacuum))
    return Readability(READABLE)


def refusal_reason(refusal: DeltaError) -> str:
    """Say without a version's number why versions may not be read."""
    if isinstance(refusal, SchemaMissingError):
        return "Its metadata has no schema."
    features = getattr(refusal, "features", ())
    if features:
        return f"It asks for features that are not read yet: {', '.join(features)}."
    return "It asks for a newer reader than this one."


# === Summary ===


def _summary(
    snapshot: Snapshot,
    newest: NewestFiles | None,
    history: History,
    states: Sequence[Readability],
    now_ms: int,
) -> dict[str, Any]:
    known = dict(zip(history.versions, states, strict=True))
    if snapshot.version not in known:  # a checkpoint without its commit
        known[snapshot.version] = _state(snapshot.refusal, UNKNOWN)
    runs = readable_runs(sorted(known.items()), snapshot.version)
    summary: dict[str, Any] = {
        "readable_runs": [list(run) for run in runs],
        "earliest_version": next((r.first for r in runs if r.state != GONE), None),
        "commits_30d": _commits_by_day(history.timestamps_ms, now_ms),
        "target_file_size_bytes": _target_file_size(snapshot.metadata.configuration),
        "events": history.events,
        "size_histogram": {"edges": [], "counts": [], "bytes": []},
        "partitions": [],
        "num_partitions": 0,
        "stats_files": 0,
    }
    if newest is not None:
        partitions, count = partition_totals(
            newest.files, newest.num_records, snapshot.metadata.partition_columns
        )
        summary["size_histogram"] = size_histogram(newest.files["size"])
        summary["partitions"], summary["num_partitions"] = partitions, count
        summary["stats_files"] = newest.num_files - newest.num_records.null_count
    return summary


def _commits_by_day(timestamps_ms: Sequence[int], now_ms: int) -> list[int]:
    """Count commits by UTC day; the last of the days is today's."""
    today = now_ms // DAY_MS
    ages = today - np.array(timestamps_ms, dtype=np.int64) // DAY_MS
    recent = ages[(ages >= 0) & (ages < DAYS_OF_COMMITS)]
    counts: list[int] = np.bincount(recent, minlength=DAYS_OF_COMMITS)[::-1].tolist()
    return counts


def _target_file_size(configuration: Mapping[str, str]) -> int:
    text = configuration.get("delta.targetFileSize", "").strip().lower()
    for suffix, unit in (
        ("gb", 30),
        ("mb", 20),
        ("kb", 10),
        ("g", 30),
        ("m", 20),
        ("b", 0),
    ):
        if text.endswith(suffix):
            text, shift = text.removesuffix(suffix).strip(), unit
            break
    else:
        shift = 0
    if text.isascii() and text.isdigit() and len(text) < len(str(1 << 60)):
        return max(1, int(text) << shift)
    return DEFAULT_TARGET_FILE_SIZE


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
        delta_id=snapshot.metadata.id or "",
        num_files=None if newest is None else newest.num_files,
        size_bytes=None if newest is None else newest.size_bytes,
        num_records=None if newest is None else newest.total_records,
        num_tombstones=None if newest is None else snapshot.tombstones.num_rows,
        num_columns=num_columns,
        partition_columns=list(snapshot.metadata.partition_columns),
        summary=summary,
        error_code=refusal.code if refusal else "",
        error=refusal.message if refusal else "",
        error_hint=refusal.hint if refusal else "",
    )


def _epoch_ms(moment: datetime) -> int:
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000)


# === Files of the index ===


def _write_history(
    folder: Path,
    history: History,
    totals: _VersionTotals,
    states: Sequence[Readability],
) -> None:
    batches = (
        _completed(batch, slice(start, start + batch.num_rows), totals, states)
        for start, batch in history.commit_batches()
    )
    write_batches(folder, COMMITS, COMMIT_SCHEMA, batches)
    write_batches(folder, METADATA, METADATA_SCHEMA, [history.metadata_batch()])
    write_batches(folder, PROTOCOLS, PROTOCOL_SCHEMA, [history.protocol_batch()])


def _completed(
    batch: pa.RecordBatch,
    rows: slice,
    totals: _VersionTotals,
    states: Sequence[Readability],
) -> pa.RecordBatch:
    """Fill in what only all commits together tell."""
    late = {
        "num_files": _nullable(totals.num_files[rows]),
        "size_bytes": _nullable(totals.size_bytes[rows]),
        "num_records": _nullable(totals.num_records[rows]),
        "removed_bytes": pc.coalesce(
            batch["removed_bytes"], _nullable(totals.removed_bytes[rows])
        ),
        "removed_rows": pc.coalesce(
            batch["removed_rows"], _nullable(totals.removed_rows[rows])
        ),
        "readability": pa.array([state.state for state in states[rows]], pa.string()),
        "readability_reason": pa.array(
            [state.reason for state in states[rows]], pa.string()
        ),
    }
    columns = [late.get(name, batch[name]) for name in COMMIT_SCHEMA.names]
    return pa.RecordBatch.from_arrays(columns, schema=COMMIT_SCHEMA)


def _nullable(values: Longs) -> pa.Array:
    return pa.array(values, mask=values == UNKNOWN)
