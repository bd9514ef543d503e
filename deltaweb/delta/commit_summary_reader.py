"""Commits in numbers, one value each."""

from collections.abc import Iterator, Mapping

from deltaweb.delta.actions import parse_provenance
from deltaweb.delta.commit_batch import (
    CommitBatch,
    FileNumbers,
    read_commit_batches,
)
from deltaweb.delta.commit_summary import CommitSummary
from deltaweb.delta.commit_times import CommitTimes
from deltaweb.delta.log_store import LogStore


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
    told = times.is_valid().to_numpy(zero_copy_only=False) & ~batch.files.is_add
    owners = batch.files.owners[told].tolist()
    found: dict[int, int] = {}
    for owner, value in zip(owners, times.filter(told).to_pylist(), strict=True):
        found[owner] = max(value, found.get(owner, value))
    return found
