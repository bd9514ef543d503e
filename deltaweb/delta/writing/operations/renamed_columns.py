"""Columns that are renamed or dropped: no file is written again.

Only a table that maps columns has that: its files know columns by other names. What
else of the table speaks of a column by its name is not changed in passing, so a column
that a rule or a property names stays.

Source: delta_protocol.md, "Column Mapping".
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.features.column_mapping import (
    COLUMN_MAPPING,
    has_mapped_columns,
    table_schema,
)
from deltaweb.delta.protocol.column_path import ColumnPath, column_field, resolve_column
from deltaweb.delta.protocol.schema import (
    StructType,
    fields_in,
    format_schema,
    leaf_fields,
    with_fields,
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
from deltaweb.delta.writing.transaction import Transaction

EXPRESSIONS: Final = (INVARIANTS, GENERATION)


def rename_column(
    base: Definition, column: str, new_name: str, *, root: str
) -> Transaction:
    """Return the transaction that gives a column another name.

    Args:
        new_name: What it is called, within the column that holds it.
    """
    schema, path = _found(base, column, root=root)
    if not new_name.strip():
        raise NewColumnsError(misfits={new_name: "is not a name"})
    _check_unused(base, schema, path)
    after = _renamed(schema, path, new_name)
    partitions = [
        new_name if (name,) == path else name
        for name in base.metadata.partition_columns
    ]
    metadata = replace(
        base.metadata,
        schema_string=format_schema(after),
        partition_columns=partitions,
    )
    return Transaction(
        base=base,
        operation="RENAME COLUMN",
        parameters={
            "oldColumnPath": ".".join(path),
            "newColumnPath": ".".join((*path[:-1], new_name)),
        },
        metadata=None if after == schema else metadata,
    )


def drop_column(base: Definition, column: str, *, root: str) -> Transaction:
    """Return the transaction after which a column is in no row; its values stay."""
    schema, path = _found(base, column, root=root)
    shown = ".".join(path)
    if path[0] in base.metadata.partition_columns:
        raise ColumnInUseError(column=shown, user="the table is partitioned by it")
    _check_unused(base, schema, path)
    after = _without(schema, path)
    left = [leaf.path[0] for leaf in leaf_fields(after)]
    if not set(left) - set(base.metadata.partition_columns):
        raise ColumnInUseError(column=shown, user="it is the last one in files")
    return Transaction(
        base=base,
        operation="DROP COLUMNS",
        parameters={"columns": json.dumps([shown])},
        metadata=replace(base.metadata, schema_string=format_schema(after)),
    )


def _found(
    base: Definition, column: str, *, root: str
) -> tuple[StructType, ColumnPath]:
    if not has_mapped_columns(base.protocol, base.metadata):
        reason = (
            f"files know columns by their names without {COLUMN_MAPPING}: set "
            "delta.columnMapping.mode = name first"
        )
        raise ProtocolUpgradeError(root=root, version=base.version, reason=reason)
    table_schema(base.protocol, base.metadata)  # refuses what contradicts itself
    schema = plain_schema(base)
    return schema, resolve_column(schema, column)


# === Who names a column ===


def _check_unused(base: Definition, schema: StructType, path: ColumnPath) -> None:
    check_no_rule(base, schema, path)
    text = base.metadata.configuration.get(STATISTICS_COLUMNS, "")
    if _naming(path).search(text):
        user = f"the property {STATISTICS_COLUMNS} names it"
        raise ColumnInUseError(column=".".join(path), user=user)


def check_no_rule(base: Definition, schema: StructType, path: ColumnPath) -> None:
    """Refuse a change of a column that a rule of the table names."""
    for user, text in (*_constraints(base), *_rules(schema)):
        if _naming(path).search(text):
            raise ColumnInUseError(column=".".join(path), user=user)


def _naming(path: ColumnPath) -> re.Pattern[str]:
    return re.compile(rf"(?i)(?<![\w]){re.escape(path[-1])}(?![\w])")


def _constraints(base: Definition) -> Iterator[tuple[str, str]]:
    for name, text in base.metadata.configuration.items():
        if name.startswith(CONSTRAINT_PREFIX):
            yield f"the constraint {name[len(CONSTRAINT_PREFIX) :]} names it", text


def _rules(schema: StructType) -> Iterator[tuple[str, str]]:
    for _, field in fields_in(schema):
        for key in EXPRESSIONS:
            if key in field.metadata:
                yield f"{key} of {field.name} names it", str(field.metadata[key])


# === The schema ===


def _renamed(schema: StructType, path: ColumnPath, name: str) -> StructType:
    above = path[:-1]
    holder = _struct(column_field(schema, above).data_type, path) if above else schema
    taken = holder.find(name)
    if taken is not None and taken.name != path[-1]:
        raise NewColumnsError(misfits={name: "is there already"})
    return with_fields(
        schema, lambda field, at: replace(field, name=name) if at == path else field
    )


def _without(schema: StructType, path: ColumnPath) -> StructType:
    fields = []
    for field in schema.fields:
        if field.name != path[0]:
            fields.append(field)
        elif len(path) > 1:
            inner = _without(_struct(field.data_type, path), path[1:])
            fields.append(replace(field, data_type=inner))
    if not fields:
        user = "it is the last one of what holds it"
        raise ColumnInUseError(column=".".join(path), user=user)
    return replace(schema, fields=tuple(fields))


def _struct(data_type: object, path: ColumnPath) -> StructType:
    if isinstance(data_type, StructType):
        return data_type
    raise ColumnNotFoundError(column=".".join(path), columns=[])
