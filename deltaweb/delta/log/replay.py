"""How actions are reconciled into the files of a table.

The live files are blocks of Arrow arrays, each with a mask of the rows that are still
live; blocks are immutable and shared between versions. Newer commits come as one
`TailLayer`: inside it the last action of a key wins, and against what is older it is
one anti-join by its keys. A new version is new masks and one more block.

Source: delta_protocol.md, "Action Reconciliation".
"""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import (
    LogCorruptError,
    MissingMetadataError,
    MissingProtocolError,
)
from deltaweb.delta.log.blocks import FileBlock, KeySet, RawStatistics, SelectedBlock
from deltaweb.delta.log.file_actions import (
    FILES_SCHEMA,
    TOMBSTONES_SCHEMA,
    canonical_keys,
    dv_ids,
    file_keys,
    file_vectors,
    files_batch,
    files_of_block,
    has_absolute_paths,
    partition_map,
)
from deltaweb.delta.protocol.actions import Metadata, Protocol

T = TypeVar("T")
R = TypeVar("R")

ROWS_WORTH_THREADS: Final = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class TailLayer:
    """Newer commits, reconciled among themselves.

    Attributes:
        keys: Every file that the commits speak of.
        block: The files that they add; None when they add none.
    """

    keys: KeySet
    block: FileBlock | None
    tombstones: pa.Table


def no_layer() -> TailLayer:
    """Return the layer of no commits: a version that a checkpoint tells whole."""
    return TailLayer(
        keys=KeySet(pa.array([], pa.string())),
        block=None,
        tombstones=TOMBSTONES_SCHEMA.empty_table(),
    )


def in_force(
    protocol: Protocol | None, metadata: Metadata | None, *, root: str, version: int
) -> tuple[Protocol, Metadata]:
    """Return both as they are; a version without one of them is not one."""
    if protocol is None:
        raise MissingProtocolError(root=root, version=version)
    if metadata is None:
        raise MissingMetadataError(root=root, version=version)
    return protocol, metadata


