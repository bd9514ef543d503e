"""The names that columns have in data files, partition values and statistics.

A schema whose table maps columns knows both names of each field, however deep; what
binds it is `deltaweb.delta.features.column_mapping`.

Source: delta_protocol.md, "Column Mapping".
"""

from dataclasses import replace

from deltaweb.delta.protocol.schema.types import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
)


def is_mapped_type(data_type: DataType) -> bool:
    """Whether a field in the type goes by another name where it is stored."""
    match data_type:
        case StructType(fields):
            return any(
                column.stored_name != column.name or is_mapped_type(column.data_type)
                for column in fields
            )
        case ArrayType(element_type):
            return is_mapped_type(element_type)
        case MapType(key_type, value_type):
            return is_mapped_type(key_type) or is_mapped_type(value_type)
        case _:
            return False


def stored_schema(schema: StructType) -> StructType:
    """The schema by stored names; the very same where no column has another."""
    return _stored_struct(schema) if is_mapped_type(schema) else schema


def _stored_struct(struct: StructType) -> StructType:
    return replace(struct, fields=tuple(_stored_field(f) for f in struct.fields))


def _stored_field(column: StructField) -> StructField:
    return replace(
        column,
        name=column.stored_name,
        data_type=_stored_type(column.data_type),
        physical_name="",
    )


def _stored_type(data_type: DataType) -> DataType:
    match data_type:
        case StructType():
            return _stored_struct(data_type)
        case ArrayType(element_type):
            return replace(data_type, element_type=_stored_type(element_type))
        case MapType(key_type, value_type):
            return replace(
                data_type,
                key_type=_stored_type(key_type),
                value_type=_stored_type(value_type),
            )
        case _:
            return data_type
