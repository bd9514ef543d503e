"""What tasks do for a checkpoint: read pieces of the log, and write parts.

Between the two, file actions travel as they are in the log, in packs by the bucket
that the CRC-32 of their paths names. All actions of a file meet in one bucket, so each
is reconciled by itself: first the keys of its commits, which tell the last action of
each file; then the rows of the older checkpoint and of the commits, in their order. A
bucket belongs to one part; a part has as many as keep the keys of one small.

Source: delta_protocol.md, "Action Reconciliation".
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.checkpoint_files import typed_column
from deltaweb.delta.checkpoint_writer.builder import prepare_checkpoint
from deltaweb.delta.checkpoint_writer.commit_facts import CommitFacts
from deltaweb.delta.checkpoint_writer.commit_source import (
    read_commit_actions,
    read_commit_files,
)
from deltaweb.delta.checkpoint_writer.file_rows import FileRows
from deltaweb.delta.checkpoint_writer.older_checkpoint import (
    names_fault,
    read_group_files,
    without,
)
from deltaweb.delta.checkpoint_writer.parts import (
    PartWriter,
    open_part_writer,
    split_paths,
)
from deltaweb.delta.checkpoint_writer.plan import CheckpointPlan
from deltaweb.delta.checkpoint_writer.read_ahead import read_ahead
from deltaweb.delta.checkpoint_writer.request import CheckpointRequest
from deltaweb.delta.file_actions import canonical_keys, dv_ids, file_keys
from deltaweb.delta.replay import KeySet, last_rows
from deltaweb.spark.arrow_frames import Batches
from deltaweb.spark.checkpoint_progress import TaskProgress
from deltaweb.spark.log_reader import (
    CommitPack,
    LogSource,
    RowGroupTask,
    open_row_group,
)
from deltaweb.spark.task_faults import faults_are_carried

READ_AHEAD: Final = 2
OPENING, KEYS, ROWS = range(3)  # in this order in each bucket
PACKED_SCHEMA: Final = pa.schema(
    [
        pa.field("part", pa.int32()),
        pa.field("bucket", pa.int32()),
        pa.field("kind", pa.int32()),
        pa.field("piece", pa.int32()),
        pa.field("number", pa.int32()),
        pa.field("data", pa.binary()),
    ]
)
ORDER: Final = ("bucket", "kind", "piece", "number")
WRITTEN_SCHEMA: Final = pa.schema(
    [
        pa.field("part", pa.int32()),
        pa.field("name", pa.string()),
        pa.field("beside", pa.string()),
        pa.field("num_actions", pa.int64()),
        pa.field("num_files", pa.int64()),
        pa.field("num_tombstones", pa.int64()),
        pa.field("size_bytes", pa.int64()),
    ]
)
COUNTS: Final = WRITTEN_SCHEMA.names[3:]

Piece = RowGroupTask | CommitPack


@dataclass(frozen=True, slots=True)
class CheckpointWork:
    """What all tasks of a checkpoint in parts know.

    Attributes:
        source: The table's log.
        plan: What the checkpoint will hold.
        version: Its version.
        older_path: The older checkpoint, for faults.
        pieces: What is read: those of the older checkpoint, then packs of commits.
        buckets_a_part: Into how many buckets the actions of a part go.
        build: What the files of this work are marked by.
        progress_folder: Where tasks tell how far they are.
    """

    source: LogSource
    plan: CheckpointPlan = field(repr=False)
    version: int
    older_path: str
    pieces: Sequence[Piece] = field(repr=False)
    buckets_a_part: int
    build: str
    progress_folder: str

    @property
    def num_parts(self) -> int:
        """Count of the checkpoint's files."""
        return len(self.plan.names)

    def progress(self, name: str) -> TaskProgress:
        """Return what a task tells its progress by."""
        return TaskProgress(self.progress_folder, name)


# === Files that one task writes ===


def write_alone(
    source: LogSource,
    request: CheckpointRequest,
    build: str,
    progress: TaskProgress,
    _number: int,
) -> Batches:
    """Write a checkpoint as the in-process engine does, but for putting it in place.

    Counts of all files stand beside the first one.
    """
    with faults_are_carried():
        told = replace(
            request, on_progress=progress.tell, is_cancelled=progress.is_cancelled
        )
        with prepare_checkpoint(source.open(), told) as (prepared, parts):
            beside = [file.hand_over(build) for file in parts.files]
        for part, name in enumerate(beside):
            is_first = part == 0
            counts = {what: getattr(prepared, what) * is_first for what in COUNTS}
            yield _written(part=part, name=prepared.names[part], beside=name, **counts)


