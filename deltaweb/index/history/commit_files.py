"""File actions as lifetimes take them: of parsed commits, and of a snapshot."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.commit_batch import CommitBatch
from deltaweb.delta.file_actions import dv_ids, file_keys
from deltaweb.index.history.lifetimes import UNKNOWN, FileActions, Longs


def batch_file_actions(batch: CommitBatch) -> FileActions:
    """Return the file actions of parsed commits, which tell of which files they are."""
    table = batch.actions.table
    adds, removes = _array(table["add"]), _array(table["remove"])
    rows = pc.indices_nonzero(pc.or_(adds.is_valid(), removes.is_valid()))
    versions = np.array([entry.version for entry in batch.entries], dtype=np.int64)
    adds, removes = adds.take(rows), removes.take(rows)
    paths = pc.coalesce(_field(adds, "path"), _field(removes, "path"))
    ids = [dv_ids(_field(part, "deletionVector")) for part in (adds, removes)]
    num_records = _array(batch.adds.num_records).take(rows)
    return FileActions(
        versions=versions[batch.owners(rows.to_numpy())],
        keys=file_keys(pc.fill_null(paths, ""), pc.coalesce(*ids)),
        is_add=adds.is_valid().to_numpy(zero_copy_only=False),
        sizes=_longs(_field(adds, "size"), UNKNOWN),
        rows=_longs(num_records, UNKNOWN),
        deletion_ms=_longs(_field(removes, "deletionTimestamp"), 0),
    )


def starting_files(files: pa.Table, rows: pa.ChunkedArray, version: int) -> FileActions:
    """Return the files that a run starts with, as if `version` had added them.

    Args:
        files: The files of a snapshot, by the snapshot's columns.
        rows: Their numbers of rows; null where untold.
        version: The version before the run's first.
    """
    count = files.num_rows
    whole = files.combine_chunks()
    keys = file_keys(_array(whole["path"]), _array(whole["dv_id"]))
    return FileActions(
        versions=np.full(count, version, dtype=np.int64),
        keys=keys,
        is_add=np.ones(count, dtype=np.bool_),
        sizes=_longs(_array(whole["size"]), UNKNOWN),
        rows=_longs(_array(rows), UNKNOWN),
        deletion_ms=np.zeros(count, dtype=np.int64),
    )


def _field(actions: pa.StructArray, name: str) -> pa.Array:
    return pc.struct_field(actions, [name])


def _array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        return (
            pa.concat_arrays(column.chunks)
            if column.num_chunks
            else pa.array([], column.type)
        )
    return column


def _longs(array: pa.Array, missing: int) -> Longs:
    filled: Longs = pc.fill_null(array, missing).to_numpy(zero_copy_only=False)
    return filled
