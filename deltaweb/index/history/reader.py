"""The history of a log: what each commit says, and what held after it.

Commits are read once: `read` takes what they say, and holds the file actions that
`totals` adds up.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.in_commit_timestamps import own_times
from deltaweb.delta.log.commits.times import RunningTimes
from deltaweb.delta.log.overview import LogOverview
from deltaweb.delta.log.segment import VersionRun
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.files.file_rows import NewestFiles
from deltaweb.index.history.commit_files import starting_files
from deltaweb.index.history.commit_part import CommitPart
from deltaweb.index.history.commit_rows import History
from deltaweb.index.history.engine import Engine
from deltaweb.index.history.lifetimes import (
    UNKNOWN,
    FileActions,
    Flags,
    Lifetimes,
    Longs,
    concat_actions,
)
from deltaweb.index.history.pool import ReadCommits
from deltaweb.index.history.readability import split_at_faults
from deltaweb.index.history.version_totals import VersionTotals

MAX_FILE_ACTIONS: Final = 4_000_000  # in memory at once; a longer run has no totals


@dataclass(slots=True, eq=False)
class RunActions:
    """The file actions of each run, as far as memory holds them.

    Attributes:
        runs: The versions that the log can build, ascending.
        limit: How many file actions of one run are held; of a longer one, none.
    """

    runs: Sequence[VersionRun]
    limit: int = MAX_FILE_ACTIONS
    _parts: dict[VersionRun, list[FileActions]] = field(default_factory=dict)
    _counts: dict[VersionRun, int] = field(default_factory=dict)
    _unknown: list[int] = field(default_factory=list)

    def take(self, part: CommitPart) -> None:
        """Take the file actions of the next commits."""
        if part.file_actions is None:
            self._unknown += part.versions
            return
        for run in self.runs:
            actions = _between(part.file_actions, run)
            count = self._counts.get(run, 0) + len(actions.versions)
            self._counts[run] = count
            if count > self.limit:
                self._parts.pop(run, None)
            elif len(actions.versions):
                self._parts.setdefault(run, []).append(actions)

    def of(self, run: VersionRun) -> list[FileActions] | None:
        """Return the file actions of a run, or of some versions of it.

        None where it has too many, or where a commit does not say of which files
        its actions are.
        """
        if any(run.first <= version <= run.last for version in self._unknown):
            return None
        for whole in self.runs:
            if whole.first <= run.first and run.last <= whole.last:
                if self._counts.get(whole, 0) > self.limit:
                    return None
                parts = self._parts.get(whole, [_NOTHING])
                return [_between(actions, run) for actions in parts]
        return [_NOTHING]


_NO_LONGS: Final = np.empty(0, dtype=np.int64)
_NOTHING: Final = FileActions(
    versions=_NO_LONGS,
    keys=pa.array([], pa.string()),
    is_add=np.empty(0, dtype=np.bool_),
    sizes=_NO_LONGS,
    rows=_NO_LONGS,
    deletion_ms=_NO_LONGS,
)


def _between(actions: FileActions, run: VersionRun) -> FileActions:
    versions = actions.versions
    start = int(np.searchsorted(versions, run.first, side="left"))
    end = int(np.searchsorted(versions, run.last, side="right"))
    if end - start == len(versions):
        return actions
    return replace(
        actions,
        versions=versions[start:end],
        keys=actions.keys.slice(start, end - start),
        is_add=actions.is_add[start:end],
        sizes=actions.sizes[start:end],
        rows=actions.rows[start:end],
        deletion_ms=actions.deletion_ms[start:end],
    )


Progress = Callable[[str, int, int | None, str], None]


@dataclass(frozen=True, slots=True, eq=False)
class VersionLives:
    """The files of a run of versions, from when to when each was live.

    Attributes:
        rows: Which commits of the history make versions of the run.
    """

    rows: Flags
    first: int
    versions: Longs
    lifetimes: Lifetimes

    @property
    def positions(self) -> Longs:
        """Where the versions are in what `lifetimes` returns."""
        return self.versions - self.first


@dataclass(slots=True)
class HistoryReader:
    """Reads the history of one table up to a version."""

    store: LogStore
    overview: LogOverview
    engine: Engine
    read_commits: ReadCommits
    report: Progress
    times: RunningTimes = field(default_factory=lambda: RunningTimes({}, {}))
    actions: RunActions = field(default_factory=lambda: RunActions(()))

    def read(self, newest: Snapshot) -> tuple[History, list[VersionRun]]:
        """Return what the commits say, and the versions that the log can build."""
        runs = self.overview.runs
        self.actions = RunActions(runs)
        self.times = RunningTimes(
            self.overview.commit_ms,
            self.overview.checkpoint_ms,
            own=own_times(newest.protocol, newest.metadata),
        )
        history = self._read_history(newest, runs)
        if history.faults:
            runs = self._readable_runs(runs, history)
        return history, runs

    def _read_history(self, newest: Snapshot, runs: Sequence[VersionRun]) -> History:
        history = History(root=self.store.root)
        starts = [run.first for run in runs if run.first > 0]
        commits = self.overview.listing.commits
        commits = commits[: bisect_right(commits, newest.version)]
        first = 0
        for version in starts:
            # Before its own commit, a run takes what its checkpoint says.
            cut = bisect_left(commits, version)
            self._take(history, commits[first:cut], newest)
            self._start_run(history, version)
            first = cut
        self._take(history, commits[first:], newest)
        return history

    def _take(self, history: History, commits: Sequence[int], newest: Snapshot) -> None:
        with closing(self.read_commits(commits)) as parts:
            for part in parts:
                history.take(part.at_times(self.times))
                self.actions.take(part)
                done = len(history.versions)
                self.report("Replaying the log", done, newest.version + 1, "commits")

    def _readable_runs(
        self, runs: Sequence[VersionRun], history: History
    ) -> list[VersionRun]:
        """The runs without what broken commits keep from being built."""
        checkpoints = [found.version for found in self.overview.listing.checkpoints]
        spans = [(run.first, run.last) for run in runs]
        split = split_at_faults(spans, history.faults, checkpoints)
        return [VersionRun(first, last) for first, last in split]

    def _start_run(self, history: History, version: int) -> None:
        """Take metadata and protocol of a version that only a checkpoint has."""
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
        """Return what held after each commit."""
        totals = VersionTotals.unknown(history.versions)
        versions = np.array(history.versions, dtype=np.int64)
        for lives in self.lives(history, runs):
            positions, lifetimes = lives.positions, lives.lifetimes
            totals.take(np.flatnonzero(lives.rows), positions, lifetimes.totals())
            if lives.first > 0:
                totals.forget_removals(versions == lives.first)
            vacuums = [v for v in history.vacuums if v.version >= lives.first]
            totals.take_vacuumed(lives.rows, positions, *lifetimes.vacuumed(vacuums))
        refused = np.array([refusal is not None for refusal in history.refusals], bool)
        totals.num_records[refused] = UNKNOWN
        if newest is not None and len(versions) and versions[-1] == snapshot.version:
            totals.set_newest(newest)
        return totals

    def lives(
        self, history: History, runs: Sequence[VersionRun]
    ) -> Iterator["VersionLives"]:
        """Follow the files through each run of versions; not one that is too long."""
        versions = np.array(history.versions, dtype=np.int64)
        for run in runs:
            self.report("Following the files", 0, None, "")
            inside = (versions >= run.first) & (versions <= run.last)
            try:
                lifetimes = self._lifetimes(run, versions[inside].tolist())
            except (DeltaError, FileNotFoundError):
                continue
            if lifetimes is not None:
                yield VersionLives(inside, run.first, versions[inside], lifetimes)

    def _lifetimes(self, run: VersionRun, commits: list[int]) -> Lifetimes | None:
        parts: list[FileActions] = []
        acting = run
        if not commits or commits[0] > 0 or run.first > 0:
            start = self.engine.load(run.first)
            if start.num_files > self.actions.limit:
                return None
            start = self.engine.with_files(start)
            rows = start.statistics([])["num_records"]
            parts.append(starting_files(start.files, rows, run.first - 1))
            acting = VersionRun(run.first + 1, run.last)
        later = self.actions.of(acting)
        if later is None:
            return None
        parts += later
        if sum(len(part.keys) for part in parts) > self.actions.limit:
            return None
        return Lifetimes(concat_actions(parts), first=run.first, last=run.last)
