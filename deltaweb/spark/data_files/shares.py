"""Data files dealt out to tasks, so that each reads about as many bytes."""

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.scan.rows import DELETED_BY

READ: Final = ("path", "partition_values", VECTOR, DELETED_BY)
"""Of a file, for its rows."""
TASK_BYTES: Final = 64 << 20
"""Data files that a task reads, about."""
MAX_TASKS: Final = 400


def deal_out(
    files: pa.Table, *, at_least: int, more: Sequence[str] = ()
) -> list[pa.Table]:
    """Return what rows are read from of files in shares, none of them empty.

    Args:
        files: Rows by `FILES_SCHEMA`, or with what of it a `RowSource` needs and size.
        at_least: How many shares where the files are as many: what runs at once.
    """
    count = min(num_tasks(size_bytes(files), at_least=at_least), files.num_rows)
    order = pc.sort_indices(files["size"], sort_keys=[("", "descending")])
    ordered = files.select(
        [name for name in (*READ, *more) if name in files.column_names]
    )
    ordered = ordered.take(order)
    return [
        ordered.take(pa.array(range(first, ordered.num_rows, count), pa.int64()))
        for first in range(count)
    ]


def num_tasks(size_bytes: int, *, at_least: int) -> int:
    """Return how many tasks share so many bytes."""
    return min(max(-(-size_bytes // TASK_BYTES), at_least), MAX_TASKS)


def size_bytes(files: pa.Table) -> int:
    """Return the bytes of files."""
    return int(pc.sum(files["size"]).as_py() or 0)
