"""Bounds of files whose deletion vectors were written after them.

Such bounds say where a value cannot be, and nothing of what is smallest or largest.

Source: delta_protocol.md, "Per-file Statistics" (`tightBounds`).
"""

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.values.python_values import python_values
from deltaweb.index.folder.file_index import DELETED_ROWS


def wide_files(files: pa.Table) -> pa.ChunkedArray | None:
    """Tell of which files the bounds may be of deleted rows alone; None of none.

    Args:
        files: By `deltaweb.index.folder.file_index.open_files`.
    """
    if DELETED_ROWS not in files.column_names:
        return None  # nothing is deleted that they could be of
    wide = pc.match_substring_regex(files["stats"], r'"tightBounds"\s*:\s*false')
    wide = pc.fill_null(wide, fill_value=False)
    return wide if pc.any(wide).as_py() else None


def extremes(
    low: pa.ChunkedArray, high: pa.ChunkedArray, wide: pa.ChunkedArray | None = None
) -> tuple[object, object]:
    """Return the smallest and the largest value; None for a wide file's own bound."""
    found = _ends(low, high)
    if wide is None:
        return found
    tight = pc.invert(wide)
    exact = _ends(low.filter(tight), high.filter(tight))
    smallest = found[0] if found[0] == exact[0] else None
    return smallest, found[1] if found[1] == exact[1] else None


def _ends(low: pa.ChunkedArray, high: pa.ChunkedArray) -> tuple[object, object]:
    ends = [pc.min(low), pc.max(high)]
    smallest, largest = (python_values(pa.array([end], end.type)) for end in ends)
    return smallest[0], largest[0]