def _written(**values: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([values], schema=WRITTEN_SCHEMA)


# === Reading ===


def read_facts(source: LogSource, pack: CommitPack) -> CommitFacts:
    """Read what a pack of commits says beside the fields of its files.

    Raises:
        LogCorruptError: If a commit does not read.
    """
    return read_commit_actions(source.open(), pack.names).facts


def read_facts_in_task(source: LogSource, pack: CommitPack) -> CommitFacts:
    """Read the facts of a pack where its faults have to travel."""
    with faults_are_carried():
        return read_facts(source, pack)


def read_piece(work: CheckpointWork, number: int) -> Batches:
    """Read a piece of the log, and pack its file actions by bucket.

    The task after the last piece opens every part, so that parts without any file are
    written, too.
    """
    with faults_are_carried():
        if number == len(work.pieces):
            yield _opening(work.num_parts)
            return
        piece, store = work.pieces[number], work.source.open()
        progress = work.progress(f"read-{number}")
        is_older = isinstance(piece, RowGroupTask)
        read = _older_actions if is_older else _commit_actions
        done = 0
        for position, actions in enumerate(read(work, piece)):
            progress.check(store, work.version)
            for is_remove, rows in enumerate(actions):
                if rows is not None and len(rows):
                    order = (number, 2 * position + is_remove)
                    yield _packed(work, rows, order, with_keys=not is_older)
                    done += len(rows)
            progress.tell(done // 2, work.plan.num_actions)
        progress.tell(done // 2, 0)


def _older_actions(work: CheckpointWork, piece: Any) -> Iterator[Any]:  # noqa: ANN401 (of its kind)
    return read_group_files(open_row_group(work.source.open(), piece))


def _commit_actions(work: CheckpointWork, piece: Any) -> Iterator[Any]:  # noqa: ANN401 (as above)
    store = work.source.open()
    return read_commit_files(
        store,
        piece.names,
        read_commit_actions(store, piece.names),
        work.plan.partition_keys,
    )


def _opening(count: int) -> pa.RecordBatch:
    rows = [
        {"part": part, "bucket": -1, "kind": OPENING, "piece": 0, "number": 0}
        for part in range(count)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=PACKED_SCHEMA)


def _packed(
    work: CheckpointWork,
    rows: pa.StructArray,
    order: tuple[int, int],
    *,
    with_keys: bool,
) -> pa.RecordBatch:
    """Pack file actions by bucket, and beside them their keys where asked for."""
    buckets = work.num_parts * work.buckets_a_part
    keys = _keys(rows) if with_keys else None
    packed = []
    paths = typed_column(rows, "path", pa.string())
    for bucket, mine in enumerate(split_paths(paths, buckets)):
        if not len(mine):
            continue
        place = (bucket % work.num_parts, bucket)
        packed.append((*place, ROWS, *order, _packed_rows(rows.take(mine))))
        if keys is not None:
            data = _as_bytes(pa.record_batch([keys.take(mine)], names=["key"]))
            packed.append((*place, KEYS, *order, data))
    columns = [list(column) for column in zip(*packed, strict=True)]
    return pa.RecordBatch.from_arrays(
        [
            pa.array(column, kind.type)
            for column, kind in zip(columns, PACKED_SCHEMA, strict=True)
        ],
        schema=PACKED_SCHEMA,
    )


def _keys(rows: pa.StructArray) -> pa.Array:
    paths = typed_column(rows, "path", pa.string())
    vectors = pc.struct_field(rows, ["deletionVector"])
    return canonical_keys(file_keys(paths, dv_ids(vectors)))


def _packed_rows(rows: pa.StructArray) -> bytes:
    return _as_bytes(pa.RecordBatch.from_struct_array(rows))


def _as_bytes(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _from_bytes(data: pa.Buffer) -> pa.RecordBatch:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()


# === Writing ===


class Packed(NamedTuple):
    """File actions of one piece, or their keys, on the way to a part."""

    part: int
    bucket: int
    kind: int
    piece: int
    number: int
    data: pa.Buffer

    @property
    def is_remove(self) -> bool:
        """Whether the rows are removes."""
        return self.number % 2 == 1


def write_parts(work: CheckpointWork, batches: Batches) -> Batches:
    """Write the parts of a partition, each from its packs in their order."""
    with faults_are_carried():
        for part, packs in groupby(_packs(batches), key=lambda packed: packed.part):
            yield _write_part(work, part, packs)


def _packs(batches: Batches) -> Iterator[Packed]:
    for batch in batches:
        names = batch.schema.names[:-1]
        numbers = [batch[name].to_pylist() for name in names]
        for row, placed in enumerate(zip(*numbers, strict=True)):
            yield Packed._make((*placed, batch["data"][row].as_buffer()))


def _write_part(
    work: CheckpointWork, part: int, packs: Iterator[Packed]
) -> pa.RecordBatch:
    store, plan = work.source.open(), work.plan
    progress = work.progress(f"write-{part}")
    layout = plan.shaper.layout
    writer = open_part_writer(store, plan.names[part], layout.schema)
    done = num_files = num_tombstones = 0
    try:
        if part == 0:
            writer.write_first(plan.state.table(layout, root=plan.shaper.root))
        with closing(read_ahead(_part_rows(work, packs), depth=READ_AHEAD)) as shaped:
            for num_read, rows in shaped:
                num_files += _put(writer, "add", rows.adds)
                num_tombstones += _put(writer, "remove", rows.removes)
                done += num_read
                progress.tell(done // 2, plan.num_actions)
                progress.check(store, work.version)
        size_bytes = writer.finish()
        progress.check(store, work.version)
        beside = writer.file.hand_over(work.build)
    finally:
        writer.discard()
    return _written(
        part=part,
        name=plan.names[part],
        beside=beside,
        num_actions=writer.num_rows,
        num_files=num_files,
        num_tombstones=num_tombstones,
        size_bytes=size_bytes,
    )


def _put(writer: PartWriter, action: str, rows: pa.StructArray | None) -> int:
    if rows is None:
        return 0
    writer.put(action, rows)
    writer.write(writer.take_full())
    return len(rows)


def _part_rows(
    work: CheckpointWork, packs: Iterator[Packed]
) -> Iterator[tuple[int, FileRows]]:
    """Reconcile a part, bucket by bucket: yield actions read, and what is left."""
    for _bucket, mine in groupby(packs, key=lambda packed: packed.bucket):
        bucket = _Bucket(work)
        for packed in mine:
            if packed.kind == KEYS:
                bucket.take_keys(_from_bytes(packed.data)["key"])
            elif packed.kind == ROWS:
                yield bucket.rows(packed)


class _Bucket:
    """Some files of a part, and what the commits say of them."""

    def __init__(self, work: CheckpointWork) -> None:
        self._work = work
        self._keys: list[pa.Array] = [pa.array([], pa.string())]
        self._newer: KeySet | None = None
        self._is_last = np.zeros(0, np.bool_)
        self._taken = 0

    def take_keys(self, keys: pa.Array) -> None:
        """Take what a pack of rows of the commits speaks of, in their order."""
        self._keys.append(keys)

    def rows(self, packed: Packed) -> tuple[int, FileRows]:
        """Return how many file actions a pack has, and what is left of them."""
        newer = self._newer or self._know_keys()
        actions = _from_bytes(packed.data).to_struct_array()
        if isinstance(self._work.pieces[packed.piece], RowGroupTask):
            with names_fault(self._work.older_path):
                return len(actions), self._shape(packed, without(actions, newer))
        return len(actions), self._shape(packed, self._last_ones(actions))

    def _know_keys(self) -> KeySet:
        """Find the last action of each file, once all keys are there."""
        keys = pa.concat_arrays(self._keys)
        self._is_last = np.zeros(len(keys), np.bool_)
        self._is_last[last_rows(keys)] = True
        self._newer = KeySet(keys)
        return self._newer

    def _last_ones(self, actions: pa.StructArray) -> pa.StructArray:
        """Return the actions of a pack that are the last ones of their files."""
        first, self._taken = self._taken, self._taken + len(actions)
        return actions.filter(pa.array(self._is_last[first : self._taken]))

    def _shape(self, packed: Packed, actions: pa.StructArray | None) -> FileRows:
        shape = self._work.plan.shaper.shape
        return shape(None, actions) if packed.is_remove else shape(actions, None)