def last_rows(keys: pa.Array) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Return the last row of each key, ascending.

    Args:
        keys: A key a row, oldest action first.
    """
    codes = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    last = np.empty(len(codes) and int(codes.max()) + 1, dtype=np.int64)
    last[codes] = np.arange(len(codes), dtype=np.int64)
    return np.sort(last)


def reconcile_tail(
    adds: pa.StructArray,
    removes: pa.StructArray,
    *,
    partition_columns: Iterable[str],
    path: str,
    load_statistics: Callable[["np.ndarray[Any, np.dtype[np.int64]]"], RawStatistics],
) -> TailLayer:
    """Reconcile the file actions of some commits: the last one of each key wins.

    Args:
        adds: The add of each line, null where the line holds another action.
        removes: The remove of each line, row for row with `adds`.
        partition_columns: Columns that each file has a partition value of, in the
            order to hold them in; `adds` may have them in another.
        load_statistics: Reads the statistics of lines, given their rows.
    """
    rows = _file_action_rows(adds, removes, path=path)
    keys = file_keys(
        pc.coalesce(_field(adds, "path"), _field(removes, "path")),
        _any_dv_ids(adds, removes),
    ).take(rows)
    absolute = len(keys) and has_absolute_paths(keys)
    last = last_rows(canonical_keys(keys) if absolute else keys)
    lines = rows.to_numpy()[last]
    is_add = adds.is_valid().to_numpy(zero_copy_only=False)[lines]
    added, removed = lines[is_add], lines[~is_add]
    block = FileBlock(
        _added_files(adds.take(pa.array(added)), list(partition_columns)),
        lambda: load_statistics(added),
    )
    return TailLayer(
        keys=KeySet(keys.take(pa.array(last))),
        block=block if len(added) else None,
        tombstones=_tombstones(removes.take(pa.array(removed))),
    )


def apply_layer(
    blocks: Sequence[SelectedBlock], layer: TailLayer
) -> tuple[SelectedBlock, ...]:
    """Return the live files after the commits of `layer`."""
    kept = tuple(blocks)
    if len(layer.keys):
        kept = tuple(
            run_in_threads(
                lambda block: block.without(layer.keys),
                blocks,
                num_rows=_count_rows(blocks),
            )
        )
    kept = tuple(block for block in kept if block.num_files)
    return kept if layer.block is None else (*kept, SelectedBlock(layer.block))


def compact_blocks(blocks: Sequence[SelectedBlock]) -> tuple[SelectedBlock, ...]:
    """Return the live rows alone, so that memory is held for them alone."""
    num_rows = _count_rows(blocks)
    return tuple(run_in_threads(SelectedBlock.compact, blocks, num_rows=num_rows))


def concat_files(blocks: Sequence[SelectedBlock]) -> pa.Table:
    """Return the rows of compact blocks as one table by `FILES_SCHEMA`."""
    batches = run_in_threads(
        lambda one: files_of_block(one.block.files),
        blocks,
        num_rows=_count_rows(blocks),
    )
    return pa.Table.from_batches(batches, FILES_SCHEMA)


def concat_tombstones(older: pa.Table, layers: Iterable[TailLayer]) -> pa.Table:
    """Return the tombstones of a checkpoint and of what came after it."""
    result = older
    for layer in layers:
        if len(layer.keys) and result.num_rows:
            batches = [
                batch.filter(
                    pc.invert(
                        layer.keys.contains(file_keys(batch["path"], batch["dv_id"]))
                    )
                )
                for batch in result.to_batches()
            ]
            result = pa.Table.from_batches(batches, TOMBSTONES_SCHEMA)
        result = pa.concat_tables([result, layer.tombstones])
    return result


def run_in_threads(
    function: Callable[[T], R], items: Sequence[T], *, num_rows: int
) -> list[R]:
    """Call a function that releases the GIL on each item, in order of the items.

    Args:
        num_rows: Rows that all items hold: for a few, threads cost more than they
            save.
    """
    workers = min(len(items), os.cpu_count() or 1)
    if workers <= 1 or num_rows < ROWS_WORTH_THREADS:
        return [function(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))


def _count_rows(blocks: Sequence[SelectedBlock]) -> int:
    return sum(block.block.files.num_rows for block in blocks)


def _file_action_rows(
    adds: pa.StructArray, removes: pa.StructArray, *, path: str
) -> pa.Array:
    """Return the rows that hold a file action, each of which must name its file."""
    is_add, is_remove = adds.is_valid(), removes.is_valid()
    both = pc.and_(is_add, is_remove)
    if both.true_count:
        raise LogCorruptError(path=path, reason="a line has two file actions")
    rows = pc.indices_nonzero(pc.or_(is_add, is_remove)).cast(pa.int64())
    for actions in (adds, removes):
        if _field(actions, "path").null_count != actions.null_count:
            raise LogCorruptError(path=path, reason="a file action has no path")
    return rows


def _field(actions: pa.StructArray, name: str) -> pa.Array:
    return pc.struct_field(actions, [name])


def _any_dv_ids(adds: pa.StructArray, removes: pa.StructArray) -> pa.Array | None:
    vectors = [_field(actions, "deletionVector") for actions in (adds, removes)]
    if all(vector.null_count == len(vector) for vector in vectors):
        return None
    return pc.coalesce(*(dv_ids(vector) for vector in vectors))


def _added_files(
    adds: pa.StructArray, partition_columns: Sequence[str]
) -> pa.RecordBatch:
    values = _in_order(_field(adds, "partitionValues"), partition_columns)
    columns = [
        _field(adds, "path"),
        _field(adds, "size"),
        _field(adds, "modificationTime"),
        _field(adds, "dataChange"),
        partition_map(values, frozenset(partition_columns)),
        dv_ids(_field(adds, "deletionVector")),
        file_vectors(_field(adds, "deletionVector")),
    ]
    return files_batch(columns)


def _in_order(values: pa.StructArray, names: Sequence[str]) -> pa.StructArray:
    """Return a struct whose named fields follow the order of the names."""
    fields = [field.name for field in values.type]
    columns = dict(zip(fields, values.flatten(), strict=True))
    named = [name for name in dict.fromkeys(names) if name in columns]
    places, following = set(named), iter(named)
    wanted = [next(following) if name in places else name for name in fields]
    if wanted == fields:
        return values
    return pa.StructArray.from_arrays([columns[name] for name in wanted], names=wanted)


def _tombstones(removes: pa.StructArray) -> pa.Table:
    columns = [
        _field(removes, "path"),
        pc.fill_null(_field(removes, "deletionTimestamp"), 0),
        _field(removes, "dataChange"),
        _field(removes, "size"),
        dv_ids(_field(removes, "deletionVector")),
    ]
    return pa.Table.from_arrays(columns, schema=TOMBSTONES_SCHEMA)
