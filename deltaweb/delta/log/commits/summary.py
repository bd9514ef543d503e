"""Commits in numbers: what a history page and an index show of each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from deltaweb.delta.log.commits.batch import (
    CommitBatch,
    FileNumbers,
    read_commit_batches,
)
from deltaweb.delta.log.commits.times import CommitTimes
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.actions import (
    Metadata,
    Protocol,
    SetTransaction,
    parse_provenance,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitSummary:
    """What one commit file holds.

    Attributes:
        version: The version that the commit makes.
        timestamp_ms: Time of the commit, made monotonic over the log.
        commit_info: The commitInfo action as it is in the log; None without one.
        operation: Name of the operation; empty when the commit does not say.
        user_name: Who made it; empty when the commit does not say.
        engine_info: Which software made it; empty when the commit does not say.
        parameters: operationParameters where they are an object, else empty.
        metrics: operationMetrics where they are an object, else empty.
        num_added_files: Count of add actions.
        num_removed_files: Count of remove actions.
        added_bytes: Sum of the sizes of the added files.
        removed_bytes: As above for removed ones; None when a size is missing.
        added_rows: Sum of numRecords; None when a file has no statistics.
        removed_rows: As above for removed ones.
        data_change: Whether any file action changes data.
        metadata: The metaData of this commit; None when it has none.
        protocol: The protocol of this commit; None when it has none.
        transactions: The txn actions of this commit.
        size_bytes: Size of the commit file.
        num_actions: Count of lines that hold an action, known or not.
        max_deletion_timestamp_ms: Latest deletionTimestamp of its removes.
        fault: Why the commit does not read, None when it does; without counts then.
    """

    version: int
    timestamp_ms: int
    commit_info: Mapping[str, Any] | None = None
    operation: str = ""
    user_name: str = ""
    engine_info: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    num_added_files: int = 0
    num_removed_files: int = 0
    added_bytes: int = 0
    removed_bytes: int | None = None
    added_rows: int | None = None
    removed_rows: int | None = None
    data_change: bool = False
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    transactions: tuple[SetTransaction, ...] = ()
    size_bytes: int = 0
    num_actions: int = 0
    max_deletion_timestamp_ms: int | None = None
    fault: str | None = None

    @property
    def has_transactions(self) -> bool:
        """Whether the commit notes how far an application has come."""
        return bool(self.transactions)


def read_commit_summaries(
    store: LogStore, times: CommitTimes, start_version: int = 0
) -> Iterator[CommitSummary]:
    """Yield one summary a commit file, ascending by version.

    A commit that does not read is a summary with its `fault` and no counts.
    """
    found = zip(times.versions, times.times_ms, times.sizes, strict=True)
    times_ms = {
        version: time_ms
        for version, time_ms, size in found
        if size is not None and version >= start_version
    }
    for batch in read_commit_batches(store, [*times_ms]):
        yield from _summaries(batch, times_ms)


def _summaries(batch: CommitBatch, times_ms: Mapping[int, int]) -> list[CommitSummary]:
    if batch.fault is not None:
        (version,), (commit,) = batch.versions, batch.commits
        return [
            CommitSummary(
                version=version,
                timestamp_ms=times_ms[version],
                size_bytes=len(commit.data),
                fault=batch.fault,
            )
        ]
    latest = _latest_deletions(batch)
    num_lines = batch.actions.num_lines.tolist()
    adds, removes = batch.adds, batch.removes
    result = []
    for at, version in enumerate(batch.versions):
        info = batch.info(at)
        said = parse_provenance(info)
        result.append(
            CommitSummary(
                version=version,
                timestamp_ms=times_ms[version],
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
                transactions=tuple(batch.transactions.get(at, ())),
                size_bytes=len(batch.commits[at].data),
                num_actions=num_lines[at],
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


def _latest_deletions(batch: CommitBatch) -> dict[int, int]:
    """Return the latest deletionTimestamp of each commit whose removes have one."""
    times = batch.files.deletion_ms
    known = times.is_valid().to_numpy(zero_copy_only=False) & ~batch.files.is_add
    owners = batch.files.owners[known].tolist()
    found: dict[int, int] = {}
    for owner, value in zip(owners, times.filter(known).to_pylist(), strict=True):
        found[owner] = max(value, found.get(owner, value))
    return found
