"""Commits in numbers, one value each."""

from collections.abc import Iterator
from typing import Any

import pyarrow.compute as pc

from deltaweb.delta.actions import SetTransaction, parse_provenance
from deltaweb.delta.commit_batch import (
    CommitBatch,
    CommitEntry,
    FileNumbers,
    read_commit_batches,
)
from deltaweb.delta.commit_file import parse_transactions
from deltaweb.delta.commit_summary import CommitSummary
from deltaweb.delta.commit_times import CommitTimes
from deltaweb.delta.log_store import LogStore


def read_commit_summaries(
    store: LogStore, times: CommitTimes, start_version: int = 0
) -> Iterator[CommitSummary]:
    """Yield one summary a commit file, ascending by version.

    A commit that does not read is a summary with its `fault` and no counts.
    """
    for batch in read_commit_batches(store, commit_entries(times, start_version)):
        yield from _summaries(batch)


def commit_entries(times: CommitTimes, start_version: int = 0) -> list[CommitEntry]:
    """Return the versions that have a commit file, from one on."""
    found = zip(times.versions, times.times_ms, times.sizes, strict=True)
    return [
        CommitEntry(version, time_ms)
        for version, time_ms, size in found
        if size is not None and version >= start_version
    ]


def _summaries(batch: CommitBatch) -> list[CommitSummary]:
    if batch.fault is not None:
        (entry,), (size_bytes,) = batch.entries, batch.sizes_bytes
        return [
            CommitSummary(
                version=entry.version,
                timestamp_ms=entry.time_ms,
                size_bytes=size_bytes,
                fault=batch.fault,
            )
        ]
    transactions, latest = _transactions(batch), _latest_deletions(batch)
    num_actions = batch.num_actions
    adds, removes = batch.adds, batch.removes
    result = []
    for at, entry in enumerate(batch.entries):
        info = batch.info(at)
        said = parse_provenance(info)
        result.append(
            CommitSummary(
                version=entry.version,
                timestamp_ms=entry.time_ms,
                commit_info=info,
                operation=said.operation or "",
                user_name=said.user or "",
                engine_info=said.engine_info or "",
                parameters=said.parameters,
                metrics=said.metrics,
                num_added_files=int(adds.count[at]),
                num_removed_files=int(removes.count[at]),
                added_bytes=int(adds.size[at]),
                removed_bytes=_known_size(removes, at),
                added_rows=_known_rows(adds, at),
                removed_rows=_known_rows(removes, at),
                data_change=bool(adds.changes[at] or removes.changes[at]),
                metadata=batch.metadata.get(at),
                protocol=batch.protocols.get(at),
                transactions=tuple(transactions.get(at, ())),
                size_bytes=batch.sizes_bytes[at],
                num_actions=int(num_actions[at]),
                max_deletion_timestamp_ms=latest.get(at),
            )
        )
    return result


def _known_size(numbers: FileNumbers, at: int) -> int | None:
    """The bytes, None unless every action of the commit says."""
    return int(numbers.size[at]) if numbers.is_sized[at] else None


def _known_rows(numbers: FileNumbers, at: int) -> int | None:
    """The rows, None unless every action of the commit says."""
    return int(numbers.rows[at]) if numbers.is_counted[at] else None


def _transactions(batch: CommitBatch) -> dict[int, list[SetTransaction]]:
    column = batch.actions.table["txn"]
    found: dict[int, list[SetTransaction]] = {}
    ends = batch.actions.row_ends.tolist()
    for at in batch.has_transactions():
        start = ends[at - 1] if at else 0
        parsed = parse_transactions(column.slice(start, ends[at] - start))
        found[at] = list(parsed.values())
    return found


def _latest_deletions(batch: CommitBatch) -> dict[int, int]:
    """Return the latest deletionTimestamp of each commit that has one."""
    removes: Any = batch.actions.table["remove"]
    column = pc.struct_field(removes, ["deletionTimestamp"])
    owners = batch.owners(pc.indices_nonzero(column.is_valid()).to_numpy())
    values = column.drop_null().to_numpy()
    found: dict[int, int] = {}
    for owner, value in zip(owners.tolist(), values.tolist(), strict=True):
        found[owner] = max(value, found.get(owner, value))
    return found
