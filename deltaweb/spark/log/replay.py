"""The state of a table at one version, replayed by Spark.

The rules are those of `deltaweb.delta.log.replay`, and so are the names. A log segment
is pieces of work: row groups of the checkpoint, and packs of commits. Each pack is
reconciled by one task; then, by how much the commits are:

    broadcast   The keys that each pack speaks of go to every executor, and each piece
                leaves out what a later pack speaks of. Nothing is shuffled.
    shuffled    More commits than that: their file actions are shuffled by key, the
                last one of each key wins, and the checkpoint is anti-joined with them.

The driver holds the protocol, the metaData, the transactions and, for a broadcast,
keys of bounded size; it never holds the files.

Source: delta_protocol.md, "Action Reconciliation".
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)

from deltaweb.delta.log.blocks import SelectedBlock
from deltaweb.delta.log.checkpoints.attempts import (
    of_checkpoint,
    of_files_of,
    try_segments,
)
from deltaweb.delta.log.checkpoints.reader import CheckpointReader
from deltaweb.delta.log.compactions import check_totals
from deltaweb.delta.log.file_actions import TOMBSTONES_SCHEMA
from deltaweb.delta.log.segment import LogSegment
from deltaweb.delta.log.store import FileStatus, TableStore
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.snapshot.state import commit_status
from deltaweb.spark.arrow_frames import (
    Batches,
    in_small_batches,
    map_in_arrow,
    run_tasks,
)
from deltaweb.spark.driver.session import SHUFFLE_PARTITIONS
from deltaweb.spark.log.reader import (
    ACTIONS_SCHEMA,
    KEY,
    LIVE_FILES_SCHEMA,
    RowGroupTask,
    action_rows,
    block_of_rows,
    checkpoint_blocks,
    checkpoint_tombstones,
    file_rows,
    pack_commits,
    read_tail,
    row_group_tasks,
    with_keys,
)
from deltaweb.spark.log.tail_facts import read_layers
from deltaweb.spark.log.tail_layers import (
    BlockFunction,
    Blocks,
    TailLayers,
    map_blocks,
    read_tombstones,
)
from deltaweb.spark.task_faults import faults_are_carried, faults_are_raised
from deltaweb.storage.place import TablePlace

T = TypeVar("T")

SHUFFLED_BYTES: Final = 128 << 20
"""Commits of so many bytes are a partition of their own when shuffled."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplayedState:
    """The state of a table at one version, its files in the executors.

    Attributes:
        commit_status: Size and time of the version's commit file; None without one.
        is_by_compactions: Whether compactions stand for some of the commits.
    """

    spark: SparkSession
    source: TablePlace
    version: int
    protocol: Protocol
    metadata: Metadata
    checkpoint: CheckpointReader | None
    layers: TailLayers
    new_transactions: dict[str, SetTransaction]
    commit_status: FileStatus | None
    is_by_compactions: bool = False

    def close(self) -> None:
        """Let go of what the executors hold; frames of the state end with it."""
        self.layers.drop()

    def check_totals(self, *, num_files: int, size_bytes: int | None = None) -> None:
        """Hold what was found against the checksum file, where compactions helped."""
        if self.is_by_compactions:
            store = self.source.open()
            check_totals(
                store, self.version, num_files=num_files, size_bytes=size_bytes
            )

    def transactions(self) -> dict[str, SetTransaction]:
        """Read the checkpoint's transactions and bring them up to the version."""
        older = self.checkpoint.transactions() if self.checkpoint is not None else {}
        return {**older, **self.new_transactions}

    def live_files(self) -> DataFrame:
        """Return the live files by `LIVE_FILES_SCHEMA`, in no order."""
        return self.map_files(_rows_of_blocks, LIVE_FILES_SCHEMA)

    def map_files(self, function: BlockFunction, schema: pa.Schema) -> DataFrame:
        """Return what a function makes of the live files, where they are read.

        Args:
            function: Called in tasks with some of the blocks; it travels there with
                all that it refers to, and may be called again for the same blocks.
        """
        if self.layers.keys is None:
            frame = apply_layer(_keyed_files(self), _tail_actions(self))
            return map_in_arrow(frame, partial(_of_rows, function), schema)
        pieces = self._pieces("add")
        task = partial(map_blocks, self.source, self.layers, pieces, function)
        return run_tasks(self.spark, len(pieces), task, schema)

    def tombstones(self) -> DataFrame:
        """Return the tombstones by `TOMBSTONES_SCHEMA`, in no order."""
        if self.layers.keys is None:
            return apply_tombstones(_keyed_tombstones(self), _tail_actions(self))
        pieces = self._pieces("remove")
        task = partial(read_tombstones, self.source, self.layers, pieces)
        return run_tasks(self.spark, len(pieces), task, TOMBSTONES_SCHEMA)

    def _pieces(self, action: str) -> list[RowGroupTask | int]:
        """Return what tasks read: pieces of the checkpoint, and numbers of layers."""
        pieces: list[RowGroupTask | int] = []
        if self.checkpoint is not None:
            pieces.extend(row_group_tasks(self.checkpoint, action))
        pieces.extend(range(len(self.layers.packs)))
        return pieces


# === Loading ===


def use_state(
    spark: SparkSession,
    source: TablePlace,
    version: int | None,
    use: Callable[[ReplayedState], T],
    *,
    by_compactions: bool = False,
) -> T:
    """Replay a version and do something with it, by an older checkpoint if need be.

    Args:
        use: What is done; it may be called again, when tasks find out that the
            checkpoint does not read.
        by_compactions: Whether compactions may stand for commits; then `use` calls
            `ReplayedState.check_totals`.
    """

    def attempt(segment: LogSegment) -> T:
        state = _read_segment(spark, source, segment)
        try:
            with of_files_of(segment.checkpoint), faults_are_raised():
                return use(state)
        finally:
            state.close()

    return try_segments(source.open(), version, attempt, by_compactions=by_compactions)


