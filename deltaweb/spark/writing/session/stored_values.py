"""Values in the types of a table's columns, as Spark stores them.

A session stores by ANSI's rules whatever its mode: what has no place in the column's
type is an error, not null nor another number. A time becomes one of another kind in the
session's zone.

Source: Spark SQL Reference, "ANSI Compliance", "Store assignment".
"""

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import AtomicType, StructField

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructType,
    arrow_type,
)
from deltaweb.expressions.session.joined_types import is_time
from deltaweb.expressions.session.settings import SessionSettings
from deltaweb.spark.arrow_frames import column_of
from deltaweb.spark.writing.spark_types import frame_schema


def stored(value: Column, field: StructField, settings: SessionSettings) -> Column:
    kind = field.dataType
    if settings.is_ansi or not settings.is_usual or not isinstance(kind, AtomicType):
        return value.cast(kind)
    fitted = value.try_cast(kind)
    message = f"a value is not a valid {kind.simpleString()}, which {field.name!r} is"
    refused = F.raise_error(F.lit(message)).cast(kind)
    return F.when(value.isNotNull() & fitted.isNull(), refused).otherwise(fitted)


def with_stored_times(frame: DataFrame, schema: StructType) -> DataFrame:
    """Return rows whose times are of the kinds that a table has."""
    found = frame_schema(frame.schema)
    wanted = stored_schema(found, schema)
    if wanted == found:
        return frame
    fields = from_arrow_schema(wanted).fields
    columns = [column_of(frame, field.name) for field in fields]
    return frame.select(
        *(
            column.cast(field.dataType).alias(field.name) if kind != old else column
            for column, field, kind, old in zip(
                columns, fields, wanted.types, found.types, strict=True
            )
        )
    )


def stored_schema(incoming: pa.Schema, schema: StructType) -> pa.Schema:
    """Return the schema of rows once their times are of the kinds that a table has."""
    fields = []
    for field in incoming:
        column = schema.find(field.name)
        kind = field.type if column is None else _stored(field.type, column.data_type)
        fields.append(field.with_type(kind))
    return pa.schema(fields)


def _stored(found: pa.DataType, wanted: DataType) -> pa.DataType:
    match wanted:
        case StructType() if pa.types.is_struct(found):
            return pa.struct(list(stored_schema(pa.schema(list(found)), wanted)))
        case ArrayType(element) if pa.types.is_list(found):
            inside = found.value_field
            return pa.list_(inside.with_type(_stored(inside.type, element)))
        case MapType(key, value) if pa.types.is_map(found):
            return pa.map_(
                found.key_field.with_type(_stored(found.key_type, key)),
                found.item_field.with_type(_stored(found.item_type, value)),
            )
        case StructType() | ArrayType() | MapType():
            return found
        case _:
            kind = arrow_type(wanted)
            return kind if is_time(found) and is_time(kind) else found
