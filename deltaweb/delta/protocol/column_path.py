"""Which column a name means: top-level or nested, ignoring case.

A path is the tuple of names from the top to the column. A text is first taken as the
name of a top-level column, dots and all; then its dots lead into structs. Backticks
quote a name with dots or commas, and a doubled backtick in them is one.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.protocol.schema import (
    DataType,
    LeafField,
    StructField,
    StructType,
    leaf_fields,
    parts_of,
)

ColumnPath: TypeAlias = tuple[str, ...]
_PART: Final = re.compile(r"(?:^|\.)(?:`((?:[^`]|``)*)`(?=\.|$)|([^.]*))")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_]+", re.ASCII)
_LIST: Final = re.compile(r"\s*((?:`(?:[^`]|``)*`|[^,`])*)(?:,|$)")


def parse_path(text: str) -> ColumnPath:
    """Return the names of a dotted path, in which backticks quote a name."""
    return tuple(
        match[2] if match[1] is None else match[1].replace("``", "`")
        for match in _PART.finditer(text)
    )


def split_paths(text: str) -> list[str]:
    """Return the parts of a text between commas; those in backticks separate nothing.

    A text whose backticks are not in pairs is split at all commas.
    """
    found, end = [], 0
    while end < len(text):
        match = _LIST.match(text, end)
        if match is None:
            found = text.split(",")
            break
        found.append(match[1])
        end = match.end()
    return [name.strip() for name in found if name.strip()]


def split_names(text: str) -> list[str]:
    """Return the names of columns between commas; backticks quote those of a column.

    A dotted path with backticks is returned unchanged: `resolve_column` reads it.
    """
    names = []
    for text_of_one in split_paths(text):
        path = parse_path(text_of_one)
        names.append(path[0] if len(path) == 1 else text_of_one)
    return names


def join_names(names: Iterable[str], separator: str = ",") -> str:
    """Return names between commas, so that `split_names` returns them."""
    return separator.join(
        name
        if split_names(name) == [name] and name.count("`") % 2 == 0
        else format_path((name,))
        for name in names
    )


def path_text(path: Sequence[str]) -> str:
    """Return a path as `resolve_column` reads it; at the top it is the name alone."""
    return path[0] if len(path) == 1 else quoted_path(path)


def quoted_path(path: Sequence[str]) -> str:
    """Return a path as `parse_path` reads it, backticks only around names with dots."""
    return ".".join(map(_as_part, path))


def _as_part(name: str) -> str:
    if name and "." not in name and "`" not in name:
        return name
    return "`{}`".format(name.replace("`", "``"))


def format_path(path: ColumnPath) -> str:
    """Return a path as a text, with backticks around names that are not plain."""
    return ".".join(
        name if _PLAIN.fullmatch(name) else "`{}`".format(name.replace("`", "``"))
        for name in path
    )


def may_name(sql: str, path: ColumnPath) -> bool:
    """Return whether SQL that is not parsed contains the first name of a path."""
    text, name = sql.lower(), path[0].lower()
    return name in text or name.replace("`", "``") in text


def resolve_part(schema: StructType, name: str | Sequence[str]) -> ColumnPath:
    """Return the path of a column, or of a part within lists and maps.

    Args:
        name: As in `resolve_column`; the parts of lists and maps are `element`, `key`
            and `value`.

    Raises:
        ColumnNotFoundError: If there is none.
    """
    given = _names(schema, name)
    data_type: DataType = schema
    path: list[str] = []
    for one in given:
        part = _part(data_type, one)
        if part is None:
            raise _not_found(schema, name)
        path.append(part.name)
        data_type = part.data_type
    return tuple(path)


def _part(data_type: DataType, name: str) -> StructField | None:
    if isinstance(data_type, StructType):
        return data_type.find(name)
    parts = parts_of(data_type)
    return next((part for part in parts if part.name == name.lower()), None)


def part_type(schema: StructType, path: ColumnPath) -> DataType:
    """Return the type at a path that `resolve_part` returned."""
    data_type: DataType = schema
    for name in path:
        part = _part(data_type, name)
        if part is None:
            raise _not_found(schema, path)
        data_type = part.data_type
    return data_type


def _names(schema: StructType, name: str | Sequence[str]) -> ColumnPath:
    if not isinstance(name, str):
        return tuple(name)
    return (name,) if schema.find(name) else parse_path(name)


def _not_found(schema: StructType, name: str | Sequence[str]) -> ColumnNotFoundError:
    text = name if isinstance(name, str) else ".".join(name)
    return ColumnNotFoundError(column=text, columns=schema.names)


def resolve_column(schema: StructType, name: str | Sequence[str]) -> ColumnPath:
    """The path of the column that `name` means, spelled as the schema spells it.

    Args:
        name: A text such as "a.b" or "a.`b.c`", or the names one by one.
    """
    path = _follow(schema, _names(schema, name))
    if not path:
        raise _not_found(schema, name)
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
