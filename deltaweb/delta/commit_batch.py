"""Commits in batches: their bytes are parsed once, their numbers are columns.

Whoever shows a history needs what each commit says of itself, how many files and
bytes it adds and removes, and which files these are. All of that comes from one pass
over the bytes. A commit that does not read is a batch of its own, with less in it.

Source: delta_protocol.md, "Delta Log Entries".
"""

import gc
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.action_json import (
    PRESENCE,
    ActionBatch,
    CommitData,
    Longs,
    load_json,
    load_rows,
    parse_actions,
)
from deltaweb.delta.action_values import parse_metadata, parse_protocol
from deltaweb.delta.actions import Metadata, Protocol
from deltaweb.delta.commit_file import TRANSACTION, owned_actions, read_commits
from deltaweb.delta.commit_heads import CutCommits, cut_heads
from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.file_actions import DELETION_VECTOR
from deltaweb.delta.log_path import commit_name
from deltaweb.delta.log_store import LogStore
from deltaweb.delta.provenance import (
    SAYS_NOTHING,
    RawProvenance,
    cut_provenance,
    write_provenance,
)
from deltaweb.delta.record_counts import record_counts

BATCH_BYTES: Final = 8 << 20
_FILE_ACTION: Final = [
    pa.field("path", pa.string()),
    pa.field("size", pa.int64()),
    pa.field("dataChange", pa.bool_()),
    pa.field("stats", pa.string()),
]
_DELETION_TIME: Final = pa.field("deletionTimestamp", pa.int64())
_VECTOR: Final = pa.field("deletionVector", DELETION_VECTOR)
COMMIT_INFO: Final = "commitInfo"


def _actions_schema(*identity: pa.Field) -> pa.Schema:
    return pa.schema(
        [
            pa.field("add", pa.struct([*_FILE_ACTION, *identity])),
            pa.field("remove", pa.struct([*_FILE_ACTION, _DELETION_TIME, *identity])),
            pa.field("txn", TRANSACTION),
            pa.field("protocol", PRESENCE),
            pa.field("metaData", PRESENCE),
            pa.field(COMMIT_INFO, PRESENCE),
        ]
    )


SCHEMA: Final = _actions_schema(_VECTOR)
SCHEMA_WITHOUT_VECTORS: Final = _actions_schema()


class CommitEntry(NamedTuple):
    """A commit as a listing shows it; `time_ms` is made monotonic over the log."""

    version: int
    time_ms: int


class FileNumbers:
    """Counts and sums of one kind of file action, one a commit.

    Attributes:
        count: Actions.
        size: Bytes, of those that say.
        changes: Actions that change data; one that does not say does.
        is_sized: Whether every action of the commit says its size.
        rows: Rows, of those that say.
        is_counted: Whether every action of the commit says its rows.
        num_records: Rows of each action, null where it does not say; a value a line.
    """

    def __init__(self, actions: pa.ChunkedArray, row_ends: Longs) -> None:
        self._row_ends = row_ends
        is_valid = actions.is_valid()
        sizes = pc.struct_field(actions, ["size"])
        changes = pc.struct_field(actions, ["dataChange"])
        changes = pc.fill_null(changes, fill_value=True)
        self.num_records = record_counts(pc.struct_field(actions, ["stats"]))
        self.count = self._sum(is_valid)
        self.size = self._sum(pc.fill_null(sizes, 0))
        self.changes = self._sum(pc.and_(is_valid, changes))
        self.is_sized = self._sum(sizes.is_valid()) == self.count
        self.rows = self._sum(pc.fill_null(self.num_records, 0))
        self.is_counted = self._sum(self.num_records.is_valid()) == self.count

    def _sum(self, values: pa.ChunkedArray) -> Longs:
        numbers = values.cast(pa.int64()).to_numpy()
        totals = np.concatenate([[0], np.cumsum(numbers)])[self._row_ends]
        sums: Longs = np.diff(totals, prepend=0)
        return sums


@dataclass(frozen=True, eq=False)
class CommitBatch:
    """Some commits, oldest first, parsed.

    Attributes:
        entries: Version and time of each.
        sizes_bytes: Size of each commit file.
        actions: Their actions by `SCHEMA`, or without deletion vectors; without a
            commitInfo that a commit begins with.
        heads: The lines of these, by position.
        provenance: What the last commitInfo of each says.
        info_lines: The line that it is of, by position.
        metadata: The last metaData of each that has one, by position.
        protocols: The last protocol of each that has one, by position.
        fault: Why the one commit of the batch does not read; None where they do. It
            has no actions then.
    """

    entries: Sequence[CommitEntry]
    sizes_bytes: Sequence[int]
    actions: ActionBatch
    heads: Mapping[int, bytes]
    provenance: Sequence[RawProvenance]
    info_lines: Mapping[int, bytes]
    metadata: Mapping[int, Metadata]
    protocols: Mapping[int, Protocol]
    fault: str | None = None

    @cached_property
    def adds(self) -> FileNumbers:
        """The numbers of the files that each commit adds."""
        return FileNumbers(self.actions.table["add"], self.actions.row_ends)

    @cached_property
    def removes(self) -> FileNumbers:
        """The numbers of the files that each commit removes."""
        return FileNumbers(self.actions.table["remove"], self.actions.row_ends)

    def info(self, at: int) -> Mapping[str, Any] | None:
        """Return the last commitInfo of a commit as it is in the log, if it has one."""
        line = self.info_lines.get(at)
        if line is None:
            return None
        found: Mapping[str, Any] = load_json(line)[COMMIT_INFO]
        return found

    @property
    def has_identities(self) -> bool:
        """Whether it is known which files the actions are about."""
        kind = self.actions.table.schema.field("add").type
        return self.fault is None and bool(kind.get_field_index(_VECTOR.name) >= 0)

    @property
    def num_actions(self) -> Longs:
        """Count of lines of each commit that hold an action, known or not."""
        lines: Longs = np.diff(self.actions.row_ends, prepend=0)
        lines[[*self.heads]] += 1
        return lines

    def owners(self, rows: Longs) -> Longs:
        """Return the position of the commit that each line belongs to."""
        found: Longs = np.searchsorted(self.actions.row_ends, rows, side="right")
        return found

    def has_transactions(self) -> set[int]:
        """Return the positions of the commits that note a transaction."""
        column = self.actions.table["txn"]
        if column.null_count == len(column):
            return set()
        parts = [pc.struct_field(column, [name]) for name in ("appId", "version")]
        whole = pc.and_(parts[0].is_valid(), parts[1].is_valid())
        return set(self.owners(pc.indices_nonzero(whole).to_numpy()).tolist())


