"""What the driver learns of the commits after a checkpoint, beside their files.

Each pack of commits is read by one task; of its files only the keys come back, and only
while those of all packs fit the driver. Where that can be, the task holds what it has
read for those that need the files.

Source: delta_protocol.md, "Action Reconciliation".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession

from deltaweb.delta.log.commits import tail as commit_tail
from deltaweb.delta.log.commits.partition_keys import PartitionKeys, partition_keys
from deltaweb.delta.log.commits.tail import Tail, TailCommits
from deltaweb.delta.log.file_actions import file_keys
from deltaweb.delta.log.replay import in_force
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.spark.log.held_layers import HeldLayers
from deltaweb.spark.log.reader import CommitPack, read_tail
from deltaweb.spark.log.tail_layers import TailLayers
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.storage.place import TablePlace

BROADCAST_TAIL_BYTES: Final = 512 << 20
"""Commits of more bytes are shuffled: their keys would fill the driver."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TailFacts:
    """What the driver holds of commits: nothing of the size of their files.

    Attributes:
        layers: What tasks need to know of their files.
    """

    protocol: Protocol
    metadata: Metadata
    transactions: dict[str, SetTransaction]
    layers: TailLayers


def read_layers(  # noqa: PLR0913 (one log, all of it needed)
    spark: SparkSession,
    source: TablePlace,
    version: int,
    packs: Sequence[CommitPack],
    *,
    protocol: Protocol | None,
    metadata: Metadata | None,
) -> TailFacts:
    """Read what packs of commits say beside their files.

    One pack is read in the driver, which takes less than a Spark job does; more are
    read by tasks.
    """
    holds_keys = sum(pack.size_bytes for pack in packs) <= BROADCAST_TAIL_BYTES
    read = partial(
        _read_facts, source, protocol=protocol, metadata=metadata, holds_keys=holds_keys
    )
    held = None
    if holds_keys and len(packs) > 1:
        guess = _guess_keys(source, packs[0], protocol=protocol, metadata=metadata)
        held = HeldLayers.begin(spark, guess)
    try:
        found = _read_packs(spark, partial(read, held=held), packs)
        transactions: dict[str, SetTransaction] = {}
        possible: dict[str, None] = {}
        for facts in found:
            protocol = facts.protocol or protocol
            metadata = facts.metadata or metadata
            transactions.update(facts.transactions)
            possible.update(dict.fromkeys(facts.partition_keys))
        protocol, metadata = in_force(
            protocol, metadata, root=source.open().root, version=version
        )
    except BaseException:
        if held is not None:
            held.drop()
        raise
    keys = PartitionKeys(tuple(possible), tuple(partition_keys(protocol, metadata)))
    if held is not None and held.keys != keys:
        held.drop()
        held = None
    of_packs = [facts.keys for facts in found if facts.keys is not None]
    layers = TailLayers(
        packs=packs,
        partition_keys=keys,
        keys=spark.sparkContext.broadcast(of_packs) if holds_keys else None,
        held=held,
    )
    return TailFacts(
        protocol=protocol, metadata=metadata, transactions=transactions, layers=layers
    )


def _guess_keys(
    source: TablePlace,
    pack: CommitPack,
    *,
    protocol: Protocol | None,
    metadata: Metadata | None,
) -> PartitionKeys:
    """Return the keys of partition values that hold after the first commit."""
    first = TailCommits(source.open(), pack.names[:1])
    tail = commit_tail.read_tail(first, protocol=protocol, metadata=metadata)
    required = partition_keys(tail.protocol or protocol, tail.metadata or metadata)
    return PartitionKeys(tuple(tail.partition_keys), tuple(required))


def _read_packs(
    spark: SparkSession,
    read: "Callable[[tuple[int, CommitPack]], _PackFacts]",
    packs: Sequence[CommitPack],
) -> "list[_PackFacts]":
    pieces = list(enumerate(packs))
    if len(pieces) <= 1:
        return [read(piece) for piece in pieces]
    rows = spark.sparkContext.parallelize(pieces, len(pieces))
    return rows.map(partial(_carried, read)).collect()


class _PackFacts(NamedTuple):
    """What one pack says beside its files, and the keys of these if asked for."""

    protocol: Protocol | None
    metadata: Metadata | None
    transactions: Mapping[str, SetTransaction]
    partition_keys: Sequence[str]
    keys: pa.Array | None


def _read_facts(  # noqa: PLR0913 (one thing at a time, all of it needed)
    source: TablePlace,
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
        tail = commit_tail.read_tail(commits, protocol=protocol, metadata=metadata)
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
