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

from deltaweb.delta.log.blocks import KeySet, SelectedBlock
from deltaweb.delta.log.commits.partition_keys import PartitionKeys
from deltaweb.delta.log.file_actions import file_keys
from deltaweb.spark.arrow_frames import Batches, in_small_batches
from deltaweb.spark.log.held_layers import HeldLayers
from deltaweb.spark.log.reader import (
    CommitPack,
    RowGroupTask,
    checkpoint_blocks,
    checkpoint_tombstones,
    read_tail,
)
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.storage.place import TablePlace

if TYPE_CHECKING:
    from pyspark import Broadcast

Blocks = Iterator[SelectedBlock]
BlockFunction = Callable[[Blocks], Batches]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TailLayers:
    """The commits after a checkpoint: a layer a pack, oldest first.

    Attributes:
        partition_keys: The keys of partition values, known of the whole log.
        keys: For each layer every file that it speaks of, held by every executor;
            None where they are shuffled.
        held: Where the layers are held; None where tasks read commits again.
    """

    packs: Sequence[CommitPack]
    partition_keys: PartitionKeys
    keys: "Broadcast[list[pa.Array]] | None"
    held: HeldLayers | None = None

    def drop(self) -> None:
        """Let go of what executors hold."""
        if self.keys is not None:
            self.keys.destroy()
        if self.held is not None:
            self.held.drop()


def _newer_keys(layers: TailLayers, piece: RowGroupTask | int) -> KeySet:
    """Return what later commits speak of: all for the checkpoint's pieces."""
    keys = [] if layers.keys is None else layers.keys.value
    newer = keys if isinstance(piece, RowGroupTask) else keys[piece + 1 :]
    return KeySet(pa.concat_arrays([pa.array([], pa.string()), *newer]))


def map_blocks(
    source: TablePlace,
    layers: TailLayers,
    pieces: Sequence[RowGroupTask | int],
    function: BlockFunction,
    number: int,
) -> Batches:
    """Call a function with the files of a piece that no later commit speaks of."""
    with faults_are_carried():
        yield from function(_live_blocks(source, layers, pieces[number]))


def _live_blocks(
    source: TablePlace, layers: TailLayers, piece: RowGroupTask | int
) -> Blocks:
    """Read the files of a piece that no later commit speaks of."""
    newer = _newer_keys(layers, piece)
    for selected in _blocks_of(source, layers, piece):
        kept = selected.without(newer) if len(newer) else selected
        if kept.num_files:
            yield kept


def _blocks_of(
    source: TablePlace, layers: TailLayers, piece: RowGroupTask | int
) -> list[SelectedBlock]:
    if isinstance(piece, RowGroupTask):
        found = checkpoint_blocks(source.open(), piece)
        return [SelectedBlock(block) for block in found]
    held = None if layers.held is None else layers.held.files(piece)
    if held is not None:
        return held
    tail = read_tail(source.open(), layers.packs[piece], layers.partition_keys)
    return [] if tail.layer.block is None else [SelectedBlock(tail.layer.block)]


def read_tombstones(
    source: TablePlace,
    layers: TailLayers,
    pieces: Sequence[RowGroupTask | int],
    number: int,
) -> Batches:
    """Read the tombstones of a piece that no later commit speaks of."""
    with faults_are_carried():
        piece = pieces[number]
        newer = _newer_keys(layers, piece)
        for batch in _tombstones_of(source, layers, piece):
            keys = file_keys(batch["path"], batch["dv_id"])
            kept = batch.filter(pc.invert(newer.contains(keys)))
            yield from in_small_batches(kept)


def _tombstones_of(
    source: TablePlace, layers: TailLayers, piece: RowGroupTask | int
) -> list[pa.RecordBatch]:
    if isinstance(piece, RowGroupTask):
        return checkpoint_tombstones(source.open(), piece)
    held = None if layers.held is None else layers.held.tombstones(piece)
    if held is not None:
        return held
    tail = read_tail(source.open(), layers.packs[piece], layers.partition_keys)
    return list(tail.layer.tombstones.combine_chunks().to_batches())
