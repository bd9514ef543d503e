"""Commits: from names to reconciled actions, in batches of bounded memory.

Source: delta_protocol.md, "Delta Log Entries".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.action_json import (
    PRESENCE,
    ActionBatch,
    CommitData,
    load_rows,
    parse_actions,
    parse_certain,
)
from deltaweb.delta.action_values import parse_metadata, parse_protocol
from deltaweb.delta.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.file_actions import DELETION_VECTOR
from deltaweb.delta.log_store import LogFile, LogStore
from deltaweb.delta.partition_keys import (
    PartitionKeys,
    guess_keys,
    partition_keys,
    possible_keys,
)
from deltaweb.delta.replay import RawStatistics, TailLayer, reconcile_tail

BATCH_BYTES: Final = 32 << 20
BATCH_FILES: Final = 512
TRANSACTION: Final = pa.struct(
    [
        pa.field("appId", pa.string()),
        pa.field("version", pa.int64()),
        pa.field("lastUpdated", pa.int64()),
    ]
)
REMOVE: Final = pa.struct(
    [
        pa.field("path", pa.string()),
        pa.field("deletionTimestamp", pa.int64()),
        pa.field("dataChange", pa.bool_()),
        pa.field("size", pa.int64()),
        pa.field("deletionVector", DELETION_VECTOR),
    ]
)
STATISTICS: Final = pa.field("stats", pa.string())
STATISTICS_SCHEMA: Final = pa.schema([pa.field("add", pa.struct([STATISTICS]))])


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """What the commits after a checkpoint, or after a snapshot, say.

    Attributes:
        layer: Their file actions, reconciled.
        protocol: The newest protocol; None when no commit has one.
        metadata: The newest metaData; None when no commit has one.
        transactions: The newest transaction of each application in them.
        partition_keys: Keys that their partition values may have, by any metaData.
    """

    layer: TailLayer
    protocol: Protocol | None
    metadata: Metadata | None
    transactions: Mapping[str, SetTransaction]
    partition_keys: Sequence[str] = ()


class TailCommits:
    """The commits of a tail, batch by batch; the first batch is read at once.

    Raises:
        LogCorruptError: If a commit is gone since it was listed.
    """

    def __init__(self, store: LogStore, names: Sequence[str]) -> None:
        self.store = store
        self.names = names
        self.ahead: ParsedAhead | None = None
        self._rest = read_commits(store, names)
        self._first = next(self._rest, [])
        self.first_bytes = sum(len(commit.data) for commit in self._first)

    def parse_ahead(self) -> None:
        """Parse the first batch before it is known how the table partitions.

        That needs nothing of the checkpoint, so both can be read at the same time.
        The keys of partition values are those of the first add: a guess, which
        `read_tail` checks by the metaData.
        """
        keys = guess_keys(self._first)
        if keys is not None:
            batch = parse_certain(self._first, _schema(keys))
            self.ahead = None if batch is None else ParsedAhead(keys, batch)

    def batches(self) -> Iterator[Sequence[CommitData]]:
        """Yield every batch once, and hold none that was yielded."""
        if self._first:
            first, self._first = self._first, []
            yield first
            del first
        yield from self._rest


class ParsedAhead(NamedTuple):
    """The first batch of a tail, parsed with keys of partition values guessed."""

    keys: list[str]
    batch: ActionBatch


def read_tail(
    commits: TailCommits,
    *,
    protocol: Protocol | None = None,
    metadata: Metadata | None = None,
    keys: PartitionKeys | None = None,
    holds_statistics: bool = False,
) -> Tail:
    """Reconcile the actions of commits.

    Args:
        commits: The commits, oldest first.
        protocol: The protocol in force before them, if any.
        metadata: The metaData in force before them, if any.
        keys: The keys of partition values, where commits are part of a longer tail;
            by the protocol and the metaData for None.
        holds_statistics: Whether statistics are read at once and held, instead of
            by a second reading when they are asked for.

    Raises:
        LogCorruptError: If a commit does not read.
    """
    reader = _TailReader(
        commits, protocol, metadata, keys, holds_statistics=holds_statistics
    )
    for batch in commits.batches():
        reader.add(batch)
    return reader.finish()


def read_commits(
    store: LogStore, names: Sequence[str], *, batch_bytes: int = BATCH_BYTES
) -> Iterator[list[CommitData]]:
    """Yield commits in batches of about `batch_bytes`, each commit whole.

    Raises:
        LogCorruptError: If a commit is gone since it was listed.
    """
    batch: list[CommitData] = []
    size = 0
    folder = f"{store.root}/_delta_log/"
    for first in range(0, len(names), BATCH_FILES):
        some = names[first : first + BATCH_FILES]
        for name, (data, time_ms) in zip(some, read_some(store, some), strict=True):
            if batch and size + len(data) > batch_bytes:
                yield batch
                batch, size = [], 0
            batch.append(CommitData(folder + name, data, time_ms))
            size += len(data)
    if batch:
        yield batch


def read_some(store: LogStore, names: Sequence[str]) -> list[LogFile]:
    """Read commits that a listing promised."""
    try:
        return store.read_many(names)
    except FileNotFoundError as error:
        name = str(error.filename or names[0]).rsplit("/", 1)[-1]
        path = f"{store.root}/_delta_log/{name}"
        raise LogCorruptError(path=path, reason="it went away while read") from None


class _TailReader:
    """Collects the actions of batch after batch, then reconciles them at once."""

    def __init__(
        self,
        commits: TailCommits,
        protocol: Protocol | None,
        metadata: Metadata | None,
        keys: PartitionKeys | None,
        *,
        holds_statistics: bool,
    ) -> None:
        self.store = commits.store
        self.names = commits.names
        self.protocol = protocol
        self.metadata = metadata
        self.new_protocol: Protocol | None = None
        self.new_metadata: Metadata | None = None
        self.transactions: dict[str, SetTransaction] = {}
        self.holds_statistics = holds_statistics
        self.required = None if keys is None else keys.required
        self.keys = possible_keys(metadata) if keys is None else [*keys.possible]
        self.ahead: ActionBatch | None = None
        if (
            commits.ahead is not None
            and not holds_statistics
            and set(commits.ahead.keys) == set(self.keys)
        ):
            self.keys, self.ahead = commits.ahead
        self.adds: list[pa.ChunkedArray] = []
        self.removes: list[pa.ChunkedArray] = []

    def add(self, commits: Sequence[CommitData]) -> None:
        """Parse some commits; again, when they turn out to partition otherwise."""
        if not self.keys and self.metadata is None and self.new_metadata is None:
            self._take_metadata(parse_actions(commits[:1], _schema([])), commits)
        batch = self.ahead or parse_actions(commits, self._schema())
        self.ahead = None
        if self._take_metadata(batch, commits):
            batch = parse_actions(commits, self._schema())
        self._take_protocol(batch, commits)
        self._take_transactions(batch.table["txn"])
        self.adds.append(batch.table["add"])
        self.removes.append(batch.table["remove"])

    def finish(self) -> Tail:
        """Reconcile what was collected."""
        protocol = self.new_protocol or self.protocol
        metadata = self.new_metadata or self.metadata
        required = self.required
        if required is None:
            required = partition_keys(protocol, metadata)
        adds = _combine(
            [self._cast(add) for add in self.adds], self._schema().field("add").type
        )
        layer = reconcile_tail(
            adds,
            _combine(self.removes, REMOVE),
            partition_columns=required,
            path=f"{self.store.root}/_delta_log",
            load_statistics=partial(_held_statistics, adds)
            if self.holds_statistics
            else partial(load_statistics, self.store, tuple(self.names)),
        )
        return Tail(
            layer=layer,
            protocol=self.new_protocol,
            metadata=self.new_metadata,
            transactions=self.transactions,
            partition_keys=tuple(self.keys),
        )

    def _schema(self) -> pa.Schema:
        return _schema(self.keys, holds_statistics=self.holds_statistics)

    def _take_metadata(self, batch: ActionBatch, commits: Sequence[CommitData]) -> bool:
        """Note the newest metaData; tell whether it brings partition columns."""
        known = set(self.keys)
        for path, raw in raw_actions(batch, "metaData", commits):
            self.new_metadata = parse_metadata(raw, path=path)
            for key in possible_keys(self.new_metadata):
                if key not in self.keys:
                    self.keys.append(key)
        return set(self.keys) != known

    def _take_protocol(self, batch: ActionBatch, commits: Sequence[CommitData]) -> None:
        for path, raw in raw_actions(batch, "protocol", commits):
            self.new_protocol = parse_protocol(raw, path=path)

    def _take_transactions(self, transactions: pa.ChunkedArray) -> None:
        self.transactions.update(parse_transactions(transactions))

    def _cast(self, adds: pa.ChunkedArray) -> pa.ChunkedArray:
        """Give older batches the partition columns that came later, as nulls."""
        wanted = self._schema().field("add").type
        return adds if adds.type == wanted else adds.cast(wanted)


def parse_transactions(transactions: pa.ChunkedArray) -> dict[str, SetTransaction]:
    """Return the newest transaction of each application."""
    return {
        raw["appId"]: SetTransaction(
            app_id=raw["appId"], version=raw["version"], last_updated=raw["lastUpdated"]
        )
        for raw in transactions.drop_null().to_pylist()
        if raw["appId"] is not None and raw["version"] is not None
    }


def raw_actions(
    batch: ActionBatch, action: str, commits: Sequence[CommitData]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path of the commit and the raw fields of each action of a kind."""
    for owner, raw in owned_actions(batch, action, commits):
        yield commits[owner].name, raw