def load_state(
    spark: SparkSession, source: TablePlace, version: int | None = None
) -> ReplayedState:
    """Read what the driver holds of a version, the newest one for None.

    A checkpoint whose files do not read is skipped for an older one as far as
    footers and rare actions show it; `use_state` does so for its row groups, too.
    """
    return try_segments(source.open(), version, partial(_read_segment, spark, source))


def _read_segment(
    spark: SparkSession, source: TablePlace, segment: LogSegment
) -> ReplayedState:
    store = source.open()
    reader, protocol, metadata = None, None, None
    if segment.checkpoint is not None:
        with of_checkpoint(segment.checkpoint):
            reader = CheckpointReader(store, segment.checkpoint)
            protocol, metadata = reader.protocol_and_metadata(reads_ahead=False)
    packs = pack_commits(segment.replayed_statuses(store))
    status = commit_status(store, segment.version)
    with faults_are_raised():
        tail = read_layers(
            spark,
            source,
            segment.version,
            packs,
            protocol=protocol,
            metadata=metadata,
        )
    return ReplayedState(
        spark=spark,
        source=source,
        version=segment.version,
        protocol=tail.protocol,
        metadata=tail.metadata,
        checkpoint=reader,
        layers=tail.layers,
        new_transactions=tail.transactions,
        commit_status=status,
        is_by_compactions=bool(segment.compactions),
    )


# === In a task ===


def _rows_of_blocks(blocks: Blocks) -> Batches:
    for block in blocks:
        yield from in_small_batches(file_rows(block))


# === Shuffled ===


def _tail_actions(state: ReplayedState) -> DataFrame:
    layers = state.layers
    task = partial(_read_actions, state.source, layers)
    frame = run_tasks(state.spark, len(layers.packs), task, ACTIONS_SCHEMA)
    size = sum(pack.size_bytes for pack in layers.packs)
    partitions = SHUFFLE_PARTITIONS + size // SHUFFLED_BYTES
    return frame.repartition(partitions, KEY.name)


def _read_actions(source: TablePlace, layers: TailLayers, number: int) -> Batches:
    with faults_are_carried():
        tail = read_tail(source.open(), layers.packs[number], layers.partition_keys)
        for rows in action_rows(tail, number):
            yield from in_small_batches(rows)


def _keyed_files(state: ReplayedState) -> DataFrame:
    return _keyed(state, "add", _checkpoint_files, LIVE_FILES_SCHEMA)


def _keyed_tombstones(state: ReplayedState) -> DataFrame:
    return _keyed(state, "remove", checkpoint_tombstones, TOMBSTONES_SCHEMA)


def _keyed(
    state: ReplayedState,
    action: str,
    read: Callable[[TableStore, RowGroupTask], Iterable[pa.RecordBatch]],
    schema: pa.Schema,
) -> DataFrame:
    """Return one kind of file action of the checkpoint, with keys."""
    pieces = (
        [] if state.checkpoint is None else row_group_tasks(state.checkpoint, action)
    )
    task = partial(_read_keyed, state.source, pieces, read)
    return run_tasks(state.spark, len(pieces), task, pa.schema([KEY, *schema]))


def _read_keyed(
    source: TablePlace,
    pieces: Sequence[RowGroupTask],
    read: Callable[[TableStore, RowGroupTask], Iterable[pa.RecordBatch]],
    number: int,
) -> Batches:
    with faults_are_carried():
        for rows in read(source.open(), pieces[number]):
            yield from in_small_batches(with_keys(rows))


def _checkpoint_files(store: TableStore, task: RowGroupTask) -> Batches:
    for block in checkpoint_blocks(store, task):
        yield file_rows(SelectedBlock(block))


def _of_rows(function: BlockFunction, batches: Batches) -> Batches:
    with faults_are_carried():
        yield from function(block_of_rows(batch) for batch in batches)


# === Commits too large for one process ===


def reconcile_tail(actions: DataFrame) -> DataFrame:
    """Reconcile the file actions of packs: the last one of each key wins.

    Args:
        actions: By `ACTIONS_SCHEMA`, each pack reconciled already.
    """
    rest = [name for name in ACTIONS_SCHEMA.names if name not in {KEY.name, "pack"}]
    last = F.max_by(F.struct(*rest), "pack").alias("last")
    return actions.groupBy(KEY.name).agg(last).select(KEY.name, "last.*")


def apply_layer(files: DataFrame, actions: DataFrame) -> DataFrame:
    """Return the live files after some commits.

    Args:
        files: Those before, by `LIVE_FILES_SCHEMA` with their keys.
        actions: File actions of the commits, by `ACTIONS_SCHEMA`.
    """
    return _applied(files, actions, LIVE_FILES_SCHEMA.names, is_add=True)


def apply_tombstones(tombstones: DataFrame, actions: DataFrame) -> DataFrame:
    """Return the tombstones after some commits; as `apply_layer` does the files."""
    return _applied(tombstones, actions, TOMBSTONES_SCHEMA.names, is_add=False)


def _applied(
    before: DataFrame, actions: DataFrame, names: list[str], *, is_add: bool
) -> DataFrame:
    kept = before.join(actions.select(KEY.name), KEY.name, "left_anti")
    newest = reconcile_tail(actions).where(F.col("is_add") == F.lit(is_add))
    return kept.select(*names).unionByName(newest.select(*names))
