"""Which column a hint means, and whether clients compare its values alike."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from deltaweb.conditions.casts import type_name
from deltaweb.delta.errors import ColumnNotFoundError, PredicateError
from deltaweb.delta.protocol.column_path import ColumnPath, column_field, resolve_column
from deltaweb.delta.protocol.schema import (
    OPAQUE,
    SHOWN_ONLY,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructType,
    type_text,
)
from deltaweb.delta.protocol.schema.field_keys import CHAR_TYPE, COLLATIONS
from deltaweb.delta.values.value_text import INTEGER_BITS

PARTITION_PREFIX = "partitionvalues"
"""What the Spark connector puts before the name of a partition column."""

_NO_VALUES = SHOWN_ONLY | {"void", "variant"}
_NUMBERS = frozenset({*INTEGER_BITS, "float", "double"})
_TYPES_BESIDE = {
    **dict.fromkeys((*_NUMBERS, "decimal"), _NUMBERS),
    "timestamp_ntz": frozenset({"timestamp"}),
}
"""Types of a value that a column can be compared with, where not its own alone."""
_FLOATS = ("float", "double")
_TYPES_STATED = {
    "byte": ("byte", "short", "integer", "long", *_FLOATS),
    "short": ("short", "integer", "long", *_FLOATS),
    "integer": ("integer", "long", *_FLOATS),
    "long": ("long", *_FLOATS),
    "decimal": _FLOATS,
    "float": _FLOATS,
    "timestamp_ntz": ("timestamp",),
}
"""Types that a column may be cast to, where not its own alone: none cuts a value, and
the values beside a float are few enough not to be rounded."""
_PADDED_OR_COLLATED = re.compile(r"char\(.*|string collate (?!UTF8_BINARY$).*")


@dataclass(frozen=True)
class TypedColumn:
    """A column that a condition names, and its type."""

    path: ColumnPath
    data_type: DataType

    @property
    def shown(self) -> str:
        return repr(".".join(self.path))


def find_column(schema: StructType, names: str | Sequence[str]) -> TypedColumn:
    try:
        path = resolve_column(schema, names)
    except ColumnNotFoundError as error:
        reason = error.message[:1].lower() + error.message[1:].rstrip(".")
        raise PredicateError(reason=reason) from None
    return TypedColumn(path, column_field(schema, path).data_type)


def find_hinted_column(schema: StructType, names: str | Sequence[str]) -> TypedColumn:
    """The column that a hint names; `partitionValues.<name>` means `<name>`.

    A column of the table that is called partitionValues itself comes first.
    """
    if (
        not isinstance(names, str)
        and len(names) > 1
        and names[0].lower() == PARTITION_PREFIX
        and schema.find(names[0]) is None
    ):
        names = names[1:]
    return find_column(schema, names)


def check_has_values(column: TypedColumn, *, advice: str = "") -> None:
    """Refuse a column that is compared with no literal."""
    data_type = column.data_type
    if isinstance(data_type, StructType | ArrayType | MapType):
        raise PredicateError(reason=f"column {column.shown} is nested{advice}")
    if not isinstance(data_type, DecimalType) and data_type.name in _NO_VALUES:
        reason = f"column {column.shown} has no values to compare"
        if data_type.name == OPAQUE:
            reason += f": its type {type_text(data_type)} is not read"
        raise PredicateError(reason=reason)


def check_comparable(schema: StructType, column: TypedColumn) -> None:
    """Refuse a column whose values clients compare by rules of their own."""
    check_has_values(column)
    metadata = column_field(schema, column.path).metadata
    spelling = getattr(column.data_type, "spelling", "")
    spelled = spelling or str(metadata.get(CHAR_TYPE, ""))
    if COLLATIONS in metadata or _PADDED_OR_COLLATED.fullmatch(spelled):
        reason = f"column {column.shown} is padded or has a collation"
        raise PredicateError(reason=reason)


def check_value_type(column: TypedColumn, name: str) -> None:
    """Refuse the type that a JSON hint gives a value beside a column."""
    own = type_name(column.data_type)
    if name not in _TYPES_BESIDE.get(own, {own}):
        raise _other_type(column, name)


def check_stated_type(column: TypedColumn, name: str) -> None:
    """Refuse the type that a JSON hint gives a column, which means a cast to it."""
    own = type_name(column.data_type)
    if name not in _TYPES_STATED.get(own, {own}):
        raise _other_type(column, name)


def _other_type(column: TypedColumn, name: str) -> PredicateError:
    own = type_name(column.data_type) or "nested"
    reason = (
        f"the valueType {name} is not that of column {column.shown}, which is {own}"
    )
    return PredicateError(reason=reason)


def is_boolean(column: TypedColumn) -> bool:
    return column.data_type == PrimitiveType("boolean")
