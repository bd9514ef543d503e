"""A schema as people read it, and the columns that statistics are about."""

from collections.abc import Iterator
from typing import NamedTuple

from deltaweb.delta.schema.types import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructType,
)

_SQL_NAMES = {
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
}


class LeafField(NamedTuple):
    """A column without fields of its own, and the names that lead to it."""

    path: tuple[str, ...]
    data_type: DataType


def type_text(data_type: DataType) -> str:
    """The type as SQL spells it: `bigint`, `decimal(18,2)`, `array<string>`."""
    match data_type:
        case PrimitiveType(name, spelling):
            return _SQL_NAMES.get(name, spelling or name)
        case DecimalType(precision, scale):
            return f"decimal({precision},{scale})"
        case ArrayType(element_type):
            return f"array<{type_text(element_type)}>"
        case MapType(key_type, value_type):
            return f"map<{type_text(key_type)}, {type_text(value_type)}>"
        case _:
            parts = (
                f"{column.name}: {type_text(column.data_type)}"
                for column in data_type.fields
            )
            return f"struct<{', '.join(parts)}>"


def leaf_fields(schema: StructType) -> list[LeafField]:
    """The columns without fields of their own, in the order of the schema.

    Arrays and maps are leaves: statistics never look into them.
    """
    return list(_leaves(schema, ()))


def _leaves(struct: StructType, prefix: tuple[str, ...]) -> Iterator[LeafField]:
    for column in struct.fields:
        path = (*prefix, column.name)
        if isinstance(column.data_type, StructType):
            yield from _leaves(column.data_type, path)
        else:
            yield LeafField(path, column.data_type)
