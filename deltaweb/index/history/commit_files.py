"""File actions as lifetimes take them: of parsed commits, and of a snapshot."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.commits.batch import CommitBatch
from deltaweb.delta.log.file_actions import VECTOR, file_keys
from deltaweb.delta.values.statistics.record_counts import live_records
from deltaweb.index.history.lifetimes import UNKNOWN, FileActions, Longs


def batch_file_actions(batch: CommitBatch) -> FileActions:
    """Return the file actions of parsed commits, with the files that they are about."""
    files = batch.files
    versions = np.array(batch.versions, dtype=np.int64)
    return FileActions(
        versions=versions[files.owners],
        keys=file_keys(pc.fill_null(files.paths, ""), files.dv_ids),
        is_add=files.is_add,
        sizes=np.where(files.is_add, _longs(files.sizes, UNKNOWN), UNKNOWN),
        rows=np.where(files.is_add, _longs(files.num_records, UNKNOWN), UNKNOWN),
        deletion_ms=np.where(files.is_add, 0, _longs(files.deletion_ms, 0)),
    )


def starting_files(files: pa.Table, rows: pa.ChunkedArray, version: int) -> FileActions:
    """Return the files that a run starts with, as if `version` had added them.

    Args:
        rows: Their numbers of rows, deleted ones too; null if unknown.
    """
    count = files.num_rows
    whole = files.combine_chunks()
    keys = file_keys(_array(whole["path"]), _array(whole["dv_id"]))
    return FileActions(
        versions=np.full(count, version, dtype=np.int64),
        keys=keys,
        is_add=np.ones(count, dtype=np.bool_),
        sizes=_longs(_array(whole["size"]), UNKNOWN),
        rows=_longs(live_records(_array(rows), _array(whole[VECTOR])), UNKNOWN),
        deletion_ms=np.zeros(count, dtype=np.int64),
    )


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