def owned_actions(
    batch: ActionBatch, action: str, commits: Sequence[CommitData]
) -> list[tuple[int, dict[str, Any]]]:
    """Return which commit holds each action of a kind, with its raw fields.

    Raises:
        LogCorruptError: If a line does not read.
    """
    column = batch.table[action]
    if column.null_count == len(column):
        return []
    rows = pc.indices_nonzero(column.is_valid()).to_numpy().astype(np.int64)
    owners = np.searchsorted(batch.row_ends, rows, side="right").tolist()
    values = [line.get(action) for line in load_rows(batch, rows, commits)]
    return [
        (owner, raw)
        for owner, raw in zip(owners, values, strict=True)
        if isinstance(raw, dict)
    ]


def load_statistics(
    store: LogStore,
    names: Sequence[str],
    rows: "np.ndarray[Any, np.dtype[np.int64]]",
) -> RawStatistics:
    """Read the statistics of the given lines of some commits."""
    texts: list[pa.Array] = []
    first = 0
    for commits in read_commits(store, names):
        batch = parse_actions(commits, STATISTICS_SCHEMA)
        last = first + batch.table.num_rows
        mine = rows[(rows >= first) & (rows < last)] - first
        stats = pc.struct_field(batch.table["add"], ["stats"])
        texts.extend(stats.take(pa.array(mine)).chunks)
        first = last
    return RawStatistics(pa.chunked_array(texts, type=pa.string()), None)


