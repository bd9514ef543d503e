"""Row groups of a data file that a condition leaves, by the file's own statistics.

Only what reads without doubt is used: top-level columns of whole numbers, floats,
dates, times and text, whose Parquet type is the column's own. Everything else is
unknown, so its row groups are read. The statistics come from our own reader, for
pyarrow's own accessors end the process where a footer contradicts itself.
"""

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.protocol.schema import StructType, arrow_type
from deltaweb.delta.scan.predicate import Predicate, predicate_columns
from deltaweb.delta.scan.skipping import ColumnRange, may_match
from deltaweb.delta.scan.variant_parts import VariantPart
from deltaweb.parquet.counts import RowGroupCounts, parse_row_group_counts
from deltaweb.parquet.errors import ParquetError

Bound: TypeAlias = int | float | str | None

MAX_FOOTER_BYTES: Final = 4 << 20
"""Looking through a larger footer takes longer than it saves."""
PLAIN_FORMATS: Final[Mapping[str, str]] = {
    "INT32": "<i",
    "INT64": "<q",
    "FLOAT": "<f",
    "DOUBLE": "<d",
}
"""How the plain encoding of a physical type is unpacked."""


def select_row_groups(
    footer: bytes,
    metadata: pq.FileMetaData,
    stored_names: Mapping[str, str],
    schema: StructType,
    predicate: Predicate | None,
) -> list[int]:
    """Positions of the row groups that may hold a matching row.

    Args:
        stored_names: The file's names of the columns of `schema` that it has.
        schema: The columns that the condition may name, save partition columns.
    """
    everything = list(range(metadata.num_row_groups))
    if predicate is None or len(everything) < 2:  # noqa: PLR2004 # nothing to choose
        return everything
    if len(footer) > MAX_FOOTER_BYTES:
        return everything
    try:
        ranges = _ranges(footer, metadata, stored_names, schema, predicate)
    except ParquetError:
        return everything
    mask = may_match(predicate, ranges, len(everything))
    return [position for position in everything if mask[position]]


def _ranges(
    footer: bytes,
    metadata: pq.FileMetaData,
    stored_names: Mapping[str, str],
    schema: StructType,
    predicate: Predicate,
) -> dict[tuple[str, ...], ColumnRange]:
    groups = parse_row_group_counts(footer)
    ranges: dict[tuple[str, ...], ColumnRange] = {}
    if not has_every_chunk(groups, metadata):
        return ranges
    leaves = {metadata.schema.column(i).path: i for i in range(metadata.num_columns)}
    for path in predicate_columns(predicate):
        column = schema.find(path[0])
        if isinstance(column, VariantPart):  # what is stored are whole variants
            continue
        stored = stored_names.get(path[0], "")
        leaf = leaves.get(stored)
        # A dot in a name cannot be told from a nested column here.
        if len(path) > 1 or column is None or leaf is None or "." in stored:
            continue
        decode = _decoder(metadata.schema.column(leaf), arrow_type(column.data_type))
        if decode is None:
            continue
        known = _range(groups, leaf, decode, arrow_type(column.data_type))
        if known is not None:
            ranges[path] = known
    return ranges


def has_every_chunk(
    groups: Sequence[RowGroupCounts], metadata: pq.FileMetaData
) -> bool:
    """Whether every row group has a chunk for each of the file's leaf columns."""
    return len(groups) == metadata.num_row_groups and all(
        len(group.raw_chunks) == metadata.num_columns for group in groups
    )


def _range(
    groups: Sequence[RowGroupCounts],
    leaf: int,
    decode: Callable[[bytes], Bound],
    target: pa.DataType,
) -> ColumnRange | None:
    lows: list[Bound] = []
    highs: list[Bound] = []
    all_null, some_null = [], []
    for group in groups:
        chunk = group.chunk(leaf)
        # Each by itself: one that is NaN says nothing of the other.
        lows.append(None if chunk.low is None else decode(chunk.low))
        highs.append(None if chunk.high is None else decode(chunk.high))
        all_null.append(chunk.null_count == group.num_rows)
        some_null.append(chunk.null_count != 0)
    physical = _physical_type(target)
    try:
        low, high = (
            pa.array(bounds, physical).cast(target) for bounds in (lows, highs)
        )
    except (pa.ArrowInvalid, OverflowError):
        return None
    return ColumnRange(
        low=low,
        high=high,
        is_exact=False,
        all_null=np.array(all_null, np.bool_),
        some_null=np.array(some_null, np.bool_),
    )


def _physical_type(target: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(target):
        return pa.int64()
    return pa.int32() if pa.types.is_date32(target) else target


def _decoder(
    column: pq.ColumnSchema, target: pa.DataType
) -> Callable[[bytes], Bound] | None:
    """How a plain bound of the column is read as a value of the type, if it can be."""
    if column.max_repetition_level or column.max_definition_level > 1:
        return None
    physical, logical = column.physical_type, column.logical_type.type
    if pa.types.is_string(target):
        return _text if logical == "STRING" else None
    fits = {
        pa.types.is_integer: _is_signed(column),
        pa.types.is_float32: physical == "FLOAT" and logical == "NONE",
        pa.types.is_float64: physical == "DOUBLE" and logical == "NONE",
        pa.types.is_date32: logical == "DATE",
        pa.types.is_timestamp: "timeUnit=microseconds" in str(column.logical_type),
    }
    is_fit = any(is_kind(target) and fit for is_kind, fit in fits.items())
    return _number(PLAIN_FORMATS[physical]) if is_fit else None


def _is_signed(column: pq.ColumnSchema) -> bool:
    if column.physical_type not in {"INT32", "INT64"}:
        return False
    logical = column.logical_type
    return logical.type == "NONE" or "isSigned=true" in str(logical)


def _number(plain: str) -> Callable[[bytes], Bound]:
    """Return what reads a number; bytes that are none are unknown, as is a NaN."""

    def decode(raw: bytes) -> Bound:
        if len(raw) != struct.calcsize(plain):
            return None
        value: int | float = struct.unpack(plain, raw)[0]
        return None if math.isnan(value) else value

    return decode


def _text(raw: bytes) -> str | None:
    # A bound may be cut within a character.
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None
