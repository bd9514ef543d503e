"""Which column a name means: top-level or nested, ignoring case.

A path is the tuple of names from the top to the column. A text is first taken as the
name of a top-level column, dots and all; then its dots lead into structs.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.protocol.schema import (
    DataType,
    LeafField,
    StructField,
    StructType,
    leaf_fields,
)

ColumnPath: TypeAlias = tuple[str, ...]


def resolve_column(schema: StructType, name: str | Sequence[str]) -> ColumnPath:
    """The path of the column that `name` means, spelled as the schema spells it.

    Args:
        name: A text such as `a.b`, or the names one by one.
    """
    if isinstance(name, str):
        column = schema.find(name)
        names = (name,) if column else tuple(name.split("."))
        text = name
    else:
        names, text = tuple(name), ".".join(name)
    path = _follow(schema, names)
    if not path:
        raise ColumnNotFoundError(column=text, columns=schema.names)
    return path


def _follow(schema: StructType, names: ColumnPath) -> ColumnPath:
    data_type: DataType = schema
    path: list[str] = []
    for name in names:
        column = data_type.find(name) if isinstance(data_type, StructType) else None
        if column is None:
            return ()
        path.append(column.name)
        data_type = column.data_type
    return tuple(path)


def column_field(schema: StructType, path: ColumnPath) -> StructField:
    """The field at `path`, ignoring case; refused where there is none."""
    column = schema.find(path[0])
    for name in path[1:]:
        struct = column.data_type if column else None
        column = struct.find(name) if isinstance(struct, StructType) else None
    if column is None:
        raise ColumnNotFoundError(column=".".join(path), columns=schema.names)
    return column


def select_leaves(
    schema: StructType, columns: Iterable[str | Sequence[str]] | None
) -> list[LeafField]:
    """The leaves at or below `columns`, all of them for None, in schema order."""
    leaves = leaf_fields(schema)
    if columns is None:
        return leaves
    paths = [resolve_column(schema, name) for name in columns]
    return [
        leaf for leaf in leaves if any(leaf.path[: len(path)] == path for path in paths)
    ]
