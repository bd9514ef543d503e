"""The commits after a checkpoint, and what tasks leave out because of them.

The keys that each layer speaks of are with every executor, so a task reads its piece of
the checkpoint, or its layer, and drops what a later layer speaks of.

Source: delta_protocol.md, "Action Reconciliation".
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.commit_file import PartitionKeys
from deltaweb.delta.file_actions import file_keys
from deltaweb.delta.replay import KeySet, SelectedBlock
from deltaweb.spark.arrow_frames import Batches, in_small_batches
from deltaweb.spark.log_reader import (
    CommitPack,
    LogSource,
    RowGroupTask,
    checkpoint_blocks,
    checkpoint_tombstones,
    read_tail,
)
from deltaweb.spark.task_faults import faults_are_carried

if TYPE_CHECKING:
    from pyspark import Broadcast

Blocks = Iterator[SelectedBlock]
BlockFunction = Callable[[Blocks], Batches]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TailLayers:
    """The commits after a checkpoint: a layer a pack, oldest first.

    Attributes:
        packs: The commits of each layer.
        partition_keys: The keys of partition values, known of the whole log.
        keys: For each layer every file that it speaks of, held by every executor;
            None where they are shuffled.
    """

    packs: Sequence[CommitPack]
    partition_keys: PartitionKeys
    keys: "Broadcast[list[pa.Array]] | None"


def _newer_keys(layers: TailLayers, piece: RowGroupTask | int) -> KeySet:
    """Return what later commits speak of: all for the checkpoint's pieces."""
    keys = [] if layers.keys is None else layers.keys.value
    newer = keys if isinstance(piece, RowGroupTask) else keys[piece + 1 :]
    return KeySet(pa.concat_arrays([pa.array([], pa.string()), *newer]))


def map_blocks(
    source: LogSource,
    layers: TailLayers,
    pieces: Sequence[RowGroupTask | int],
    function: BlockFunction,
    number: int,
) -> Batches:
    """Call a function with the files of a piece that no later commit speaks of."""
    with faults_are_carried():
        yield from function(_live_blocks(source, layers, pieces[number]))


def _live_blocks(
    source: LogSource, layers: TailLayers, piece: RowGroupTask | int
) -> Blocks:
    """Read the files of a piece that no later commit speaks of."""
    store = source.open()
    newer = _newer_keys(layers, piece)
    if isinstance(piece, RowGroupTask):
        blocks = checkpoint_blocks(store, piece)
    else:
        tail = read_tail(store, layers.packs[piece], layers.partition_keys)
        blocks = [] if tail.layer.block is None else [tail.layer.block]
    for block in blocks:
        selected = SelectedBlock(block)
        if len(newer):
            selected = selected.without(newer)
        if selected.num_files:
            yield selected


def read_tombstones(
    source: LogSource,
    layers: TailLayers,
    pieces: Sequence[RowGroupTask | int],
    number: int,
) -> Batches:
    """Read the tombstones of a piece that no later commit speaks of."""
    with faults_are_carried():
        store, piece = source.open(), pieces[number]
        newer = _newer_keys(layers, piece)
        if isinstance(piece, RowGroupTask):
            batches = checkpoint_tombstones(store, piece)
        else:
            tail = read_tail(store, layers.packs[piece], layers.partition_keys)
            batches = tail.layer.tombstones.combine_chunks().to_batches()
        for batch in batches:
            keys = file_keys(batch["path"], batch["dv_id"])
            kept = batch.filter(pc.invert(newer.contains(keys)))
            yield from in_small_batches(kept)
