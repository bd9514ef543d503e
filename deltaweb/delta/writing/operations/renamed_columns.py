"""Columns that are renamed or dropped: no file is written again.

Only a table that maps columns has that: its files know columns by other names. The
list of columns with statistics follows. No rule of the table is changed, so a column
that a rule names stays.

Source: delta_protocol.md, "Column Mapping".
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias, TypeVar, cast

from deltaweb.delta.features.column_mapping import (
    COLUMN_MAPPING,
    has_mapped_columns,
    table_schema,
)
from deltaweb.delta.protocol.column_path import (
    ColumnPath,
    format_path,
    may_name,
    parse_path,
    part_type,
    quoted_path,
    resolve_part,
    split_paths,
)
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    fields_in,
    format_schema,
    leaf_fields,
    parts_of,
    with_fields,
    with_parts,
)
from deltaweb.delta.protocol.schema.field_keys import GENERATION, INVARIANTS
from deltaweb.delta.protocol.table_properties import (
    CONSTRAINT_PREFIX,
    STATISTICS_COLUMNS,
)
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.errors import (
    ColumnInUseError,
    NewColumnsError,
    ProtocolUpgradeError,
)
from deltaweb.delta.writing.operations.definition import table_schema as plain_schema
from deltaweb.delta.writing.requirements import invariant_sql
from deltaweb.delta.writing.transaction import Transaction

NamesColumn: TypeAlias = Callable[[str, ColumnPath], bool]
"""Returns whether SQL names a column, a column within it, or a struct around it."""

T = TypeVar("T", bound=DataType)


def rename_column(
    base: Definition,
    column: str,
    new_name: str,
    *,
    root: str,
    names_column: NamesColumn = may_name,
) -> Transaction:
    """Return the transaction that gives a column another name.

    Args:
        column: A dotted path for a nested column; the parts of lists and maps are
            `element`, `key` and `value`.
        new_name: Its name within the struct that holds it.
        names_column: Returns whether SQL names a column.
    """
    schema, path = _found(base, column, root=root)
    if not new_name.strip():
        raise NewColumnsError(misfits={new_name: "is not a name"})
    check_no_rule(base, schema, path, names_column)
    after = _renamed(schema, path, new_name)
    new_path = (*path[:-1], new_name)
    partitions = [
        new_name if (name,) == path else name
        for name in base.metadata.partition_columns
    ]
    metadata = replace(
        base.metadata,
        schema_string=format_schema(after),
        partition_columns=partitions,
        configuration=_with_statistics_of(base, path, new_path),
    )
    return Transaction(
        base=base,
        operation="RENAME COLUMN",
        parameters={
            "oldColumnPath": quoted_path(path),
            "newColumnPath": quoted_path(new_path),
        },
        metadata=None if after == schema else metadata,
    )


def drop_column(
    base: Definition,
    column: str,
    *,
    root: str,
    names_column: NamesColumn = may_name,
) -> Transaction:
    """Return the transaction after which a column is in no row; its values stay.

    Args:
        column: As above.
        names_column: As above.
    """
    schema, path = _found(base, column, root=root)
    shown = ".".join(path)
    if path[0] in base.metadata.partition_columns:
        raise ColumnInUseError(column=shown, user="the table is partitioned by it")
    check_no_rule(base, schema, path, names_column)
    after = _without(schema, path)
    left = [leaf.path[0] for leaf in leaf_fields(after)]
    if not set(left) - set(base.metadata.partition_columns):
        raise ColumnInUseError(column=shown, user="it is the last one in files")
    return Transaction(
        base=base,
        operation="DROP COLUMNS",
        parameters={"columns": json.dumps([quoted_path(path)])},
        metadata=replace(
            base.metadata,
            schema_string=format_schema(after),
            configuration=_with_statistics_of(base, path, None),
        ),
    )


def _found(
    base: Definition, column: str, *, root: str
) -> tuple[StructType, ColumnPath]:
    if not has_mapped_columns(base.protocol, base.metadata):
        reason = (
            f"without {COLUMN_MAPPING} files store columns by name: set "
            "delta.columnMapping.mode = name first"
        )
        raise ProtocolUpgradeError(root=root, version=base.version, reason=reason)
    table_schema(base.protocol, base.metadata)  # refuses what contradicts itself
    schema = plain_schema(base)
    path = resolve_part(schema, column)
    if not isinstance(part_type(schema, path[:-1]), StructType):
        user = "it is a part of a list or a map, which always has this name"
        raise ColumnInUseError(column=".".join(path), user=user)
    return schema, path


def _with_statistics_of(
    base: Definition, path: ColumnPath, new_path: ColumnPath | None
) -> Mapping[str, str]:
    """Return the properties, the list of columns with statistics brought up to date.

    Args:
        new_path: The new path of the column; None if it is dropped.
    """
    text = base.metadata.configuration.get(STATISTICS_COLUMNS)
    if text is None:
        return base.metadata.configuration
    old, after = [name.lower() for name in path], []
    for name in split_paths(text):
        names = parse_path(name)
        if [one.lower() for one in names[: len(path)]] != old:
            after.append(name)
        elif new_path is not None:
            after.append(format_path((*new_path, *names[len(path) :])))
    return {**base.metadata.configuration, STATISTICS_COLUMNS: ",".join(after)}


# === Rules that name a column ===


def check_no_rule(
    base: Definition, schema: StructType, path: ColumnPath, names_column: NamesColumn
) -> None:
    """Refuse a change of a column that a rule of the table names.

    Args:
        path: The column; `element`, `key` and `value` are the parts of lists and maps.
    """
    written = _as_written(schema, path)
    for user, sql in (*_constraints(base), *_rules(schema)):
        if names_column(sql, written):
            raise ColumnInUseError(column=".".join(path), user=user)


def _as_written(schema: StructType, path: ColumnPath) -> ColumnPath:
    """Return the names that lead to a part in SQL.

    The field of a list's structs is a field of the list. SQL names no part of a map.
    """
    data_type: DataType = schema
    written: list[str] = []
    for name in path:
        if isinstance(data_type, MapType):
            break
        if not isinstance(data_type, ArrayType):
            written.append(name)
        parts = {part.name: part.data_type for part in parts_of(data_type)}
        data_type = parts[name]
    return tuple(written)


def _constraints(base: Definition) -> Iterator[tuple[str, str]]:
    for name, text in base.metadata.configuration.items():
        if name.startswith(CONSTRAINT_PREFIX):
            yield f"the constraint {name[len(CONSTRAINT_PREFIX) :]} names it", text


def _rules(schema: StructType) -> Iterator[tuple[str, str]]:
    for _, field in fields_in(schema):
        invariant = invariant_sql(field)
        if invariant is not None:
            yield f"{INVARIANTS} of {field.name} names it", invariant
        if GENERATION in field.metadata:
            sql = str(field.metadata[GENERATION])
            yield f"{GENERATION} of {field.name} names it", sql


# === The schema ===


def _renamed(schema: StructType, path: ColumnPath, name: str) -> StructType:
    holder = _holder(schema, path)
    taken = holder.find(name)
    if taken is not None and taken.name != path[-1]:
        raise NewColumnsError(misfits={name: "is there already"})
    return with_fields(
        schema, lambda field, at: replace(field, name=name) if at == path else field
    )


def _without(schema: StructType, path: ColumnPath) -> StructType:
    holder = _holder(schema, path)
    left = replace(
        holder, fields=tuple(one for one in holder.fields if one.name != path[-1])
    )
    if not left.fields:
        user = "it is the last one of what holds it"
        raise ColumnInUseError(column=".".join(path), user=user)
    return _with_part(schema, path[:-1], left)


def _with_part(data_type: T, path: ColumnPath, part: DataType) -> T:
    """Return a type in which another one is at a path."""
    if not path:
        return cast("T", part)

    def changed(one: StructField) -> StructField:
        if one.name != path[0]:
            return one
        return replace(one, data_type=_with_part(one.data_type, path[1:], part))

    return with_parts(data_type, changed)


def _holder(schema: StructType, path: ColumnPath) -> StructType:
    """Return the struct that has the column at a path as its field."""
    return cast("StructType", part_type(schema, path[:-1]))
