"""The one schema in which all changes of a range are shown.

It is that of the newest version, or of the end of the range where columns are mapped.
The schemas of all versions of the range have to fit it: columns may have been added,
and widened where they are not mapped, never renamed, dropped or changed otherwise.
"""

from collections.abc import Callable, Sequence
from typing import Final

from deltaweb.delta.changes.row_changes import CHANGE_TYPE
from deltaweb.delta.errors import SchemaMissingError
from deltaweb.delta.features.column_mapping import has_mapped_columns, table_schema
from deltaweb.delta.features.type_widening import is_widening
from deltaweb.delta.feed.errors import FeedSchemaError
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    type_text,
)
from deltaweb.delta.snapshot.state import Definition

COMMIT_VERSION: Final = "_commit_version"
COMMIT_TIMESTAMP: Final = "_commit_timestamp"
FEED_COLUMNS: Final = (
    StructField(CHANGE_TYPE, PrimitiveType("string")),
    StructField(COMMIT_VERSION, PrimitiveType("long")),
    StructField(COMMIT_TIMESTAMP, PrimitiveType("timestamp")),
)
"""What a change has besides the columns of its row."""


def schema_of(root: str, at: Definition) -> StructType:
    if at.metadata.schema_string is None:
        raise SchemaMissingError(root=root, version=at.version)
    return table_schema(at.protocol, at.metadata)


def feed_schema(
    root: str,
    shown: Definition,
    versions: Sequence[Definition],
    *,
    is_exact: bool = False,
) -> StructType:
    """Return the schema of changes: the columns of the table, then the feed's.

    Args:
        is_exact: Whether a type that was widened is an error in any table.
    """
    schema = schema_of(root, shown)
    for column in FEED_COLUMNS:
        if schema.find(column.name) is not None:
            reason = f"the table has a column of its own that is called {column.name}"
            raise FeedSchemaError(
                root=root, version=shown.version, reason=reason, fits_from=None
            )
    is_mapped = has_mapped_columns(shown.protocol, shown.metadata)
    fits = _is_same if is_mapped or is_exact else is_widening
    fits_from: int | None = None
    for at in reversed(versions):
        misfit = _struct_misfit(schema_of(root, at), schema, "", fits)
        if [*at.metadata.partition_columns] != [*shown.metadata.partition_columns]:
            misfit = misfit or "it is partitioned by other columns"
        if misfit:
            version = at.version if fits_from is None else fits_from - 1
            raise FeedSchemaError(
                root=root, version=version, reason=misfit, fits_from=fits_from
            )
        fits_from = at.version
    return StructType((*schema.fields, *FEED_COLUMNS))


Fits = Callable[[DataType, DataType], bool]
"""Tells whether values of a type are shown as those of another."""


def _is_same(before: DataType, after: DataType) -> bool:
    return before == after


def _struct_misfit(before: StructType, after: StructType, path: str, fits: Fits) -> str:
    """Return why rows of a struct cannot be shown as those of another, "" if they can.

    Columns are the same by their physical names, where they have any.
    """
    known = {column.stored_name.lower(): column for column in after.fields}
    for column in before.fields:
        name = f"{path}{column.name}"
        other = known.get(column.stored_name.lower())
        if other is None:
            return f"it has the column {name}, which later versions do not have"
        if other.name != column.name:
            return f"the column {name} is called {other.name} in later versions"
        if column.nullable and not other.nullable:
            return f"the column {name} can be null, but not in later versions"
        misfit = _misfit(column.data_type, other.data_type, name, fits)
        if misfit:
            return misfit
    return ""


def _misfit(before: DataType, after: DataType, path: str, fits: Fits) -> str:
    match before, after:
        case (StructType(), StructType()):
            return _struct_misfit(before, after, f"{path}.", fits)
        case (ArrayType(old), ArrayType(new)):
            return _misfit(old, new, f"{path}.element", fits)
        case (MapType(old_key, old_value), MapType(new_key, new_value)):
            return _misfit(old_key, new_key, f"{path}.key", fits) or _misfit(
                old_value, new_value, f"{path}.value", fits
            )
        case _:
            pass
    if before == PrimitiveType("void") or fits(before, after):
        return ""
    if isinstance(before, PrimitiveType) and isinstance(after, PrimitiveType):
        is_spelling = before.name == after.name == "string"
        if is_spelling:  # one of another length
            return ""
    return (
        f"the type of the column {path} is {type_text(before)}, "
        f"but {type_text(after)} in later versions"
    )
