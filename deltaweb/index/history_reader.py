"""The history of a log: what each commit says, and what held after it.

Commits are read twice: once for what they say (`read`), once for the files that they
add and remove (`read_totals`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log_segment import VersionRun, list_log
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.commit_files import read_file_actions, starting_files
from deltaweb.index.commit_rows import History
from deltaweb.index.engine import Engine
from deltaweb.index.file_rows import NewestFiles
from deltaweb.index.lifetimes import (
    UNKNOWN,
    FileActions,
    Lifetimes,
    concat_actions,
)
from deltaweb.index.readability import split_at_faults
from deltaweb.index.version_totals import VersionTotals
from deltaweb.table import DeltaTable

MAX_FILE_ACTIONS: Final = 4_000_000  # in memory at once; a longer log has no totals

Progress = Callable[[str, int, int | None, str], None]


@dataclass(frozen=True, slots=True)
class HistoryReader:
    """Reads the history of one table up to a version.

    Attributes:
        table: The table.
        engine: What replays versions that only a checkpoint tells.
        report: Called with the step, what is done of it, of how much, and the unit.
    """

    table: DeltaTable
    engine: Engine
    report: Progress

    def read(self, newest: Snapshot) -> tuple[History, list[VersionRun]]:
        """Return what the commits say, and the versions that the log can build."""
        runs = self.table.readable_versions()
        history = self._read_history(newest, runs)
        if history.faults:
            runs = self._readable_runs(runs, history)
        return history, runs

    def _read_history(self, newest: Snapshot, runs: Sequence[VersionRun]) -> History:
        history = History(root=self.table.root)
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
        checkpoints = [
            found.version for found in list_log(self.table.store).checkpoints
        ]
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

    def read_totals(
        self,
        history: History,
        runs: Sequence[VersionRun],
        snapshot: Snapshot,
        newest: NewestFiles | None,
    ) -> VersionTotals:
        """Return what held after each commit.

        Args:
            history: The commits.
            runs: The versions that the log can build.
            snapshot: The newest version.
            newest: Its files; None where it may not be read.
        """
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

        for part in read_file_actions(self.table.store, commits, report):
            total += len(part.keys)
            if total > MAX_FILE_ACTIONS:
                return None
            parts.append(part)
        return Lifetimes(concat_actions(parts), first=run.first, last=run.last)
