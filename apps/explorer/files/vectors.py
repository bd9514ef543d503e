"""What deletion vectors hide of the files of a version, and what a purge would save."""

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.version.listed import Kept, ListedFiles
from apps.pages.page_json import Named
from deltaweb.index.folder.file_index import DELETED_ROWS

MAX_KEPT: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorLens:
    """The rows that deletion vectors hide in the files of a version.

    Attributes:
        dead_rows: The number of rows that deletion vectors delete, in files with known
            counts.
        rows_of_files: Rows that lie in files with a vector, the hidden ones too, of
            those that tell how many they have.
        rows_of_all: The same of every file that tells.
        rewritten_bytes: Bytes of the files with a vector: what a purge reads.
        saved_bytes: An estimate of the bytes that a purge saves: of each file as much
            as its share of hidden rows.
        num_without_rows: Files with a vector and no row count; no estimate has them.
        percent_dead: Deleted rows in percent of `rows_of_all`; null if unknown.
        percent_of_files: Hidden rows of `rows_of_files`, likewise.
    """

    num_files: Annotated[int, Named("files")]
    dead_rows: int
    rows_of_files: Annotated[int, Named("rows_of_files_with_vectors")]
    rows_of_all: Annotated[int, Named("rows_of_all_files")]
    rewritten_bytes: Annotated[int, Named("purge_rewrites_bytes")]
    saved_bytes: Annotated[int, Named("purge_saves_bytes_estimated")]
    num_without_rows: Annotated[int, Named("files_without_row_counts")]
    percent_dead: float | None
    percent_of_files: Annotated[
        float | None, Named("percent_dead_of_files_with_vectors")
    ]


_kept: Kept[VectorLens | None] = Kept(MAX_KEPT)


def vector_lens(listed: ListedFiles) -> VectorLens | None:
    """Return what vectors hide at a version, kept for the next page."""
    return _kept.get(listed.source, lambda: lens_of(listed.files))


def lens_of(files: pa.Table) -> VectorLens | None:
    """Add up what vectors hide; None where no file has one.

    Args:
        files: `size`, and where it is known `num_records`, the live rows of a file,
            and `deleted_rows`, those that its vector hides: 0 without one, null where
            a vector does not tell.
    """
    if DELETED_ROWS not in files.column_names:
        return None
    deleted = files[DELETED_ROWS]
    has_vector = pc.fill_null(pc.not_equal(deleted, 0), fill_value=True)
    num_files = pc.sum(has_vector).as_py() or 0
    if not num_files:
        return None
    masked = files.filter(has_vector)
    dead, live, size_bytes = (
        _floats(masked, name) for name in (DELETED_ROWS, "num_records", "size")
    )
    rows = dead + live
    is_known = ~np.isnan(rows) & (rows > 0)
    saved = size_bytes[is_known] * (dead[is_known] / rows[is_known])
    known_dead, known_rows = int(dead[is_known].sum()), int(rows[is_known].sum())
    rows_of_all = known_rows + _live_rows(files.filter(pc.invert(has_vector)))
    return VectorLens(
        num_files=num_files,
        dead_rows=pc.sum(deleted).as_py() or 0,
        rows_of_files=known_rows,
        rows_of_all=rows_of_all,
        rewritten_bytes=int(size_bytes.sum()),
        saved_bytes=int(saved.sum()),
        num_without_rows=int((~is_known).sum()),
        percent_dead=_percent(known_dead, rows_of_all),
        percent_of_files=_percent(known_dead, known_rows),
    )


def _live_rows(files: pa.Table) -> int:
    if "num_records" not in files.column_names:
        return 0
    return pc.sum(files["num_records"]).as_py() or 0


def _floats(files: pa.Table, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return a column as floats; NaN is null, or a column that is not there."""
    if name not in files.column_names:
        return np.full(files.num_rows, np.nan)
    values: np.ndarray[tuple[int], np.dtype[np.float64]] = (
        files[name].cast(pa.float64(), safe=False).to_numpy()
    )
    return values


def _percent(part: int, whole: int) -> float | None:
    return part * 100 / whole if whole else None
