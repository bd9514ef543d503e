"""Commits: from names to reconciled actions, in batches of bounded memory.

Source: delta_protocol.md, "Delta Log Entries".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.blocks import FileBlock, RawStatistics
from deltaweb.delta.log.commits.arrow_reader import (
    ActionBatch,
    CommitData,
    Longs,
    parse_actions,
    parse_certain,
)
from deltaweb.delta.log.commits.fields import (
    METADATA,
    PROTOCOL,
    TRANSACTION,
    commit_schema,
    file_action,
)
from deltaweb.delta.log.commits.newest import NewestActions
from deltaweb.delta.log.commits.partition_keys import (
    PartitionKeys,
    guess_keys,
    partition_keys,
    possible_keys,
)
from deltaweb.delta.log.commits.reading import (
    parsed_commits,
    read_commits,
    rows_between,
)
from deltaweb.delta.log.compactions import SUFFIX
from deltaweb.delta.log.file_actions import canonical_keys, dv_ids, file_keys
from deltaweb.delta.log.replay import TailLayer, no_layer, reconcile_tail
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.values.whole import one_array

REMOVE: Final = file_action(
    ("path", "deletionTimestamp", "dataChange", "size", "deletionVector")
)
HELD_BYTES: Final = 128 << 10
"""Of a shorter tail statistics are held: that takes less time than reading it again."""
MAX_COUNTED_BYTES: Final = 4 << 10
"""Of a tail with more bytes for each live file it takes long to count rows."""
STATISTICS_SCHEMA: Final = commit_schema(add=file_action(["stats"]))


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """What the commits after a checkpoint, or after a snapshot, say.

    Attributes:
        partition_keys: Keys that their partition values may have, by any metaData.
    """

    layer: TailLayer
    protocol: Protocol | None
    metadata: Metadata | None
    transactions: Mapping[str, SetTransaction]
    partition_keys: Sequence[str] = ()


class TailCommits:
    """The commits of a tail, batch by batch; the first batch is read at once.

    Args:
        held: Their bytes, where they are read already.
    """

    def __init__(
        self,
        store: LogStore,
        names: Sequence[str],
        held: list[CommitData] | None = None,
    ) -> None:
        self.store = store
        self.names = names
        self.ahead: ParsedAhead | None = None
        self._rest = read_commits(store, names) if held is None else iter([held])
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
        keys: The keys of partition values, where commits are part of a longer tail;
            by the protocol and the metaData for None.
        holds_statistics: Whether statistics are read at once and held, instead of
            by a second reading when they are asked for. Those of a short tail are,
            if they can be read.
    """
    reader = _TailReader(
        commits, protocol, metadata, keys, holds_statistics=holds_statistics
    )
    for batch in commits.batches():
        reader.add(batch)
    return reader.finish()


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
        self.must_hold = holds_statistics
        self.holds_statistics = holds_statistics or commits.first_bytes <= HELD_BYTES
        self.num_bytes = 0
        self.required = None if keys is None else keys.required
        known = possible_keys(metadata) if keys is None else [*keys.possible]
        self.newest = NewestActions(known)
        self.ahead: ActionBatch | None = None
        if (
            commits.ahead is not None
            and not self.holds_statistics
            and set(commits.ahead.keys) == set(known)
        ):
            self.newest.keys, self.ahead = commits.ahead
        self.adds: list[pa.ChunkedArray] = []
        self.removes: list[pa.ChunkedArray] = []

    def add(self, commits: Sequence[CommitData]) -> None:
        """Parse some commits; again, when they turn out to partition otherwise."""
        newest = self.newest
        self.num_bytes += sum(len(commit.data) for commit in commits)
        if not newest.keys and self.metadata is None and newest.metadata is None:
            newest.take_metadata(parse_actions(commits[:1], _schema([])))
        batch = self.ahead or self._parsed(commits)
        self.ahead = None
        if newest.take_metadata(batch):
            batch = self._parsed(commits)
        _check_reconciled(batch)
        newest.take_protocol(batch)
        newest.take_transactions(batch)
        self.adds.append(batch.table["add"])
        self.removes.append(batch.table["remove"])

    def _parsed(self, commits: Sequence[CommitData]) -> ActionBatch:
        try:
            return parse_actions(commits, self._schema())
        except LogCorruptError:
            if self.must_hold or not self.holds_statistics:
                raise
            self.holds_statistics = False  # a short tail is one batch
            return parse_actions(commits, self._schema())

    def finish(self) -> Tail:
        newest = self.newest
        return Tail(
            layer=self._layer() if self.adds else no_layer(),
            protocol=newest.protocol,
            metadata=newest.metadata,
            transactions=newest.transactions,
            partition_keys=tuple(newest.keys),
        )

    def _layer(self) -> TailLayer:
        newest, required = self.newest, self.required
        if required is None:
            protocol = newest.protocol or self.protocol
            required = partition_keys(protocol, newest.metadata or self.metadata)
        adds = _combine(
            [self._cast(add) for add in self.adds], self._schema().field("add").type
        )
        held = pc.struct_field(adds, ["stats"]) if self.holds_statistics else None
        layer = reconcile_tail(
            adds,
            _combine(self.removes, REMOVE),
            partition_columns=required,
            path=f"{self.store.root}/_delta_log",
            load_statistics=partial(load_statistics, self.store, tuple(self.names))
            if held is None
            else partial(_held_statistics, held),
        )
        block = layer.block and self._counted(layer.block, held)
        return replace(layer, block=block)

    def _counted(self, block: FileBlock, held: pa.Array | None) -> FileBlock:
        """Return a block that says how many rows files have, if that is soon read."""
        load = block.load_statistics
        if held is not None:
            return replace(block, load_counts=load, held_bytes=held.nbytes)
        if self.num_bytes > MAX_COUNTED_BYTES * block.files.num_rows:
            return block
        return replace(block, load_counts=load)

    def _schema(self) -> pa.Schema:
        return _schema(self.newest.keys, holds_statistics=self.holds_statistics)

    def _cast(self, adds: pa.ChunkedArray) -> pa.ChunkedArray:
        """Give older batches the partition columns that came later, as nulls."""
        wanted = self._schema().field("add").type
        return adds if adds.type == wanted else adds.cast(wanted)


