"""The schema that a table of Arrow rows has."""

from typing import Final

import pyarrow as pa

from deltaweb.delta.errors import ColumnTypeError
from deltaweb.delta.protocol.schema.field_keys import COMMENT
from deltaweb.delta.protocol.schema.types import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
)

_NAMES: Final = {
    pa.int8(): "byte",
    pa.int16(): "short",
    pa.int32(): "integer",
    pa.int64(): "long",
    pa.uint8(): "short",
    pa.uint16(): "integer",
    pa.uint32(): "long",
    pa.float16(): "float",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.date64(): "date",
    pa.null(): "void",
}
_TEXTS: Final = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_BYTES: Final = (
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)
_LISTS: Final = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)
_MAX_DIGITS: Final = 38
_UNSIGNED_LONG_DIGITS: Final = 20


def schema_of_arrow(schema: pa.Schema) -> StructType:
    """Return the schema of rows; a type that the log has no name for gets a wider one.

    The metadata of a field that has a `comment` becomes that of the column.
    """
    return StructType(tuple(_field(field, field.name) for field in schema))


def _field(field: pa.Field, path: str) -> StructField:
    comment = (field.metadata or {}).get(COMMENT.encode())
    return StructField(
        field.name,
        data_type_of_arrow(field.type, path),
        nullable=field.nullable,
        metadata={} if comment is None else {COMMENT: comment.decode()},
    )


def data_type_of_arrow(found: pa.DataType, path: str) -> DataType:
    """Return the type of the column at `path`; raise `ColumnTypeError` for none."""
    if isinstance(found, pa.BaseExtensionType):
        return data_type_of_arrow(found.storage_type, path)
    if pa.types.is_dictionary(found) or pa.types.is_run_end_encoded(found):
        return data_type_of_arrow(found.value_type, path)
    if pa.types.is_struct(found):
        return StructType(tuple(_field(f, f"{path}.{f.name}") for f in found))
    if any(kind(found) for kind in _LISTS):
        inside = data_type_of_arrow(found.value_type, f"{path}.element")
        return ArrayType(inside, contains_null=found.value_field.nullable)
    if pa.types.is_map(found):
        return MapType(
            data_type_of_arrow(found.key_type, f"{path}.key"),
            data_type_of_arrow(found.item_type, f"{path}.value"),
            value_contains_null=found.item_field.nullable,
        )
    return _leaf(found, path)


def _leaf(found: pa.DataType, path: str) -> DataType:
    if (
        pa.types.is_decimal(found)
        and 0 <= found.scale <= found.precision <= _MAX_DIGITS
    ):
        return DecimalType(found.precision, found.scale)
    if found == pa.uint64():
        return DecimalType(_UNSIGNED_LONG_DIGITS, 0)
    if pa.types.is_timestamp(found):
        return PrimitiveType("timestamp" if found.tz else "timestamp_ntz")
    for name, kinds in (("string", _TEXTS), ("binary", _BYTES)):
        if any(kind(found) for kind in kinds) and not pa.types.is_decimal(found):
            return PrimitiveType(name)
    if found not in _NAMES:
        raise ColumnTypeError(
            column=path, type_name=str(found), hint="Cast it before it is written."
        )
    return PrimitiveType(_NAMES[found])
