"""The file actions of commits, read for their history's sake: narrow and in batches."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.action_json import CommitData, parse_actions
from deltaweb.delta.file_actions import DELETION_VECTOR, dv_ids, file_keys
from deltaweb.delta.log_path import commit_name
from deltaweb.delta.log_store import LogStore
from deltaweb.delta.schema import StructType
from deltaweb.delta.statistics import parse_statistics
from deltaweb.index.lifetimes import UNKNOWN, FileActions, Longs

BATCH_COMMITS: Final = 256
_NO_COLUMNS: Final = StructType(())
_ADD: Final = pa.struct(
    {
        "path": pa.string(),
        "size": pa.int64(),
        "stats": pa.string(),
        "deletionVector": DELETION_VECTOR,
    }
)
_REMOVE: Final = pa.struct(
    {
        "path": pa.string(),
        "deletionTimestamp": pa.int64(),
        "deletionVector": DELETION_VECTOR,
    }
)
_ACTIONS: Final = pa.schema({"add": _ADD, "remove": _REMOVE})


def read_file_actions(
    store: LogStore, versions: Sequence[int], on_batch: Callable[[int], None]
) -> Iterator[FileActions]:
    """Yield the file actions of commits, a batch of commits at a time.

    Args:
        store: Where the log is.
        versions: The commits, ascending.
        on_batch: Called with the count of commits read so far.

    Raises:
        LogCorruptError: If a commit does not parse.
        FileNotFoundError: If a commit is gone.
    """
    for start in range(0, len(versions), BATCH_COMMITS):
        batch = versions[start : start + BATCH_COMMITS]
        names = [commit_name(version) for version in batch]
        data = store.read_many(names)
        commits = [CommitData(*pair) for pair in zip(names, data, strict=True)]
        actions = parse_actions(commits, _ACTIONS)
        rows_per_commit = np.diff(actions.row_ends, prepend=0)
        row_versions = np.repeat(np.array(batch, dtype=np.int64), rows_per_commit)
        yield _file_actions(actions.table, row_versions)
        on_batch(start + len(batch))


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


def _file_actions(table: pa.Table, row_versions: Longs) -> FileActions:
    adds, removes = _array(table["add"]), _array(table["remove"])
    wanted = pc.or_(adds.is_valid(), removes.is_valid())
    rows = pc.indices_nonzero(wanted)
    adds, removes = adds.take(rows), removes.take(rows)
    paths = pc.coalesce(_field(adds, "path"), _field(removes, "path"))
    ids = [dv_ids(_field(part, "deletionVector")) for part in (adds, removes)]
    stats = pa.chunked_array([_field(adds, "stats")])
    num_records = parse_statistics(stats, _NO_COLUMNS)["num_records"]
    return FileActions(
        versions=row_versions[rows.to_numpy()],
        keys=file_keys(pc.fill_null(paths, ""), pc.coalesce(*ids)),
        is_add=adds.is_valid().to_numpy(zero_copy_only=False),
        sizes=_longs(_field(adds, "size"), UNKNOWN),
        rows=_longs(_array(num_records), UNKNOWN),
        deletion_ms=_longs(_field(removes, "deletionTimestamp"), 0),
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
