"""A log as tasks read it: row groups of a checkpoint, and packs of commits.

Executors open the log by the same stores as every other process, so that storage
options and credentials work the same, and read it by the in-process engine's readers.
What travels to them is a `TablePlace` and a piece of work; what comes back are Arrow
batches.

Source: delta_protocol.md, "Delta Log Entries" and "Checkpoints".
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.blocks import FileBlock, RawStatistics, SelectedBlock
from deltaweb.delta.log.checkpoints.files import read_blocks, read_tombstones
from deltaweb.delta.log.checkpoints.part import CheckpointRowGroup, open_part
from deltaweb.delta.log.checkpoints.reader import CheckpointReader
from deltaweb.delta.log.commits import tail as commit_tail
from deltaweb.delta.log.commits.partition_keys import PartitionKeys
from deltaweb.delta.log.commits.tail import Tail, TailCommits
from deltaweb.delta.log.file_actions import (
    FILES_SCHEMA,
    TOMBSTONES_SCHEMA,
    canonical_keys,
    file_keys,
    files_of_block,
)
from deltaweb.delta.log.store import FileStatus, LogStore, TableStore
from deltaweb.index.files.statistics_text import statistics_texts

PACK_BYTES: Final = 16 << 20
PACK_COMMITS: Final = 4_096

LIVE_FILES_SCHEMA: Final = FILES_SCHEMA.append(pa.field("stats", pa.string()))
KEY: Final = pa.field("key", pa.string())
REMOVED_SCHEMA: Final = pa.schema(
    [field for field in TOMBSTONES_SCHEMA if field.name not in FILES_SCHEMA.names]
)
ACTIONS_SCHEMA: Final = pa.schema(
    [
        KEY,
        pa.field("pack", pa.int32()),
        pa.field("is_add", pa.bool_()),
        *LIVE_FILES_SCHEMA,
        *REMOVED_SCHEMA,
    ]
)


class RowGroupTask(NamedTuple):
    """A piece of a checkpoint: the row groups of a file that are read at once.

    Attributes:
        position: Position in what `open_part` returns of it.
    """

    name: str
    position: int


class CommitPack(NamedTuple):
    """Commits that follow each other and are read by one task."""

    names: tuple[str, ...]
    size_bytes: int


def pack_commits(commits: Sequence[FileStatus]) -> list[CommitPack]:
    """Put commits into packs of about `PACK_BYTES`, oldest first."""
    packs: list[CommitPack] = []
    names: list[str] = []
    size = 0
    for commit in commits:
        if names and (size + commit.size > PACK_BYTES or len(names) >= PACK_COMMITS):
            packs.append(CommitPack(tuple(names), size))
            names, size = [], 0
        names.append(commit.name)
        size += commit.size
    if names:
        packs.append(CommitPack(tuple(names), size))
    return packs


def row_group_tasks(reader: CheckpointReader, action: str) -> list[RowGroupTask]:
    """Return the pieces of a checkpoint that hold any action of a kind."""
    tasks = []
    counts: Counter[str] = Counter()
    for group in reader.row_groups:
        name = group.part.name
        if group.find_leaves(f"{action}.path"):
            tasks.append(RowGroupTask(name, counts[name]))
        counts[name] += 1
    return tasks


# === In a task ===


def read_tail(
    store: TableStore, pack: CommitPack, keys: PartitionKeys | None = None
) -> Tail:
    """Reconcile the actions of a pack's commits."""
    commits = TailCommits(store, pack.names)
    return commit_tail.read_tail(commits, keys=keys, holds_statistics=True)


def checkpoint_blocks(store: TableStore, task: RowGroupTask) -> list[FileBlock]:
    """Read the live files of a piece of a checkpoint."""
    return read_blocks(open_row_group(store, task))


def checkpoint_tombstones(
    store: TableStore, task: RowGroupTask
) -> list[pa.RecordBatch]:
    """Read the tombstones of a piece of a checkpoint, by `TOMBSTONES_SCHEMA`."""
    return read_tombstones(open_row_group(store, task))


def open_row_group(store: LogStore, task: RowGroupTask) -> CheckpointRowGroup:
    groups = open_part(store, task.name)
    if task.position >= len(groups):
        path = f"{store.root}/_delta_log/{task.name}"
        raise LogCorruptError(path=path, reason="it changed while it was read")
    return groups[task.position]


def file_rows(selected: SelectedBlock) -> pa.RecordBatch:
    """Return the live rows of a block by `LIVE_FILES_SCHEMA`."""
    compact = selected.compact().block
    files = files_of_block(compact.files)
    texts = statistics_texts(
        compact.load_statistics(), compact.load_text, files.num_rows
    )
    return pa.RecordBatch.from_arrays([*files.columns, texts], schema=LIVE_FILES_SCHEMA)


def block_of_rows(rows: pa.RecordBatch) -> SelectedBlock:
    """Return rows by `LIVE_FILES_SCHEMA` as a block: the inverse of `file_rows`."""
    statistics = RawStatistics(pa.chunked_array([rows["stats"]]), None)
    files = rows.select(FILES_SCHEMA.names).cast(FILES_SCHEMA)
    return SelectedBlock(FileBlock(files, lambda: statistics))


def row_keys(rows: pa.RecordBatch) -> pa.Array:
    """Return the keys of files or tombstones, absolute paths in one spelling."""
    return canonical_keys(file_keys(rows["path"], rows["dv_id"]))


def with_keys(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return files or tombstones with their keys in a first column."""
    return pa.RecordBatch.from_arrays(
        [row_keys(rows), *rows.columns], schema=pa.schema([KEY, *rows.schema])
    )


def action_rows(tail: Tail, pack: int) -> Iterator[pa.RecordBatch]:
    """Return the reconciled file actions of a pack by `ACTIONS_SCHEMA`."""
    layer = tail.layer
    if layer.block is not None:
        yield _as_actions(file_rows(SelectedBlock(layer.block)), pack=pack, is_add=True)
    for removed in layer.tombstones.combine_chunks().to_batches():
        yield _as_actions(removed, pack=pack, is_add=False)


def _as_actions(rows: pa.RecordBatch, *, pack: int, is_add: bool) -> pa.RecordBatch:
    count = rows.num_rows
    given = {
        "key": row_keys(rows),
        "pack": pa.repeat(pa.scalar(pack, pa.int32()), count),
        "is_add": pa.repeat(is_add, count),
        **dict(zip(rows.schema.names, rows.columns, strict=True)),
    }
    columns = [
        given[column.name] if column.name in given else pa.nulls(count, column.type)
        for column in ACTIONS_SCHEMA
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ACTIONS_SCHEMA)
