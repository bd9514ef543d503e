"""Commits in numbers: what a history page and an index show of each."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from deltaweb.delta.log.commits.batch import CommitBatch, read_commit_batches
from deltaweb.delta.log.commits.provenance import load_object, load_objects
from deltaweb.delta.log.commits.times import CommitTimes
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction

_NOTHING: Final[Mapping[str, Any]] = {}


class CommitSummary(NamedTuple):
    """What one commit file holds; to say it in a sentence takes the first facts alone.

    Attributes:
        operation: Name of the operation; empty when the commit does not say.
        parameters: operationParameters where they are an object, else empty.
        metrics: operationMetrics where they are an object, else empty.
        removed_bytes: As above for removed ones; None when a size is missing.
        added_rows: Sum of numRecords; None when a file has no statistics.
        has_transactions: Whether the commit notes how far an application has come.
        fault: Why the commit does not read, None when it does; without counts then.
        timestamp_ms: Time of the commit, made monotonic over the log.
        commit_info: The commitInfo action as it is in the log; None without one.
    """

    operation: str = ""
    parameters: Mapping[str, Any] = _NOTHING
    metrics: Mapping[str, Any] = _NOTHING
    num_added_files: int = 0
    num_removed_files: int = 0
    added_bytes: int = 0
    removed_bytes: int | None = None
    added_rows: int | None = None
    removed_rows: int | None = None
    data_change: bool = False
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    has_transactions: bool = False
    fault: str | None = None
    version: int = 0
    timestamp_ms: int = 0
    commit_info: Mapping[str, Any] | None = None
    user_name: str = ""
    engine_info: str = ""
    transactions: tuple[SetTransaction, ...] = ()
    size_bytes: int = 0
    num_actions: int = 0
    max_deletion_timestamp_ms: int | None = None


NUMBERS: Final = CommitSummary._fields[3:10]
"""What is added up of the file actions of a commit."""


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


def commit_numbers(batch: CommitBatch) -> dict[str, pa.Array]:
    """Return `NUMBERS` by commit; a faulty commit adds and changes nothing."""
    adds, removes = batch.adds, batch.removes
    is_read = np.full(len(batch.versions), batch.fault is None)
    columns = [
        pa.array(adds.count),
        pa.array(removes.count),
        pa.array(adds.size),
        pa.array(removes.size, mask=~(removes.is_sized & is_read)),
        pa.array(adds.rows, mask=~(adds.is_counted & is_read)),
        pa.array(removes.rows, mask=~(removes.is_counted & is_read)),
        pa.array((adds.changes + removes.changes) > 0),
    ]
    return dict(zip(NUMBERS, columns, strict=True))


def summed_up(
    batch: CommitBatch,
    numbers: Mapping[str, pa.Array],
    parameters: Sequence[Mapping[str, Any]],
) -> list[CommitSummary]:
    """Return commits with all that a sentence says of each, and no more.

    Args:
        numbers: What `commit_numbers` says of them.
    """
    said = batch.provenance
    positions = range(len(batch.versions))
    columns = [
        [operation or "" for operation in said.operations],
        parameters,
        load_objects(said.metrics),
        *(numbers[name].to_pylist() for name in NUMBERS),
        [batch.metadata.get(at) for at in positions],
        [batch.protocols.get(at) for at in positions],
        [at in batch.transactions for at in positions],
        repeat(batch.fault),
    ]
    return [*map(CommitSummary, *columns)]


def _summaries(
    batch: CommitBatch, times_ms: Mapping[int, int]
) -> Iterator[CommitSummary]:
    latest = _latest_deletions(batch)
    num_lines = batch.actions.num_lines.tolist()
    said = batch.provenance
    parameters = [*map(load_object, said.parameters)]
    briefs = summed_up(batch, commit_numbers(batch), parameters)
    for at, (version, brief) in enumerate(zip(batch.versions, briefs, strict=True)):
        yield brief._replace(
            version=version,
            timestamp_ms=times_ms[version],
            commit_info=batch.info(at),
            user_name=said.users[at] or "",
            engine_info=said.engine_infos[at] or "",
            transactions=tuple(batch.transactions.get(at, ())),
            size_bytes=len(batch.commits[at].data),
            num_actions=num_lines[at],
            max_deletion_timestamp_ms=latest.get(at),
        )


def _latest_deletions(batch: CommitBatch) -> dict[int, int]:
    """Return the latest deletionTimestamp of each commit whose removes have one."""
    times = batch.files.deletion_ms
    known = times.is_valid().to_numpy(zero_copy_only=False) & ~batch.files.is_add
    owners = batch.files.owners[known].tolist()
    found: dict[int, int] = {}
    for owner, value in zip(owners, times.filter(known).to_pylist(), strict=True):
        found[owner] = max(value, found.get(owner, value))
    return found