def _check_reconciled(batch: ActionBatch) -> None:
    """Refuse compactions in which older actions stand beside newer ones.

    There are such files, in no order that would tell which of two actions is newer.
    """
    starts = [0, *batch.row_ends.tolist()]
    for path, start, end in zip(batch.paths, starts, batch.row_ends, strict=False):
        if not path.endswith(SUFFIX):
            continue
        rows = batch.table.slice(start, end - start)
        adds, removes = (
            one_array(rows[name]).drop_null() for name in ("add", "remove")
        )
        keys = pa.concat_arrays(
            [
                canonical_keys(file_keys(some.field("path"), _vector_ids(some)))
                for some in (adds, removes)
            ]
        )
        if pc.count_distinct(keys).as_py() != len(keys):
            raise LogCorruptError(path=path, reason="it lists a file twice")
        for name in (PROTOCOL, METADATA):
            if len(rows) - rows[name].null_count > 1:
                raise LogCorruptError(path=path, reason=f"it has two {name} actions")


def _vector_ids(actions: pa.StructArray) -> pa.Array | None:
    vectors = actions.field("deletionVector")
    return None if vectors.null_count == len(vectors) else dv_ids(vectors)


def load_statistics(
    store: LogStore,
    names: Sequence[str],
    rows: Longs,
) -> RawStatistics:
    """Read the statistics of the given lines of some commits."""
    texts: list[pa.Array] = []
    for first, batch in parsed_commits(store, names, STATISTICS_SCHEMA):
        mine = rows_between(rows, first, first + batch.table.num_rows)
        stats = pc.struct_field(batch.table["add"], ["stats"])
        texts.extend(stats.take(pa.array(mine)).chunks)
    return RawStatistics(pa.chunked_array(texts, type=pa.string()), None)


def _held_statistics(texts: pa.StringArray, rows: Longs) -> RawStatistics:
    return RawStatistics(pa.chunked_array([texts.take(pa.array(rows))]), None)


def _schema(
    partition_columns: Sequence[str], *, holds_statistics: bool = False
) -> pa.Schema:
    """Return what replay needs of a commit's lines."""
    fields = ("path", "size", "modificationTime", "dataChange", "deletionVector")
    add = file_action(
        (*fields, *(["stats"] if holds_statistics else [])),
        partition_columns=partition_columns,
    )
    return commit_schema(PROTOCOL, METADATA, add=add, remove=REMOVE, txn=TRANSACTION)


def _combine(chunks: Sequence[pa.ChunkedArray], data_type: pa.DataType) -> pa.Array:
    arrays = [array for chunk in chunks for array in chunk.chunks]
    return pa.concat_arrays(arrays) if arrays else pa.array([], data_type)
