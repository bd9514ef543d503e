"""Commits in numbers, read in batches."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.action_json import PRESENCE, ActionBatch, CommitData, parse_actions
from deltaweb.delta.action_values import parse_metadata, parse_protocol
from deltaweb.delta.actions import CommitInfo, SetTransaction
from deltaweb.delta.commit_file import (
    TRANSACTION,
    parse_transactions,
    raw_actions,
    read_commits,
)
from deltaweb.delta.commit_summary import CommitSummary
from deltaweb.delta.commit_times import CommitTimes
from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log_path import commit_name
from deltaweb.delta.log_store import LogStore
from deltaweb.delta.schema import StructType
from deltaweb.delta.statistics import read_statistics

Counts = np.ndarray[Any, np.dtype[np.int64]]

_FILE_ACTION: Final = [
    pa.field("path", pa.string()),
    pa.field("size", pa.int64()),
    pa.field("dataChange", pa.bool_()),
    pa.field("stats", pa.string()),
]
SUMMARY_SCHEMA: Final = pa.schema(
    [
        pa.field("add", pa.struct(_FILE_ACTION)),
        pa.field(
            "remove",
            pa.struct([*_FILE_ACTION, pa.field("deletionTimestamp", pa.int64())]),
        ),
        pa.field("txn", TRANSACTION),
        pa.field("protocol", PRESENCE),
        pa.field("metaData", PRESENCE),
        pa.field("commitInfo", PRESENCE),
    ]
)


def read_commit_summaries(
    store: LogStore, times: CommitTimes, start_version: int = 0
) -> Iterator[CommitSummary]:
    """Yield one summary a commit file, ascending by version.

    A commit that does not read is a summary with its `fault` and no counts.
    """
    kept = [
        (version, time_ms)
        for version, time_ms, size in zip(
            times.versions, times.times_ms, times.sizes, strict=True
        )
        if version >= start_version and size is not None
    ]
    first = 0
    for commits in read_commits(store, [commit_name(version) for version, _ in kept]):
        yield from _summarize(commits, kept[first : first + len(commits)])
        first += len(commits)


def _summarize(
    commits: Sequence[CommitData], shown: Sequence[tuple[int, int]]
) -> list[CommitSummary]:
    try:
        batch = parse_actions(commits, SUMMARY_SCHEMA)
        return _BatchSummary(batch, commits, shown).summaries()
    except LogCorruptError as fault:
        if len(commits) == 1:
            return [_faulty(commits[0], *shown[0], fault=fault)]
    return [
        summary
        for commit, one in zip(commits, shown, strict=True)
        for summary in _summarize([commit], [one])
    ]


def _faulty(
    commit: CommitData, version: int, time_ms: int, *, fault: LogCorruptError
) -> CommitSummary:
    return CommitSummary(
        version=version,
        timestamp_ms=time_ms,
        size_bytes=len(commit.data),
        fault=fault.reason,
    )


class _BatchSummary:
    """The numbers of each commit of one batch, by column."""

    def __init__(
        self,
        batch: ActionBatch,
        commits: Sequence[CommitData],
        shown: Sequence[tuple[int, int]],
    ) -> None:
        self.batch = batch
        self.commits = commits
        self.shown = shown
        self.position = {commit.name: at for at, commit in enumerate(commits)}
        self.adds = _FileNumbers(batch, "add")
        self.removes = _FileNumbers(batch, "remove")

    def summaries(self) -> list[CommitSummary]:
        infos = self._last("commitInfo")
        protocols, metadata = self._last("protocol"), self._last("metaData")
        transactions = self._transactions()
        lines = np.diff(self.batch.row_ends, prepend=0)
        latest = self._latest_deletions()
        result = []
        for at, (version, time_ms) in enumerate(self.shown):
            path = self.commits[at].name
            raw = infos.get(at)
            info = CommitInfo.from_raw(raw, version=version, timestamp_ms=time_ms)
            result.append(
                CommitSummary(
                    version=version,
                    timestamp_ms=time_ms,
                    commit_info=raw,
                    operation=info.operation or "",
                    user_name=info.user or "",
                    engine_info=info.engine_info or "",
                    parameters=info.parameters,
                    metrics=info.metrics,
                    num_added_files=int(self.adds.count[at]),
                    num_removed_files=int(self.removes.count[at]),
                    added_bytes=int(self.adds.size[at]),
                    removed_bytes=self.removes.known_size(at),
                    added_rows=self.adds.known_rows(at),
                    removed_rows=self.removes.known_rows(at),
                    data_change=bool(self.adds.changes[at] or self.removes.changes[at]),
                    metadata=(
                        parse_metadata(metadata[at], path=path)
                        if at in metadata
                        else None
                    ),
                    protocol=(
                        parse_protocol(protocols[at], path=path)
                        if at in protocols
                        else None
                    ),
                    transactions=tuple(transactions.get(at, ())),
                    size_bytes=len(self.commits[at].data),
                    num_actions=int(lines[at]),
                    max_deletion_timestamp_ms=latest.get(at),
                )
            )
        return result

    def _last(self, action: str) -> dict[int, dict[str, Any]]:
        """Return the last action of a kind of each commit that has one."""
        return {
            self.position[path]: raw
            for path, raw in raw_actions(self.batch, action, self.commits)
        }

    def _transactions(self) -> dict[int, list[SetTransaction]]:
        column = self.batch.table["txn"]
        found: dict[int, list[SetTransaction]] = {}
        if column.null_count == len(column):
            return found
        start = 0
        for at, end in enumerate(self.batch.row_ends.tolist()):
            parsed = parse_transactions(column.slice(start, end - start))
            if parsed:
                found[at] = list(parsed.values())
            start = end
        return found

    def _latest_deletions(self) -> dict[int, int]:
        """Return the latest deletionTimestamp of each commit that has one."""
        column = pc.struct_field(self.batch.table["remove"], ["deletionTimestamp"])
        rows = pc.indices_nonzero(column.is_valid()).to_numpy()
        values = column.drop_null().to_numpy()
        owners = np.searchsorted(self.batch.row_ends, rows, side="right")
        found: dict[int, int] = {}
        for owner, value in zip(owners.tolist(), values.tolist(), strict=True):
            found[owner] = max(value, found.get(owner, value))
        return found


class _FileNumbers:
    """Counts and sums of one kind of file action, one a commit.

    Attributes:
        count: Actions.
        size: Bytes, of those that say.
        changes: Actions that change data; one that does not say does.
    """

    def __init__(self, batch: ActionBatch, action: str) -> None:
        column = batch.table[action]
        self._row_ends = batch.row_ends
        is_valid = column.is_valid()
        sizes = pc.struct_field(column, ["size"])
        changes = pc.fill_null(pc.struct_field(column, ["dataChange"]), fill_value=True)
        self.count = self._sum(is_valid)
        self.size = self._sum(pc.fill_null(sizes, 0))
        self.changes = self._sum(pc.and_(is_valid, changes))
        self._sized = self._sum(sizes.is_valid())
        rows = _num_records(pc.struct_field(column, ["stats"]))
        self._rows = self._sum(pc.fill_null(rows, 0))
        self._counted = self._sum(rows.is_valid())

    def known_size(self, at: int) -> int | None:
        """The bytes, None unless every action of the commit says."""
        return int(self.size[at]) if self._sized[at] == self.count[at] else None

    def known_rows(self, at: int) -> int | None:
        """The rows, None unless every action of the commit says."""
        return int(self._rows[at]) if self._counted[at] == self.count[at] else None

    def _sum(self, values: pa.ChunkedArray) -> Counts:
        numbers = values.cast(pa.int64()).to_numpy()
        totals = np.concatenate([[0], np.cumsum(numbers)])[self._row_ends]
        sums: Counts = np.diff(totals, prepend=0)
        return sums


def _num_records(stats: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numRecords of each action that has it."""
    if stats.null_count == len(stats):
        return pa.chunked_array([pa.nulls(len(stats), pa.int64())])
    return read_statistics(stats, None, StructType(()), [])["num_records"]
