"""Rows along a Z-order curve: those that are alike in several columns come together."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

CURVE_BITS: Final = 16


def z_order(columns: Sequence[pa.ChunkedArray]) -> npt.NDArray[np.int64]:
    """Return the order of rows along a Z-order curve through the ranks of values."""
    bits = max(1, min(CURVE_BITS, 64 // len(columns)))
    key = np.zeros(len(columns[0]), np.uint64)
    ranks = [_ranks(column, bits) for column in columns]
    for bit in range(bits - 1, -1, -1):
        for rank in ranks:
            key = (key << np.uint64(1)) | ((rank >> np.uint64(bit)) & np.uint64(1))
    return np.argsort(key, kind="stable")


def _ranks(column: pa.ChunkedArray, bits: int) -> npt.NDArray[np.uint64]:
    ranked = pc.rank(column.combine_chunks(), tiebreaker="dense").to_numpy()
    most = max(1, int(ranked.max(initial=1)))
    scaled = (ranked.astype(np.float64) - 1) * ((1 << bits) - 1) / most
    found: npt.NDArray[np.uint64] = scaled.astype(np.uint64)
    return found
