"""The Arrow types of rows."""

import pyarrow as pa

from deltaweb.delta.errors import ColumnTypeError
from deltaweb.delta.protocol.schema.shown import type_text
from deltaweb.delta.protocol.schema.types import (
    OPAQUE,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    parts_of,
)

ARROW_TYPES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "long": pa.int64(),
    "integer": pa.int32(),
    "short": pa.int16(),
    "byte": pa.int8(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
    "variant": pa.string(),  # as JSON
}
SHOWN_ONLY = frozenset({OPAQUE})  # of later protocols: named, never read


def arrow_type(data_type: DataType) -> pa.DataType:
    """The Arrow type of the values of `data_type`."""
    match data_type:
        case PrimitiveType(name):
            if name in SHOWN_ONLY:
                raise ColumnTypeError(column="", type_name=type_text(data_type))
            return ARROW_TYPES[name]
        case DecimalType(precision, scale):
            return pa.decimal128(precision, scale)
        case ArrayType(element_type, contains_null):
            element = arrow_type(element_type)
            return pa.list_(pa.field("element", element, nullable=contains_null))
        case MapType(key_type, value_type, value_contains_null):
            value = pa.field(
                "value", arrow_type(value_type), nullable=value_contains_null
            )
            key = pa.field("key", arrow_type(key_type), nullable=False)
            return pa.map_(key, value)
        case _:
            return pa.struct([_arrow_field(column) for column in data_type.fields])


def arrow_schema(schema: StructType) -> pa.Schema:
    """The Arrow schema of the rows of `schema`."""
    for column in schema.fields:
        check_read(column)
    return pa.schema([_arrow_field(column) for column in schema.fields])


def check_read(column: StructField) -> None:
    """Refuse a column whose values are not read, in whole or in part."""
    unread = unread_type(column.data_type)
    if unread:
        raise ColumnTypeError(column=column.name, type_name=unread)


def read_columns(schema: StructType) -> StructType:
    """The columns whose values are read."""
    return StructType(
        tuple(column for column in schema.fields if not unread_type(column.data_type))
    )


def unread_type(data_type: DataType) -> str:
    """The first type in `data_type` whose values are not read; "" where all are."""
    if isinstance(data_type, PrimitiveType):
        return type_text(data_type) if data_type.name in SHOWN_ONLY else ""
    inside = (unread_type(part.data_type) for part in parts_of(data_type))
    return next(filter(None, inside), "")


def _arrow_field(column: StructField) -> pa.Field:
    # A column of nulls alone cannot forbid them, whatever the log says.
    arrow = arrow_type(column.data_type)
    return pa.field(
        column.name, arrow, nullable=column.nullable or pa.types.is_null(arrow)
    )


def nullable_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema whose values may all be null, inside of others too."""
    return pa.schema([_nullable(field) for field in schema])


def _nullable(field: pa.Field) -> pa.Field:
    return pa.field(field.name, _nullable_type(field.type))


def _nullable_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([_nullable(field) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(_nullable(kind.value_field))
    if pa.types.is_map(kind):
        key = pa.field("key", _nullable_type(kind.key_type), nullable=False)
        return pa.map_(key, _nullable(kind.item_field))
    return kind
