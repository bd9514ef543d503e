"""Which column a hint means, and whether clients compare its values alike."""

import re
from collections.abc import Sequence

from deltaweb.delta.column_path import ColumnPath, column_field, resolve_column
from deltaweb.delta.errors import ColumnNotFoundError, PredicateError
from deltaweb.delta.schema import (
    SHOWN_ONLY,
    ArrayType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructType,
)
from deltaweb.sharing.sql_literals import TypedColumn

PARTITION_PREFIX = "partitionvalues"
"""What the Spark connector puts before the name of a partition column."""

_NO_VALUES = SHOWN_ONLY | {"void"}
_PADDED_OR_COLLATED = re.compile(r"char\(.*|string collate (?!UTF8_BINARY$).*")
_CHAR_KEY = "__CHAR_VARCHAR_TYPE_STRING"
_COLLATION_KEY = "__COLLATIONS"


def find_column(schema: StructType, names: str | Sequence[str]) -> TypedColumn:
    """The column that a hint names; `partitionValues.<name>` means `<name>`.

    A column of the table that is called partitionValues itself comes first.

    Raises:
        PredicateError: No column is called so.
    """
    try:
        path = _resolve(schema, names)
    except ColumnNotFoundError as error:
        reason = error.message[:1].lower() + error.message[1:].rstrip(".")
        raise PredicateError(reason=reason) from None
    return TypedColumn(path, column_field(schema, path).data_type)


def _resolve(schema: StructType, names: str | Sequence[str]) -> ColumnPath:
    if (
        not isinstance(names, str)
        and len(names) > 1
        and names[0].lower() == PARTITION_PREFIX
        and schema.find(names[0]) is None
    ):
        return resolve_column(schema, names[1:])
    return resolve_column(schema, names)


def check_comparable(schema: StructType, column: TypedColumn) -> None:
    """Refuse a column whose values clients compare by rules of their own.

    Raises:
        PredicateError: It is nested, has no values, is padded or has a collation.
    """
    shown = repr(".".join(column.path))
    data_type = column.data_type
    if isinstance(data_type, StructType | ArrayType | MapType):
        raise PredicateError(reason=f"column {shown} is nested")
    if isinstance(data_type, DecimalType):
        return
    if data_type.name in _NO_VALUES:
        raise PredicateError(reason=f"column {shown} has no values to compare")
    metadata = column_field(schema, column.path).metadata
    spelled = data_type.spelling or str(metadata.get(_CHAR_KEY, ""))
    if _COLLATION_KEY in metadata or _PADDED_OR_COLLATED.fullmatch(spelled):
        raise PredicateError(reason=f"column {shown} is padded or has a collation")


def is_boolean(column: TypedColumn) -> bool:
    """Tell whether a column is a condition by itself."""
    return column.data_type == PrimitiveType("boolean")
