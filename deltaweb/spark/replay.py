"""The state of a table at one version, replayed by Spark.

The rules are those of `deltaweb.delta.replay`, and so are the names. A log segment is
pieces of work: row groups of the checkpoint, and packs of commits. Each pack is
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

from deltaweb.delta.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.checkpoint import CheckpointReader
from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.file_actions import TOMBSTONES_SCHEMA
from deltaweb.delta.log_segment import Checkpoint, LogSegment
from deltaweb.delta.log_store import FileStatus, TableStore
from deltaweb.delta.partition_keys import PartitionKeys, partition_keys
from deltaweb.delta.replay import SelectedBlock
from deltaweb.spark import segments
from deltaweb.spark.arrow_frames import (
    Batches,
    in_small_batches,
    map_in_arrow,
    run_tasks,
)
from deltaweb.spark.log_reader import (
    ACTIONS_SCHEMA,
    KEY,
    LIVE_FILES_SCHEMA,
    CommitPack,
    LogSource,
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
from deltaweb.spark.session import SHUFFLE_PARTITIONS
from deltaweb.spark.shuffled_actions import apply_layer, apply_tombstones
from deltaweb.spark.tail_facts import TailFacts, read_layers
from deltaweb.spark.tail_layers import (
    BlockFunction,
    Blocks,
    TailLayers,
    map_blocks,
    read_tombstones,
)
from deltaweb.spark.task_faults import faults_are_carried, faults_are_raised

T = TypeVar("T")

SHUFFLED_BYTES: Final = 128 << 20
"""Commits of so many bytes are a partition of their own when shuffled."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplayedState:
    """The state of a table at one version, its files in the executors.

    Attributes:
        spark: The session.
        source: The table's log.
        version: The version.
        protocol: The protocol in force.
        metadata: The metaData in force.
        checkpoint: The checkpoint below the layers; None without one.
        layers: What came after the checkpoint.
        new_transactions: Transactions of the layers, by application.
        commit_status: Size and time of the version's commit file; None without one.
    """

    spark: SparkSession
    source: LogSource
    version: int
    protocol: Protocol
    metadata: Metadata
    checkpoint: CheckpointReader | None
    layers: TailLayers
    new_transactions: dict[str, SetTransaction]
    commit_status: FileStatus | None

    def close(self) -> None:
        """Let go of what the executors hold; frames of the state end with it."""
        self.layers.drop()

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
            schema: The columns of the batches that it makes.
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
    source: LogSource,
    version: int | None,
    use: Callable[[ReplayedState], T],
) -> T:
    """Replay a version and do something with it, by an older checkpoint if need be.

    Args:
        spark: The session.
        source: The table's log.
        version: The version, the newest one for None.
        use: What is done; it may be called again, when tasks find out that the
            checkpoint does not read.

    Raises:
        DeltaError: As `deltaweb.delta.snapshot_state.load_state` does; and those of
            `use`.
    """
    unreadable: dict[Checkpoint, LogCorruptError] = {}
    while True:
        state, checkpoint = _load(spark, source, version, unreadable)
        try:
            with faults_are_raised():
                return use(state)
        except LogCorruptError as fault:
            name = fault.path.rsplit("/", 1)[-1]
            if checkpoint is None or name not in checkpoint.names:
                raise
            unreadable[checkpoint] = fault
        finally:
            state.close()


def load_state(
    spark: SparkSession, source: LogSource, version: int | None = None
) -> ReplayedState:
    """Read what the driver holds of a version, the newest one for None.

    A checkpoint whose files do not read is passed over for an older one as far as
    footers and rare actions tell; `use_state` does so for its row groups, too.

    Raises:
        DeltaError: As `deltaweb.delta.snapshot_state.load_state` does.
    """
    return _load(spark, source, version, {})[0]


def _load(
    spark: SparkSession,
    source: LogSource,
    version: int | None,
    unreadable: dict[Checkpoint, LogCorruptError],
) -> tuple[ReplayedState, Checkpoint | None]:
    while True:
        segment = segments.find_segment(source.open(), version, unreadable)
        try:
            with faults_are_raised():
                return _read_segment(spark, source, segment), segment.checkpoint
        except _UnreadableCheckpointError as fault:
            unreadable[fault.checkpoint] = fault.cause


class _UnreadableCheckpointError(Exception):
    """A checkpoint turned out broken while it was read."""

    def __init__(self, checkpoint: Checkpoint, cause: LogCorruptError) -> None:
        super().__init__(str(cause))
        self.checkpoint = checkpoint
        self.cause = cause


def _read_segment(
    spark: SparkSession, source: LogSource, segment: LogSegment
) -> ReplayedState:
    store = source.open()
    reader, protocol, metadata = None, None, None
    if segment.checkpoint is not None:
        try:
            reader = CheckpointReader(store, segment.checkpoint)
            protocol, metadata = reader.protocol_and_metadata(reads_ahead=False)
        except LogCorruptError as fault:
            raise _UnreadableCheckpointError(segment.checkpoint, fault) from None
    packs = pack_commits(segments.commit_statuses(store, segment))
    tail = read_layers(spark, source, packs, protocol=protocol, metadata=metadata)
    try:
        protocol, metadata = segments.in_force(
            tail.protocol or protocol,
            tail.metadata or metadata,
            root=store.root,
            version=segment.version,
        )
        commit_status = segments.commit_status(store, segment.version)
    except BaseException:
        tail.drop()
        raise
    return ReplayedState(
        spark=spark,
        source=source,
        version=segment.version,
        protocol=protocol,
        metadata=metadata,
        checkpoint=reader,
        layers=_layers(packs, tail, required=partition_keys(protocol, metadata)),
        new_transactions=tail.transactions,
        commit_status=commit_status,
    )


def _layers(
    packs: Sequence[CommitPack], tail: TailFacts, *, required: Sequence[str]
) -> TailLayers:
    """Return the layers, with those that are held if they were read as they should."""
    keys = PartitionKeys(tuple(tail.possible_keys), tuple(required))
    held = tail.held
    if held is not None and held.keys != keys:
        held.drop()
        held = None
    return TailLayers(packs=packs, partition_keys=keys, keys=tail.keys, held=held)


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


def _read_actions(source: LogSource, layers: TailLayers, number: int) -> Batches:
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
    source: LogSource,
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
