"""A schema as people read it, and the columns that statistics are about."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from deltaweb.delta.protocol.schema.types import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructType,
    fields_in,
)

_PLAIN_NAME: Final = re.compile(r"[^\W\d]\w*")
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


def quoted_name(name: str) -> str:
    """Return a name as SQL has it: in backticks if it is more than letters."""
    plain = _PLAIN_NAME.fullmatch(name)
    return name if plain else "`{}`".format(name.replace("`", "``"))


def type_text(data_type: DataType) -> str:
    """Return the type as SQL spells it: `bigint`, `decimal(18,2)`, `array<string>`.

    `parse_type_ddl` reads it back; names of fields are in backticks if need be.
    """
    return "".join(_spelled(data_type))


def short_type_text(data_type: DataType, max_length: int) -> str:
    """The type as SQL spells it, cut with an ellipsis after `max_length` characters.

    No more than that is put together, however much the type nests.
    """
    text = ""
    for part in _spelled(data_type):
        text += part
        if len(text) > max_length:
            return f"{text[: max_length - 1]}…"
    return text


def _spelled(data_type: DataType) -> Iterator[str]:
    match data_type:
        case PrimitiveType(name, spelling):
            yield _SQL_NAMES.get(name, spelling or name)
        case DecimalType(precision, scale):
            yield f"decimal({precision},{scale})"
        case ArrayType(element_type):
            yield "array<"
            yield from _spelled(element_type)
            yield ">"
        case MapType(key_type, value_type):
            yield "map<"
            yield from _spelled(key_type)
            yield ", "
            yield from _spelled(value_type)
            yield ">"
        case _:
            yield "struct<"
            for place, column in enumerate(data_type.fields):
                yield f"{', ' if place else ''}{quoted_name(column.name)}: "
                yield from _spelled(column.data_type)
            yield ">"


def leaf_fields(schema: StructType) -> list[LeafField]:
    """The columns without fields of their own, in the order of the schema.

    Arrays and maps are leaves: statistics never look into them.
    """
    return [
        LeafField(path, column.data_type)
        for path, column in fields_in(schema)
        if not isinstance(column.data_type, StructType)
    ]
