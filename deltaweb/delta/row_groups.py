"""Row groups of a data file that a condition leaves, by the file's own statistics.

Only what reads without doubt is used: top-level columns of whole numbers, floats,
dates, times and text, whose Parquet type is the column's own. Everything else is
unknown, so its row groups are read.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.predicate import Predicate, predicate_columns
from deltaweb.delta.schema import StructType, arrow_type
from deltaweb.delta.skipping import ColumnRange, may_match

Bound: TypeAlias = int | float | str | None


def select_row_groups(
    metadata: pq.FileMetaData,
    stored_names: Mapping[str, str],
    schema: StructType,
    predicate: Predicate | None,
) -> list[int]:
    """Positions of the row groups that may hold a matching row.

    Args:
        metadata: The file's footer.
        stored_names: The file's names of the columns of `schema` that it has.
        schema: The columns that the condition may name, save partition columns.
        predicate: The condition; None for none.
    """
    everything = list(range(metadata.num_row_groups))
    if predicate is None or len(everything) < 2:  # noqa: PLR2004 # nothing to choose
        return everything
    leaves = {metadata.schema.column(i).path: i for i in range(metadata.num_columns)}
    ranges = {}
    for path in predicate_columns(predicate):
        column = schema.find(path[0])
        stored = stored_names.get(path[0], "")
        leaf = leaves.get(stored)
        # A dot in a name cannot be told from a nested column here.
        if len(path) > 1 or column is None or leaf is None or "." in stored:
            continue
        known = _range(metadata, leaf, arrow_type(column.data_type))
        if known is not None:
            ranges[path] = known
    mask = may_match(predicate, ranges, len(everything))
    return [position for position in everything if mask[position]]


def _range(
    metadata: pq.FileMetaData, leaf: int, target: pa.DataType
) -> ColumnRange | None:
    decode = _decoder(metadata.schema.column(leaf), target)
    if decode is None:
        return None
    lows: list[Bound] = []
    highs: list[Bound] = []
    all_null, some_null = [], []
    for position in range(metadata.num_row_groups):
        group = metadata.row_group(position)
        chunk = group.column(leaf).statistics
        has_bounds = chunk is not None and chunk.has_min_max
        lows.append(decode(chunk.min_raw) if has_bounds else None)
        highs.append(decode(chunk.max_raw) if has_bounds else None)
        nulls = chunk.null_count if chunk is not None and chunk.has_null_count else None
        all_null.append(nulls is not None and nulls == group.num_rows)
        some_null.append(nulls != 0)
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
) -> Callable[[Any], Bound] | None:
    """How a raw bound of the column is read as a value of the type, if it can be."""
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
    return _as_it_is if is_fit else None


def _is_signed(column: pq.ColumnSchema) -> bool:
    if column.physical_type not in {"INT32", "INT64"}:
        return False
    logical = column.logical_type
    return logical.type == "NONE" or "isSigned=true" in str(logical)


def _as_it_is(raw: Bound) -> Bound:
    return raw


def _text(raw: bytes) -> str | None:
    # A bound may be cut within a character.
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None
