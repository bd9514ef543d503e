"""What the driver learns of the commits after a checkpoint, beside their files.

Each pack of commits is read by one task; of its files only the keys come back, and only
while those of all packs fit the driver. Where that can be, the task holds what it has
read for whoever asks for the files.

Source: delta_protocol.md, "Action Reconciliation".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession

from deltaweb.delta import commit_file
from deltaweb.delta.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.commit_file import Tail, TailCommits
from deltaweb.delta.file_actions import file_keys
from deltaweb.delta.partition_keys import PartitionKeys, partition_keys
from deltaweb.spark.held_layers import HeldLayers
from deltaweb.spark.log_reader import CommitPack, LogSource, read_tail
from deltaweb.spark.task_faults import faults_are_carried

if TYPE_CHECKING:
    from pyspark import Broadcast

BROADCAST_TAIL_BYTES: Final = 512 << 20
"""Commits of more bytes are shuffled: their keys would fill the driver."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TailFacts:
    """What the driver holds of commits: nothing of the size of their files.

    Attributes:
        protocol: The newest protocol; None when no commit has one.
        metadata: The newest metaData; None when no commit has one.
        transactions: The newest transaction of each application in them.
        possible_keys: Keys that their partition values may have.
        keys: For each pack the files that it speaks of; None when they are shuffled.
        held: Where the layers of the packs are held; None where they are not.
    """

    protocol: Protocol | None
    metadata: Metadata | None
    transactions: dict[str, SetTransaction]
    possible_keys: list[str]
    keys: "Broadcast[list[pa.Array]] | None"
    held: HeldLayers | None

    def drop(self) -> None:
        """Let go of what executors hold."""
        if self.keys is not None:
            self.keys.destroy()
        if self.held is not None:
            self.held.drop()


def read_layers(
    spark: SparkSession,
    source: LogSource,
    packs: Sequence[CommitPack],
    *,
    protocol: Protocol | None,
    metadata: Metadata | None,
) -> TailFacts:
    """Read what packs of commits say beside their files.

    One pack is read in the driver, which takes less than a Spark job does; more are
    read by tasks.

    Args:
        spark: The session.
        source: The table's log.
        packs: The commits, oldest first.
        protocol: The protocol in force before them, if any.
        metadata: The metaData in force before them, if any.

    Raises:
        LogCorruptError: If a commit does not read.
    """
    holds_keys = sum(pack.size_bytes for pack in packs) <= BROADCAST_TAIL_BYTES
    read = partial(
        _read_facts, source, protocol=protocol, metadata=metadata, holds_keys=holds_keys
    )
    held = None
    if len(packs) <= 1:
        found = [read((number, pack)) for number, pack in enumerate(packs)]
    else:
        if holds_keys:
            guess = _guess_keys(source, packs[0], protocol=protocol, metadata=metadata)
            held = HeldLayers.begin(spark, guess)
        found = _read_in_tasks(spark, partial(read, held=held), packs, held)
    newest_protocol, newest_metadata = None, None
    transactions: dict[str, SetTransaction] = {}
    possible_keys: dict[str, None] = {}
    for facts in found:
        newest_protocol = facts.protocol or newest_protocol
        newest_metadata = facts.metadata or newest_metadata
        transactions.update(facts.transactions)
        possible_keys.update(dict.fromkeys(facts.partition_keys))
    keys = [facts.keys for facts in found if facts.keys is not None]
    return TailFacts(
        protocol=newest_protocol,
        metadata=newest_metadata,
        transactions=transactions,
        possible_keys=list(possible_keys),
        keys=spark.sparkContext.broadcast(keys) if holds_keys else None,
        held=held,
    )


def _guess_keys(
    source: LogSource,
    pack: CommitPack,
    *,
    protocol: Protocol | None,
    metadata: Metadata | None,
) -> PartitionKeys:
    """Return the keys of partition values that hold after the first commit."""
    first = TailCommits(source.open(), pack.names[:1])
    tail = commit_file.read_tail(first, protocol=protocol, metadata=metadata)
    required = partition_keys(tail.protocol or protocol, tail.metadata or metadata)
    return PartitionKeys(tuple(tail.partition_keys), tuple(required))


def _read_in_tasks(
    spark: SparkSession,
    read: "Callable[[tuple[int, CommitPack]], _PackFacts]",
    packs: Sequence[CommitPack],
    held: HeldLayers | None,
) -> "list[_PackFacts]":
    rows = spark.sparkContext.parallelize(list(enumerate(packs)), len(packs))
    try:
        return rows.map(partial(_carried, read)).collect()
    except BaseException:
        if held is not None:
            held.drop()
        raise


class _PackFacts(NamedTuple):
    """What one pack says beside its files, and the keys of these if asked for."""

    protocol: Protocol | None
    metadata: Metadata | None
    transactions: Mapping[str, SetTransaction]
    partition_keys: Sequence[str]
    keys: pa.Array | None


def _read_facts(  # noqa: PLR0913 (one thing at a time, all of it needed)
    source: LogSource,
    piece: tuple[int, CommitPack],
    *,
    protocol: Protocol | None,
    metadata: Metadata | None,
    holds_keys: bool,
    held: HeldLayers | None = None,
) -> _PackFacts:
    number, pack = piece
    if held is None:
        commits = TailCommits(source.open(), pack.names)
        tail = commit_file.read_tail(commits, protocol=protocol, metadata=metadata)
    else:
        tail = read_tail(source.open(), pack, held.keys)
        held.hold(number, tail.layer)
    return _PackFacts(
        protocol=tail.protocol,
        metadata=tail.metadata,
        transactions=tail.transactions,
        partition_keys=tail.partition_keys,
        keys=_keys_of(tail) if holds_keys else None,
    )


def _keys_of(tail: Tail) -> pa.Array:
    """Return the key of every file that the commits speak of."""
    removed = tail.layer.tombstones.combine_chunks()
    added = [] if tail.layer.block is None else [tail.layer.block.keys()]
    arrays = [
        file_keys(batch["path"], batch["dv_id"]) for batch in removed.to_batches()
    ]
    return pa.concat_arrays([pa.array([], pa.string()), *added, *arrays])


def _carried(
    read: Callable[[tuple[int, CommitPack]], _PackFacts], piece: tuple[int, CommitPack]
) -> _PackFacts:
    with faults_are_carried():
        return read(piece)
