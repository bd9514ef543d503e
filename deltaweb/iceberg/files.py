"""The data files of a version, row for row with what manifests say of them.

Nothing is said where the log is unsure: a reader leaves out files by what it is told,
and counts rows by it.

Source: Iceberg specification, "Manifests"; `deltaweb.delta.scan.skipping` (how loosely
bounds are written).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import (
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.delta.scan.column_ranges import statistics_ranges
from deltaweb.delta.values.partition_values import type_partition_column
from deltaweb.delta.values.whole import one_array
from deltaweb.iceberg.schema import FieldIds, PartitionField, TableColumns
from deltaweb.iceberg.values import bound_bytes

EXACT_DIGITS: Final = 15  # of a decimal that may have been a double meanwhile
CUT_MICROSECONDS: Final = 999
LAST_CHARACTER: Final = "\U0010ffff"
LAST_MOMENT: Final = (1 << 63) - 1 - CUT_MICROSECONDS


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBounds:
    """What is known of one column, an entry a file.

    Attributes:
        lower: No value is smaller; null where that is unknown.
        upper: No value is larger; null where that is unknown.
        null_counts: Count of nulls; null where it is unknown.
    """

    field_id: int
    lower: pa.BinaryArray
    upper: pa.BinaryArray
    null_counts: pa.Array


@dataclass(frozen=True, slots=True, eq=False)
class DataFiles:
    """Some data files of a version.

    Attributes:
        num_records: Rows of each file, deleted ones too.
    """

    locations: pa.StringArray
    sizes: pa.Array
    num_records: pa.Array
    partition: Sequence[pa.Array]
    columns: Sequence[ColumnBounds]

    def __len__(self) -> int:
        return len(self.locations)


def data_files(
    rows: pa.Table,
    locations: pa.StringArray,
    columns: TableColumns,
    fields: Sequence[PartitionField],
    ids: FieldIds,
) -> DataFiles:
    """Return files as manifests tell of them.

    Args:
        rows: As `FileSelection.typed_batches` gives them, with statistics of the
            `known_columns`.
    """
    partition = [
        type_partition_column(
            rows["partition_values"], one.column, rows["path"]
        ).combine_chunks()
        for one in fields
    ]
    return DataFiles(
        locations,
        one_array(rows["size"]),
        one_array(rows["num_records"]),
        partition,
        _bounds(rows, columns, ids),
    )


def known_columns(columns: TableColumns) -> StructType:
    """Return the columns of which manifests say what the log knows of them.

    They are those at the top of the schema that have no parts.
    """
    return StructType(
        tuple(
            column
            for column in columns.schema.fields
            if isinstance(column.data_type, PrimitiveType | DecimalType)
            and column.name not in columns.partition_columns
        )
    )


def _bounds(rows: pa.Table, columns: TableColumns, ids: FieldIds) -> list[ColumnBounds]:
    asked = known_columns(columns).fields
    if not asked:
        return []
    statistics = pa.Table.from_struct_array(rows["statistics"])
    ranges = statistics_ranges(statistics, [(column.name,) for column in asked])
    counts = one_array(statistics["null_count"])
    records = one_array(rows["num_records"])
    bounds = []
    for column in asked:
        known = ranges.get((column.name,))
        if known is None:
            continue
        nulls = pc.struct_field(counts, [counts.type.get_field_index(column.name)])
        is_count = pc.and_(pc.greater_equal(nulls, 0), pc.less_equal(nulls, records))
        nulls = pc.if_else(is_count, nulls, pa.scalar(None, pa.int64()))
        lower, upper = _loosened(column, known.low, known.high)
        bounds.append(ColumnBounds(ids[(column.stored_name,)], lower, upper, nulls))
    return bounds


def _loosened(
    column: StructField, low: pa.Array, high: pa.Array
) -> tuple[pa.BinaryArray, pa.BinaryArray]:
    """Return bounds that hold however the log's were cut or rounded."""
    unknown = pa.nulls(len(low), pa.binary())
    kind = column.data_type
    if pa.types.is_null(low.type):
        return unknown, unknown
    if isinstance(kind, DecimalType):
        if kind.precision > EXACT_DIGITS:
            return unknown, unknown
        return bound_bytes(low), bound_bytes(high)
    name = kind.name if isinstance(kind, PrimitiveType) else ""
    if name == "binary":
        return unknown, unknown
    if name in {"float", "double"}:
        # Of NaN, which is above all numbers, bounds say nothing.
        return bound_bytes(_lowest_float(low)), unknown
    if name == "string":
        last = pa.scalar(LAST_CHARACTER, high.type)
        high = pc.binary_join_element_wise(high, last, pa.scalar("", high.type))
    if name in {"timestamp", "timestamp_ntz"}:
        micros = high.cast(pa.int64())
        capped = pc.min_element_wise(micros, LAST_MOMENT, skip_nulls=False)
        high = pc.add(capped, CUT_MICROSECONDS).cast(high.type)
    return bound_bytes(low), bound_bytes(high)


def _lowest_float(low: pa.Array) -> pa.Array:
    """Return lower bounds of numbers: zero with a minus is below any other zero."""
    low = pc.if_else(pc.equal(low, 0.0), pa.scalar(-0.0, low.type), low)
    return pc.if_else(pc.is_nan(low), pa.scalar(None, low.type), low)


def has_row_counts(num_records: pa.ChunkedArray) -> bool:
    """Whether the log says of every file how many rows it has."""
    counts = num_records.combine_chunks()
    return not counts.null_count and bool(np.all(counts.to_numpy() >= 0))
