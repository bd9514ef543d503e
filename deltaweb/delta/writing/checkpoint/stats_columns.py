"""Statistics and partition values as a checkpoint holds them.

Source: delta_protocol.md, "Checkpoint Format" and "Per-file Statistics".
"""

from collections.abc import Collection, Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import StructField, StructType, arrow_type
from deltaweb.delta.values.partition_values import (
    partition_schema,
    type_partition_values,
)
from deltaweb.delta.values.statistics.columns import read_statistics
from deltaweb.delta.values.statistics.shape import statistics_shape
from deltaweb.delta.values.statistics.text import TIGHT_BOUNDS, texts_of_each
from deltaweb.delta.writing.checkpoint.checkpoint_schema import VECTOR

SAYS_WIDE: Final = rf'"{TIGHT_BOUNDS}"\s*:\s*false'
# No bounds of truth values: the specification's schema has none.
_WITHOUT_BOUNDS = pa.types.is_boolean


def stats_type(
    schema: StructType, partition_columns: Collection[str], *, has_vectors: bool = False
) -> pa.StructType | None:
    """Return the type of typed statistics, None for a table without data columns.

    Null counts are called `nullCount`, as in the JSON: what every reader looks for.
    """
    shape = statistics_shape(_data_columns(schema, partition_columns))
    bounds = _bounded(arrow_type(shape.bounds))
    counts = arrow_type(shape.counts)
    fields = [pa.field("numRecords", pa.int64())]
    if bounds.num_fields:
        fields += [pa.field("minValues", bounds), pa.field("maxValues", bounds)]
    if counts.num_fields:
        fields.append(pa.field("nullCount", counts))
    if has_vectors:
        fields.append(pa.field(TIGHT_BOUNDS, pa.bool_()))
    return pa.struct([_nullable(field) for field in fields])


def partition_type(
    schema: StructType, partition_columns: Iterable[str]
) -> pa.StructType | None:
    """Return the type of typed partition values, None without partition columns."""
    columns = partition_schema(schema, list(partition_columns))
    if not columns.fields:
        return None
    return pa.struct(
        [
            pa.field(column.name, arrow_type(column.data_type))
            for column in columns.fields
        ]
    )


def typed_partition_values(
    values: pa.MapArray,
    paths: pa.StringArray,
    schema: StructType,
    partition_columns: Iterable[str],
) -> pa.StructArray:
    columns = partition_schema(schema, list(partition_columns))
    typed = type_partition_values(
        pa.chunked_array([values]), columns, pa.chunked_array([paths])
    )
    wanted = partition_type(schema, partition_columns)
    return typed.combine_chunks().cast(wanted)


def typed_statistics(
    adds: pa.StructArray,
    schema: StructType,
    partition_columns: Collection[str],
    wanted: pa.StructType,
) -> pa.StructArray:
    """Return typed statistics, row for row; null where a file has none."""
    text, parsed = _field(adds, "stats"), _field(adds, "stats_parsed")
    known = _known(text, parsed, len(adds))
    if text is None and parsed is None:
        text = pa.nulls(len(adds), pa.string())
    table = read_statistics(
        None if text is None else pa.chunked_array([text]),
        None if parsed is None else pa.chunked_array([parsed]),
        _data_columns(schema, partition_columns),
    )
    names = {"num_records": "numRecords", "min": "minValues", "max": "maxValues"}
    columns = {
        names.get(name, "nullCount"): table[name].combine_chunks()
        for name in table.column_names
    }
    if wanted.get_field_index(TIGHT_BOUNDS) >= 0:
        columns[TIGHT_BOUNDS] = _tight_bounds(adds)
    fields = list(wanted)
    arrays = [_shaped(columns[field.name], field.type) for field in fields]
    return pa.StructArray.from_arrays(arrays, fields=fields, mask=pc.invert(known))


def json_statistics(adds: pa.StructArray, schema: StructType) -> pa.StringArray:
    """Return statistics as the log's JSON text, row for row; see `texts_of_each`."""
    text, parsed = _field(adds, "stats"), _field(adds, "stats_parsed")
    return texts_of_each(text, parsed, _are_marked(adds), schema)


def _tight_bounds(adds: pa.StructArray) -> pa.BooleanArray:
    """Return whether bounds are those of live rows; null where nothing says no."""
    is_wide = _are_marked(adds)
    text, parsed = _field(adds, "stats"), _field(adds, "stats_parsed")
    if text is not None:
        said = pc.match_substring_regex(text, SAYS_WIDE)
        is_wide = pc.or_(is_wide, pc.fill_null(said, False))  # noqa: FBT003  # pyarrow's own
    if parsed is not None and parsed.type.get_field_index(TIGHT_BOUNDS) >= 0:
        said = pc.invert(_field(parsed, TIGHT_BOUNDS))
        is_wide = pc.or_(is_wide, pc.fill_null(said, False))  # noqa: FBT003  # pyarrow's own
    return pc.if_else(is_wide, pa.scalar(False), pa.scalar(None, pa.bool_()))  # noqa: FBT003  # pyarrow's own


def _are_marked(adds: pa.StructArray) -> pa.BooleanArray:
    """Return which files have a deletion vector."""
    if adds.type.get_field_index(VECTOR) < 0:
        return pa.array(np.zeros(len(adds), np.bool_))
    return pc.struct_field(adds, [VECTOR, "storageType"]).is_valid()


def _field(adds: pa.StructArray, name: str) -> Any:  # noqa: ANN401  # an array or None
    if adds.type.get_field_index(name) < 0:
        return None
    column = pc.struct_field(adds, [name])
    return column.cast(pa.string()) if name == "stats" else column


def _known(text: pa.Array | None, parsed: pa.Array | None, count: int) -> pa.Array:
    """Tell which rows have statistics in any form."""
    known = pa.array(np.zeros(count, np.bool_))
    for column in (text, parsed):
        if column is not None:
            known = pc.or_(known, column.is_valid())
    return known


def _data_columns(schema: StructType, partition_columns: Collection[str]) -> StructType:
    return StructType(
        tuple(_plain(f) for f in schema.fields if f.name not in partition_columns)
    )


def _plain(field: StructField) -> StructField:
    return StructField(field.name, field.data_type)


def _bounded(data_type: pa.StructType) -> pa.StructType:
    """Return a type without the columns, and the structs, that have no bounds here."""
    fields = []
    for field in data_type:
        if pa.types.is_struct(field.type):
            below = _bounded(field.type)
            if below.num_fields:
                fields.append(pa.field(field.name, below))
        elif not _WITHOUT_BOUNDS(field.type):
            fields.append(pa.field(field.name, field.type))
    return pa.struct(fields)


def _nullable(field: pa.Field) -> pa.Field:
    """Return a field whose values, and those below it, may all be unknown."""
    if not pa.types.is_struct(field.type):
        return pa.field(field.name, field.type)
    below = [_nullable(child) for child in field.type]
    return pa.field(field.name, pa.struct(below))


def _shaped(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return the fields of a struct that a type has, at any depth."""
    if not pa.types.is_struct(wanted):
        return array
    fields = list(wanted)
    parts = dict(zip([f.name for f in array.type], array.flatten(), strict=True))
    children = [_shaped(parts[f.name], f.type) for f in fields]
    return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())
