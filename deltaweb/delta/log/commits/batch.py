"""Commits in batches: their bytes are parsed once, their numbers are columns.

Whoever shows a history needs what each commit says of itself, how many files and
bytes it adds and removes, and which files these are. All of that comes from one pass
over the bytes. A commit that does not read is a batch of its own, with less in it.

Source: delta_protocol.md, "Delta Log Entries".
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.commits.actions import (
    CommitActions,
    FileActionRows,
    Flags,
    no_actions,
)
from deltaweb.delta.log.commits.arrow_reader import (
    BYTE_ORDER_MARK,
    CommitData,
    Longs,
    load_json,
)
from deltaweb.delta.log.commits.columns import (
    SCHEMA,
    SCHEMA_WITHOUT_VECTORS,
    parse_columns,
)
from deltaweb.delta.log.commits.fields import COMMIT_INFO
from deltaweb.delta.log.commits.msgspec_reader import parse_lines
from deltaweb.delta.log.commits.provenance import Provenances
from deltaweb.delta.log.commits.reading import read_commits
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.action_values import parse_metadata, parse_protocol
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.environment.own_process import without_collections

BATCH_BYTES: Final = 8 << 20


class FileNumbers:
    """Counts and sums of one kind of file action, one a commit.

    Attributes:
        changes: Actions that change data; one that does not say does.
    """

    def __init__(self, files: FileActionRows, kind: Flags, num_commits: int) -> None:
        self._kind = kind
        self._ends = np.searchsorted(files.owners, np.arange(num_commits), side="right")
        self.count = self._sum(kind)
        self.size = self._sum(_longs(files.sizes))
        changes = pc.fill_null(files.changes, fill_value=True)
        self.changes = self._sum(changes.to_numpy(zero_copy_only=False))
        self.is_sized = self._sum(_is_known(files.sizes)) == self.count
        self.rows = self._sum(_longs(files.num_records))
        self.is_counted = self._sum(_is_known(files.num_records)) == self.count

    def _sum(self, values: Longs | Flags) -> Longs:
        totals = np.cumsum(np.where(self._kind, values, 0), dtype=np.int64)
        sums: Longs = np.diff(np.concatenate([[0], totals])[self._ends], prepend=0)
        return sums


def _longs(values: pa.Int64Array) -> Longs:
    filled: Longs = pc.fill_null(values, 0).to_numpy(zero_copy_only=False)
    return filled


def _is_known(values: pa.Int64Array) -> Flags:
    known: Flags = values.is_valid().to_numpy(zero_copy_only=False)
    return known


@dataclass(frozen=True, eq=False)
class CommitBatch:
    """Some commits, oldest first, parsed.

    Attributes:
        metadata: The last metaData of each that has one, by position.
        has_identities: Whether it is known which files the actions are about.
        fault: Why the one commit of the batch does not read; None where they do. It
            has no actions then.
    """

    versions: Sequence[int]
    commits: Sequence[CommitData]
    actions: CommitActions
    metadata: Mapping[int, Metadata]
    protocols: Mapping[int, Protocol]
    has_identities: bool = True
    fault: str | None = None

    @property
    def files(self) -> FileActionRows:
        return self.actions.files

    @cached_property
    def adds(self) -> FileNumbers:
        return FileNumbers(self.files, self.files.is_add, len(self.versions))

    @cached_property
    def removes(self) -> FileNumbers:
        return FileNumbers(self.files, ~self.files.is_add, len(self.versions))

    @property
    def provenance(self) -> Provenances:
        return self.actions.provenance

    @property
    def transactions(self) -> Mapping[int, Sequence[SetTransaction]]:
        """What commits note of applications, by position."""
        return self.actions.transactions

    def info(self, at: int) -> Mapping[str, Any] | None:
        """Return the last commitInfo of a commit as it is in the log, if it has one."""
        lines = self.commits[at].data.removeprefix(BYTE_ORDER_MARK).split(b"\n")
        for line in reversed([] if self.fault else lines):
            # A key that is written with escapes is one too.
            if COMMIT_INFO.encode() in line or b"\\u" in line:
                info: Mapping[str, Any] | None = load_json(line).get(COMMIT_INFO)
                if isinstance(info, dict):
                    return info
        return None


def read_commit_batches(
    store: LogStore, versions: Sequence[int]
) -> Generator[CommitBatch, None, None]:
    """Read commits, each once, in batches of about `BATCH_BYTES`.

    Of many, the next batch is parsed while the one before is worked on; who stops
    early closes the generator.
    """
    batches = _read_batches(store, versions)
    first, second = next(batches, None), next(batches, None)
    if first is None:
        return
    if second is None:
        yield from _parsed(*first)
        return
    following = chain([second], batches)
    # Values of JSON hold no circle, and go away with their batch.
    with ThreadPoolExecutor(1) as pool, without_collections():
        coming = pool.submit(_parse_wholly, *first)
        del first, second  # their bytes are many
        for batch in following:
            parsed = coming.result()
            coming = pool.submit(_parse_wholly, *batch)
            yield from parsed
            del parsed
        yield from coming.result()


def _read_batches(
    store: LogStore, versions: Sequence[int]
) -> Iterator[tuple[Sequence[CommitData], Sequence[int]]]:
    names = [*map(commit_name, versions)]
    first = 0
    for commits in read_commits(store, names, batch_bytes=BATCH_BYTES):
        yield commits, versions[first : first + len(commits)]
        first += len(commits)


def _parse_wholly(
    commits: Sequence[CommitData], versions: Sequence[int]
) -> list[CommitBatch]:
    """Parse commits and add up their numbers."""
    batches = [*_parsed(commits, versions)]
    for batch in batches:
        _ = batch.adds, batch.removes
    return batches


def _parsed(
    commits: Sequence[CommitData], versions: Sequence[int]
) -> Iterator[CommitBatch]:
    """Parse commits at once; around one that does not read, by halves."""
    try:
        actions = parse_lines(commits) or parse_columns(commits, SCHEMA)
        yield _batch(commits, versions, actions)
    except LogCorruptError:
        if len(commits) > 1:
            middle = len(commits) // 2
            yield from _parsed(commits[:middle], versions[:middle])
            yield from _parsed(commits[middle:], versions[middle:])
            return
        yield _parse_numbers(commits, versions)


def _batch(
    commits: Sequence[CommitData],
    versions: Sequence[int],
    actions: CommitActions,
) -> CommitBatch:
    """Check what is one a commit."""
    return CommitBatch(
        versions,
        commits,
        actions,
        metadata={
            at: parse_metadata(raw, path=commits[at].name)
            for at, raw in actions.metadata.items()
        },
        protocols={
            at: parse_protocol(raw, path=commits[at].name)
            for at, raw in actions.protocols.items()
        },
    )


def _parse_numbers(
    commits: Sequence[CommitData], versions: Sequence[int]
) -> CommitBatch:
    """Parse one commit whose deletion vectors, or more, are not as they should be."""
    try:
        actions = parse_columns(commits, SCHEMA_WITHOUT_VECTORS)
        batch = _batch(commits, versions, actions)
    except LogCorruptError as fault:
        return CommitBatch(
            versions,
            commits,
            no_actions(len(commits)),
            metadata={},
            protocols={},
            has_identities=False,
            fault=fault.reason,
        )
    return replace(batch, has_identities=False)
