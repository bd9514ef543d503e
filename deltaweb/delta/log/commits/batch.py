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
    ActionBatch,
    CommitData,
    Longs,
    load_json,
    parse_actions,
)
from deltaweb.delta.log.commits.fields import (
    COMMIT_INFO,
    METADATA,
    PROTOCOL,
    TRANSACTION,
    commit_schema,
    file_action,
)
from deltaweb.delta.log.commits.msgspec_reader import parse_lines
from deltaweb.delta.log.commits.newest import parse_transactions
from deltaweb.delta.log.commits.provenance import (
    SAYS_NOTHING,
    Provenances,
    RawProvenance,
    cut_provenance,
    write_provenance,
)
from deltaweb.delta.log.commits.reading import read_commits
from deltaweb.delta.log.file_actions import dv_ids, file_vectors, no_dv_ids
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.action_values import parse_metadata, parse_protocol
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.values.statistics.record_counts import live_records, record_counts
from deltaweb.environment.own_process import without_collections

ROWS_A_SLICE: Final = 4_096
_FIELDS: Final = ("path", "size", "dataChange", "stats", "deletionTimestamp")
_VECTOR: Final = "deletionVector"


def _schema(*identity: str) -> pa.Schema:
    action = file_action((*_FIELDS, *identity))
    return commit_schema(
        PROTOCOL, METADATA, COMMIT_INFO, add=action, remove=action, txn=TRANSACTION
    )


SCHEMA: Final = _schema(_VECTOR)
SCHEMA_WITHOUT_VECTORS: Final = _schema()


def parse_columns(commits: Sequence[CommitData], schema: pa.Schema) -> CommitActions:
    """Parse commits.

    Args:
        schema: `SCHEMA`, or the one without deletion vectors.
    """
    actions = parse_actions(commits, schema)
    return CommitActions(
        num_lines=np.diff(actions.row_ends, prepend=0),
        files=_file_rows(actions),
        provenance=Provenances.of(_said(actions)),
        metadata=dict(actions.objects(METADATA)),
        protocols=dict(actions.objects(PROTOCOL)),
        transactions=_transactions(actions),
    )


def _file_rows(actions: ActionBatch) -> FileActionRows:
    kinds = ("add", "remove")
    places = [actions.rows(kind) for kind in kinds]
    files = pa.concat_arrays(
        [
            actions.column(kind).take(pa.array(rows))
            for kind, rows in zip(kinds, places, strict=True)
        ]
    )
    lines = np.concatenate(places)
    order = np.argsort(lines, kind="stable")
    if all(map(len, places)):
        files = files.take(pa.array(order))
    has_vectors = files.type.get_field_index(_VECTOR) >= 0
    vectors = pc.struct_field(files, [_VECTOR]) if has_vectors else None
    num_records = _record_counts(pc.struct_field(files, ["stats"]))
    return FileActionRows(
        owners=actions.owners(lines[order]),
        is_add=order < len(places[0]),
        paths=pc.struct_field(files, ["path"]),
        dv_ids=no_dv_ids(len(files)) if vectors is None else dv_ids(vectors),
        sizes=pc.struct_field(files, ["size"]),
        changes=pc.struct_field(files, ["dataChange"]),
        num_records=num_records
        if vectors is None
        else live_records(num_records, file_vectors(vectors)),
        deletion_ms=pc.struct_field(files, ["deletionTimestamp"]),
    )


def _record_counts(stats: pa.StringArray) -> pa.Int64Array:
    """Count rows, holding the texts of few files at a time."""
    slices = [
        record_counts(stats.slice(first, ROWS_A_SLICE).to_pylist())
        for first in range(0, len(stats), ROWS_A_SLICE)
    ]
    return pa.concat_arrays(slices) if slices else pa.array([], pa.int64())


def _said(actions: ActionBatch) -> Sequence[RawProvenance]:
    said = [SAYS_NOTHING] * len(actions.paths)
    rows = actions.rows(COMMIT_INFO)
    infos: Sequence[RawProvenance | None] | None = cut_provenance(
        actions.lines.take(rows)
    )
    if infos is None:
        values = [line.get(COMMIT_INFO) for line in actions.load(rows)]
        infos = [
            write_provenance(raw) if isinstance(raw, dict) else None for raw in values
        ]
    for at, info in zip(actions.owners(rows).tolist(), infos, strict=True):
        if info is not None:
            said[at] = info
    return said


def _transactions(actions: ActionBatch) -> Mapping[int, Sequence[SetTransaction]]:
    found: dict[int, Sequence[SetTransaction]] = {}
    ends = [0, *actions.row_ends.tolist()]
    for at in np.unique(actions.owners(actions.rows("txn"))).tolist():
        column = actions.table["txn"].slice(ends[at], ends[at + 1] - ends[at])
        noted = parse_transactions(column)
        if noted:
            found[at] = [*noted.values()]
    return found


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
    # Values of JSON form no cycles, and go away with their batch.
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
