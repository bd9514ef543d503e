"""The one number of statistics that a history needs: how many rows a file has.

The rest of a text is only looked at as far as it must be JSON, which `msgspec` does
several times as fast as a parser of typed columns.

Source: delta_protocol.md, "Per-file Statistics".
"""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.values.statistics.columns import (
    parse_statistics,
    read_statistics,
)

LONG: Final = msgspec.Meta(ge=-(2**63), le=2**63 - 1)
_NO_COLUMNS: Final = StructType(())
_MAX_LENGTH: Final = 1 << 20


class _Statistics(msgspec.Struct, rename="camel", gc=False):
    num_records: Annotated[int, LONG] | None = None


_DECODER: Final = msgspec.json.Decoder(_Statistics)


def record_counts(texts: Sequence[str | None]) -> pa.Int64Array:
    """Return numRecords of statistics, row for row; all exactly where one is odd.

    Args:
        texts: The JSON texts of the log; null where a file has none.

    Returns:
        What `deltaweb.delta.values.statistics.columns.parse_statistics` has as
        `num_records`.
    """
    decode = _DECODER.decode
    try:
        if max((len(text) for text in texts if text), default=0) <= _MAX_LENGTH:
            counts = [decode(text).num_records if text else None for text in texts]
            return pa.array(counts, pa.int64())
    except (msgspec.MsgspecError, RecursionError):
        pass
    whole = pa.chunked_array([pa.array(texts, pa.string())])
    return parse_statistics(whole, _NO_COLUMNS)["num_records"].combine_chunks()


def stored_counts(
    text: pa.ChunkedArray | None, parsed: pa.ChunkedArray | None, num_files: int
) -> pa.Array:
    """Return numRecords of a block's statistics, row for row; see `RawStatistics`."""
    if parsed is None:
        return record_counts([None] * num_files if text is None else text.to_pylist())
    table = read_statistics(text, parsed, _NO_COLUMNS, [])
    return table["num_records"].combine_chunks()


def live_records(
    num_records: pa.Array | pa.ChunkedArray, vectors: pa.Array | pa.ChunkedArray
) -> pa.Array | pa.ChunkedArray:
    """Return the rows of files that no deletion vector deletes; null if unknown.

    Args:
        num_records: Rows of each file, deleted ones too, as statistics have them.
        vectors: The descriptor of each file's vector, null without one.
    """
    if vectors.null_count == len(vectors):
        return num_records
    live = pc.subtract(num_records, deleted_records(vectors))
    return pc.if_else(pc.less(live, 0), pa.scalar(None, pa.int64()), live)


def deleted_records(
    vectors: pa.Array | pa.ChunkedArray,
) -> pa.Array | pa.ChunkedArray:
    """Return how many rows each vector deletes; 0 for a file without one.

    A vector that does not say, or says what no count is, gives null.
    """
    if vectors.null_count == len(vectors):
        return pa.array(np.zeros(len(vectors), np.int64))
    counts = pc.struct_field(vectors, ["cardinality"])
    known = pc.if_else(pc.less(counts, 0), pa.scalar(None, pa.int64()), counts)
    return pc.if_else(pc.is_valid(vectors), known, 0)
