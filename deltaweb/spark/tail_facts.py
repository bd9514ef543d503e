"""What the driver learns of the commits after a checkpoint, beside their files.

Each pack of commits is read by one task; of its files only the keys come back, and only
while those of all packs fit the driver.

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
from deltaweb.spark.log_reader import CommitPack, LogSource
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
    """

    protocol: Protocol | None
    metadata: Metadata | None
    transactions: dict[str, SetTransaction]
    possible_keys: list[str]
    keys: "Broadcast[list[pa.Array]] | None"


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
    if len(packs) <= 1:
        found = [read(pack) for pack in packs]
    else:
        rows = spark.sparkContext.parallelize(packs, len(packs))
        found = rows.map(partial(_carried, read)).collect()
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
    )


class _PackFacts(NamedTuple):
    """What one pack says beside its files, and the keys of these if asked for."""

    protocol: Protocol | None
    metadata: Metadata | None
    transactions: Mapping[str, SetTransaction]
    partition_keys: Sequence[str]
    keys: pa.Array | None


def _read_facts(
    source: LogSource,
    pack: CommitPack,
    *,
    protocol: Protocol | None,
    metadata: Metadata | None,
    holds_keys: bool,
) -> _PackFacts:
    commits = TailCommits(source.open(), pack.names)
    tail = commit_file.read_tail(commits, protocol=protocol, metadata=metadata)
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


def _carried(read: Callable[[CommitPack], _PackFacts], pack: CommitPack) -> _PackFacts:
    with faults_are_carried():
        return read(pack)
