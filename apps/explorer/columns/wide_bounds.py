"""Bounds of files whose deletion vectors were written after them.

Such bounds say where a value cannot be, and nothing of what is smallest or largest.

Source: delta_protocol.md, "Per-file Statistics" (`tightBounds`).
"""

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Extremes:
    """The ends of a column.

    Attributes:
        smallest, largest: Values; None where it is a wide file's own bound.
        lowest, highest: Between them all values lie, whatever was deleted.
    """

    smallest: object
    largest: object
    lowest: object
    highest: object


def extremes(
    low: pa.ChunkedArray, high: pa.ChunkedArray, wide: pa.ChunkedArray | None = None
) -> Extremes:
    """Return the ends of a column by the bounds of its files."""
    lowest, highest = _ends(low, high)
    smallest, largest = lowest, highest
    if wide is not None:
        tight = pc.invert(wide)
        exact = _ends(low.filter(tight), high.filter(tight))
        smallest = lowest if lowest == exact[0] else None
        largest = highest if highest == exact[1] else None
    return Extremes(smallest=smallest, largest=largest, lowest=lowest, highest=highest)


def _ends(low: pa.ChunkedArray, high: pa.ChunkedArray) -> tuple[object, object]:
    ends = [pc.min(low), pc.max(high)]
    smallest, largest = (python_values(pa.array([end], end.type)) for end in ends)
    return smallest[0], largest[0]
