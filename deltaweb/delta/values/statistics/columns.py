"""Statistics of files: JSON or structs of the log to typed columns.

`read_statistics` gives one table whatever the log held, row for row with the files:

    num_records  int64: rows of the file
    min          struct of the columns asked for that have an order, typed as they are
    max          the same; a bound may be cut, see `deltaweb.delta.scan.skipping`
    null_count   struct of the columns asked for, int64

What is missing, malformed or of a wrong type is null, which means unknown. Nested
columns are nested structs. Arrays, maps and binary columns have null counts alone.

Source: PROTOCOL.md, "Per-file Statistics".
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import StructType, arrow_type
from deltaweb.delta.values.statistics.lines import parse_lines
from deltaweb.delta.values.statistics.shape import StatisticsShape, statistics_shape
from deltaweb.delta.values.value_text import rescaled, whole_decimals


def read_statistics(
    stats: pa.ChunkedArray | None,
    stats_parsed: pa.ChunkedArray | None,
    schema: StructType,
    columns: Iterable[str | Sequence[str]] | None = None,
) -> pa.Table:
    """Read statistics from what a log holds of them.

    Args:
        stats: The JSON texts of the log; None only where `stats_parsed` is given.
        stats_parsed: The struct column of a checkpoint, row for row with `stats`, or
            None. It is preferred; a row that has no number of records there falls
            back to JSON, since some writers fill what is absent with nulls.
        schema: The table's schema; it knows the names that the log has for columns.

    Returns:
        The table that this module's docstring describes.
    """
    shape = statistics_shape(schema, columns)
    return _renamed(_read(stats, stats_parsed, shape.stored), shape)


def _read(
    stats: pa.ChunkedArray | None,
    stats_parsed: pa.ChunkedArray | None,
    shape: StatisticsShape,
) -> pa.Table:
    if stats_parsed is None:
        return parse_lines(stats, shape)
    table = extract_statistics(stats_parsed, shape)
    if stats is None:
        return table
    wanted = pc.and_(pc.is_null(table["num_records"]), pc.is_valid(stats))
    if not pc.any(wanted).as_py():
        return table
    mask = wanted.combine_chunks().to_numpy(zero_copy_only=False)
    positions = np.arange(len(mask))
    positions[mask] = len(mask) + np.arange(mask.sum())
    both = pa.concat_tables([table, parse_lines(stats.filter(wanted), shape)])
    return both.take(pa.array(positions))


def parse_statistics(
    stats: pa.ChunkedArray,
    schema: StructType,
    columns: Iterable[str | Sequence[str]] | None = None,
) -> pa.Table:
    """Parse the JSON statistics of files, row for row; see `read_statistics`."""
    return read_statistics(stats, None, schema, columns)


def _renamed(table: pa.Table, shape: StatisticsShape) -> pa.Table:
    """Return statistics by the logical names of the columns; no value is copied."""
    wanted = shape.arrow
    if table.schema.equals(wanted):
        return table
    columns = [
        pa.chunked_array([chunk.view(kind) for chunk in column.chunks], kind)
        for column, kind in zip(table.columns, wanted.types, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=wanted)


# === Structs of checkpoints ===


def extract_statistics(
    stats_parsed: pa.ChunkedArray, shape: StatisticsShape
) -> pa.Table:
    """Pick typed statistics out of the struct column of a checkpoint.

    Args:
        stats_parsed: Structs of numRecords, minValues, maxValues and nullCount, any
            of which may be absent or of an unexpected type.

    Returns:
        A table of `shape.arrow`, row for row.
    """
    bounds, counts = arrow_type(shape.bounds), arrow_type(shape.counts)
    arrays = []
    for chunk in stats_parsed.chunks or [pa.array([], stats_parsed.type)]:
        null_counts = _child(chunk, "nullCount")
        if null_counts is None:
            # The specification's appendix spells it so.
            null_counts = _child(chunk, "nullCounts")
        columns = [
            _typed(_child(chunk, "numRecords"), pa.int64(), len(chunk)),
            _typed(_child(chunk, "minValues"), bounds, len(chunk)),
            _typed(_child(chunk, "maxValues"), bounds, len(chunk)),
            _typed(null_counts, counts, len(chunk)),
        ]
        arrays.append(pa.RecordBatch.from_arrays(columns, schema=shape.arrow))
    return pa.Table.from_batches(arrays, shape.arrow)


def _child(array: pa.Array | None, name: str) -> pa.Array | None:
    if array is None or not pa.types.is_struct(array.type):
        return None
    position = array.type.get_field_index(name)
    return None if position < 0 else pc.struct_field(array, [position])


def _typed(array: pa.Array | None, target: pa.DataType, length: int) -> pa.Array:
    """Bring a column of statistics to its type; what cannot be is unknown."""
    if array is None:
        return pa.nulls(length, target)
    if pa.types.is_struct(target) and pa.types.is_struct(array.type):
        return _typed_struct(array, target)
    try:
        if array.type.equals(target):
            array.validate(full=True)  # Parquet's text may not be UTF-8
            return array
        return _exactly_cast(array, target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(length, target)


def _exactly_cast(array: pa.Array, target: pa.DataType) -> pa.Array:
    if not _are_kin(array.type, target):
        return pa.nulls(len(array), target)
    if pa.types.is_decimal(target):
        is_whole = pa.types.is_integer(array.type)
        return whole_decimals(array, target) if is_whole else rescaled(array, target)
    return array.cast(target)


def _typed_struct(array: pa.StructArray, target: pa.StructType) -> pa.Array:
    fields = [target.field(i) for i in range(target.num_fields)]
    if not fields:
        return _empty_structs(len(array))
    # `pc.struct_field` takes time with all fields for each one: slow for wide structs.
    parts = array.flatten()
    columns = []
    for field in fields:
        position = array.type.get_field_index(field.name)
        part = None if position < 0 else parts[position]
        columns.append(_typed(part, field.type, len(array)))
    return pa.StructArray.from_arrays(columns, fields=fields, mask=array.is_null())


def _empty_structs(length: int) -> pa.Array:
    buffers: list[pa.Buffer | None] = [None]
    return pa.StructArray.from_buffers(pa.struct([]), length, buffers)


def _are_kin(source: pa.DataType, target: pa.DataType) -> bool:
    """Tell whether a cast keeps the meaning, whatever it does to the range."""
    if pa.types.is_string(target):
        return source in {pa.large_string(), pa.string_view()}
    if pa.types.is_integer(source):
        # Bounds of a column that was widened since the checkpoint.
        return bool(pa.types.is_decimal(target) or pa.types.is_float64(target)) or (
            bool(pa.types.is_integer(target))
        )
    if pa.types.is_date(source) and pa.types.is_timestamp(target):
        return target.tz is None
    kinds = (
        pa.types.is_floating,
        pa.types.is_decimal,
        pa.types.is_timestamp,
        pa.types.is_date,
    )
    return any(kind(source) and kind(target) for kind in kinds)
