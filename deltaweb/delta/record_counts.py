"""The one number of statistics that a history needs: how many rows a file has.

The rest of a text is only looked at as far as it must be JSON, which `msgspec` does
several times as fast as a parser of typed columns.

Source: delta_protocol.md, "Per-file Statistics".
"""

from typing import Annotated, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.schema import StructType
from deltaweb.delta.statistics import parse_statistics

_NO_COLUMNS: Final = StructType(())
_MAX_LENGTH: Final = 1 << 20
_Long = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class _Statistics(msgspec.Struct, rename="camel", gc=False):
    num_records: _Long | None = None


_DECODER: Final = msgspec.json.Decoder(_Statistics)


def record_counts(stats: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numRecords of statistics, row for row.

    Args:
        stats: The JSON texts of the log.

    Returns:
        What `deltaweb.delta.statistics.parse_statistics` has as `num_records`.
    """
    counts = [_of_chunk(chunk) for chunk in stats.chunks]
    return pa.chunked_array(counts, pa.int64())


def _of_chunk(stats: pa.StringArray) -> pa.Array:
    told = stats.drop_null()
    counts = pa.nulls(len(stats), pa.int64())
    if not len(told):
        return counts
    return pc.replace_with_mask(counts, stats.is_valid(), _parsed(told))


def _parsed(texts: pa.StringArray) -> pa.Array:
    """Return the counts of texts; all by the exact parser where one is odd."""
    if pc.max(pc.binary_length(texts)).as_py() <= _MAX_LENGTH:
        decode = _DECODER.decode
        try:
            counts = [decode(text).num_records for text in texts.to_pylist()]
            return pa.array(counts, pa.int64())
        except (msgspec.MsgspecError, RecursionError):
            pass
    parsed = parse_statistics(pa.chunked_array([texts]), _NO_COLUMNS)
    return parsed["num_records"].combine_chunks()
