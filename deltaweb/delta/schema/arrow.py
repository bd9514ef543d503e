"""The Arrow types of rows."""

import pyarrow as pa

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.schema.types import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
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
}
SHOWN_ONLY = frozenset({"variant"})  # a type of later protocols: named, never read


def arrow_type(data_type: DataType) -> pa.DataType:
    """The Arrow type of the values of `data_type`.

    Raises:
        SchemaError: The type can be shown but not read, such as `variant`.
    """
    match data_type:
        case PrimitiveType(name):
            if name in SHOWN_ONLY:
                reason = f"values of type {name} cannot be read yet"
                raise SchemaError(column="", reason=reason)
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
    """The Arrow schema of the rows of `schema`.

    Raises:
        SchemaError: A column can be shown but not read; the error names it.
    """
    fields = []
    for column in schema.fields:
        try:
            fields.append(_arrow_field(column))
        except SchemaError as error:
            raise SchemaError(column=column.name, reason=error.reason) from None
    return pa.schema(fields)


def _arrow_field(column: StructField) -> pa.Field:
    # A column of nulls alone cannot forbid them, whatever the log says.
    arrow = arrow_type(column.data_type)
    return pa.field(
        column.name, arrow, nullable=column.nullable or pa.types.is_null(arrow)
    )
