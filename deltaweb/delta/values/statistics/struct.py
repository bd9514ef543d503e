"""Statistics that a checkpoint holds as structs, picked column by column."""

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import arrow_type
from deltaweb.delta.values.statistics.shape import StatisticsShape
from deltaweb.delta.values.value_text import rescaled, whole_decimals


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
    columns = [_typed(_child(array, f.name), f.type, len(array)) for f in fields]
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