def read_commit_batches(
    store: LogStore, entries: Sequence[CommitEntry]
) -> Generator[CommitBatch, None, None]:
    """Read commits, each once, in batches of about `BATCH_BYTES`.

    Of many, the next batch is parsed while the one before is worked on; who stops
    early closes the generator.

    Args:
        store: The table's log.
        entries: The commits, oldest first.

    Raises:
        LogCorruptError: If a commit is gone since it was listed.
    """
    batches = _read_batches(store, entries)
    first, second = next(batches, None), next(batches, None)
    if first is None:
        return
    if second is None:
        yield from _parsed(*first)
        return
    following = chain([second], batches)
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
    store: LogStore, entries: Sequence[CommitEntry]
) -> Iterator[tuple[Sequence[CommitData], Sequence[CommitEntry]]]:
    names = [commit_name(entry.version) for entry in entries]
    first = 0
    for commits in read_commits(store, names, batch_bytes=BATCH_BYTES):
        yield commits, entries[first : first + len(commits)]
        first += len(commits)


@contextmanager
def without_collections() -> Iterator[None]:
    """Keep the garbage collector from looking at every value of a long history.

    They are JSON, which holds no circle, and go away with their batch.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _parse_wholly(
    commits: Sequence[CommitData], entries: Sequence[CommitEntry]
) -> list[CommitBatch]:
    """Parse commits and add up their numbers."""
    batches = [*_parsed(commits, entries)]
    for batch in batches:
        _ = batch.adds, batch.removes
    return batches


def _parsed(
    commits: Sequence[CommitData], entries: Sequence[CommitEntry]
) -> Iterator[CommitBatch]:
    """Parse commits at once; around one that does not read, by halves."""
    try:
        yield _parse(commits, entries, SCHEMA)
    except LogCorruptError:
        if len(commits) > 1:
            middle = len(commits) // 2
            yield from _parsed(commits[:middle], entries[:middle])
            yield from _parsed(commits[middle:], entries[middle:])
            return
        yield _parse_numbers(commits, entries)


def _parse_numbers(
    commits: Sequence[CommitData], entries: Sequence[CommitEntry]
) -> CommitBatch:
    """Parse one commit whose deletion vectors, or more, are not as they should be."""
    try:
        return _parse(commits, entries, SCHEMA_WITHOUT_VECTORS)
    except LogCorruptError as fault:
        return CommitBatch(
            entries=entries,
            sizes_bytes=[len(commit.data) for commit in commits],
            actions=parse_actions([CommitData("", b"")], SCHEMA),
            heads={},
            provenance=[SAYS_NOTHING],
            info_lines={},
            metadata={},
            protocols={},
            fault=fault.reason,
        )


def _parse(
    commits: Sequence[CommitData], entries: Sequence[CommitEntry], schema: pa.Schema
) -> CommitBatch:
    cut = cut_heads(commits)
    actions = parse_actions(cut.rests, schema)
    provenance, info_lines = _read_infos(actions, cut)
    metadata = dict(owned_actions(actions, "metaData", cut.rests))
    protocols = dict(owned_actions(actions, "protocol", cut.rests))
    return CommitBatch(
        entries=entries,
        sizes_bytes=[len(commit.data) for commit in commits],
        actions=actions,
        heads=cut.heads,
        provenance=provenance,
        info_lines=info_lines,
        metadata={
            at: parse_metadata(raw, path=commits[at].name)
            for at, raw in metadata.items()
        },
        protocols={
            at: parse_protocol(raw, path=commits[at].name)
            for at, raw in protocols.items()
        },
    )


def _read_infos(
    actions: ActionBatch, cut: CutCommits
) -> tuple[list[RawProvenance], dict[int, bytes]]:
    """Return what the last commitInfo of each commit says, and its line if any.

    Raises:
        LogCorruptError: If a line does not read.
    """
    provenance, info_lines = [*cut.provenance], dict(cut.heads)
    column = actions.table[COMMIT_INFO]
    if column.null_count == len(column):
        return provenance, info_lines
    rows = pc.indices_nonzero(column.is_valid()).to_numpy().astype(np.int64)
    lines = actions.lines.take(rows)
    said: Sequence[RawProvenance | None] | None = cut_provenance(lines)
    if said is None:
        values = [line.get(COMMIT_INFO) for line in load_rows(actions, rows, cut.rests)]
        said = [
            write_provenance(raw) if isinstance(raw, dict) else None for raw in values
        ]
    owners = np.searchsorted(actions.row_ends, rows, side="right").tolist()
    for at, one, line in zip(owners, said, lines, strict=True):
        if one is not None:
            provenance[at], info_lines[at] = one, line
    return provenance, info_lines