def _held_statistics(
    adds: pa.StructArray, rows: "np.ndarray[Any, np.dtype[np.int64]]"
) -> RawStatistics:
    """Return the statistics of the given lines of commits that are held."""
    texts = pc.struct_field(adds, ["stats"]).take(pa.array(rows))
    return RawStatistics(pa.chunked_array([texts]), None)


def _schema(
    partition_columns: Sequence[str], *, holds_statistics: bool = False
) -> pa.Schema:
    """Return what replay needs of a commit's lines."""
    values = pa.struct([pa.field(name, pa.string()) for name in partition_columns])
    add = pa.struct(
        [
            pa.field("path", pa.string()),
            pa.field("size", pa.int64()),
            pa.field("modificationTime", pa.int64()),
            pa.field("dataChange", pa.bool_()),
            pa.field("partitionValues", values),
            pa.field("deletionVector", DELETION_VECTOR),
            *([STATISTICS] if holds_statistics else []),
        ]
    )
    return pa.schema(
        [
            pa.field("add", add),
            pa.field("remove", REMOVE),
            pa.field("txn", TRANSACTION),
            pa.field("protocol", PRESENCE),
            pa.field("metaData", PRESENCE),
        ]
    )


def _combine(chunks: Sequence[pa.ChunkedArray], data_type: pa.DataType) -> pa.Array:
    arrays = [array for chunk in chunks for array in chunk.chunks]
    return pa.concat_arrays(arrays) if arrays else pa.array([], data_type)
