"""Changes of a table's definition: each a transaction, and no data file written.

Every function takes what holds now and returns what is to be committed; nothing of it
reads or writes. What the protocol has to know is never raised in passing: `upgrade`
says so, and this cannot be undone.

Source: delta_protocol.md, "Change Metadata" and "Protocol Evolution".
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from deltaweb.delta.features.identity_columns import is_identity
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.column_path import ColumnPath, resolve_column
from deltaweb.delta.protocol.schema import (
    StructField,
    StructType,
    format_schema,
    parse_schema,
    type_text,
    with_fields,
)
from deltaweb.delta.protocol.schema.field_keys import COMMENT
from deltaweb.delta.protocol.table_properties import CONSTRAINT_PREFIX
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.errors import ConstraintNameError, NewColumnsError
from deltaweb.delta.writing.operations.mapped_columns import check_mode, with_mapping
from deltaweb.delta.writing.operations.new_protocol import (
    CHECK_CONSTRAINTS,
    type_features,
)
from deltaweb.delta.writing.operations.properties import (
    check_properties,
    check_row_tracking,
    check_statistics_columns,
    needed_features,
    split_features,
)
from deltaweb.delta.writing.operations.protocol_change import protocol_knowing
from deltaweb.delta.writing.transaction import EVERYTHING_READ, Transaction

# === Properties ===


def set_properties(
    base: Definition,
    properties: Mapping[str, str],
    *,
    root: str,
    upgrade: bool = False,
) -> Transaction:
    """Return the transaction that sets properties of a table.

    `delta.feature.NAME = supported` adds a feature to a protocol that lists them.

    Args:
        properties: By name; values are text.
        upgrade: Whether the protocol may go up for them, in the same commit.
    """
    features, kept = split_features(properties)
    check_properties(kept)
    protocol = protocol_knowing(
        base,
        needed_features(kept),
        root=root,
        operation="SET TBLPROPERTIES",
        upgrade=upgrade,
        listed=features,
    )
    check_row_tracking(base.metadata, kept)
    check_statistics_columns(base.metadata, kept)
    metadata = _changed(base, {**base.metadata.configuration, **kept})
    if metadata is not None:
        check_mode(base.metadata, metadata)
        metadata = with_mapping(protocol, metadata, before=base.metadata)
    return Transaction(
        base=base,
        operation="SET TBLPROPERTIES",
        parameters={"properties": json.dumps(dict(properties))},
        metadata=metadata,
        protocol=_upgrade(base, protocol),
    )


def unset_properties(base: Definition, names: Iterable[str]) -> Transaction:
    """Return the transaction that takes properties away; those not there are passed."""
    gone = [*names]
    check_properties(dict.fromkeys(gone, ""), has_values=False)
    configuration = {
        name: value
        for name, value in base.metadata.configuration.items()
        if name not in gone
    }
    metadata = _changed(base, configuration)
    if metadata is not None:
        check_mode(base.metadata, metadata)
    return Transaction(
        base=base,
        operation="UNSET TBLPROPERTIES",
        parameters={"properties": gone, "ifExists": True},
        metadata=metadata,
    )


def _upgrade(base: Definition, protocol: Protocol) -> Protocol | None:
    return protocol if protocol != base.protocol else None


def _changed(base: Definition, configuration: Mapping[str, str]) -> Metadata | None:
    if dict(base.metadata.configuration) == dict(configuration):
        return None
    return replace(base.metadata, configuration=dict(configuration))


# === Columns ===


def add_columns(
    base: Definition,
    columns: Sequence[StructField],
    *,
    root: str,
    upgrade: bool = False,
) -> Transaction:
    """Return the transaction that adds columns after those that are there.

    Present rows have null there, so a new column takes null.

    Args:
        upgrade: Whether the protocol may go up for their types, in the same commit.
    """
    schema = table_schema(base)
    after = with_columns(schema, columns)
    protocol = protocol_knowing(
        base,
        type_features(after),
        root=root,
        operation="ADD COLUMNS",
        upgrade=upgrade,
    )
    shown = [
        {"name": column.name, "type": type_text(column.data_type)} for column in columns
    ]
    metadata = replace(base.metadata, schema_string=format_schema(after))
    return Transaction(
        base=base,
        operation="ADD COLUMNS",
        parameters={"columns": shown},
        metadata=with_mapping(protocol, metadata, before=base.metadata)
        if columns
        else None,
        protocol=_upgrade(base, protocol),
    )


def with_columns(schema: StructType, columns: Sequence[StructField]) -> StructType:
    """Return a schema with more columns at its end; see `add_columns`."""
    misfits: dict[str, str] = {}
    seen = {name.lower() for name in schema.names}
    for column in columns:
        if not column.name.strip():
            misfits[column.name] = "has no name"
        elif column.name.lower() in seen:
            misfits[column.name] = "is there already (upper and lower case are one)"
        elif not column.nullable:
            misfits[column.name] = "may not be NOT NULL: the present rows have no value"
        elif is_identity(column.metadata):
            misfits[column.name] = "may not be an identity column: rows are there"
        seen.add(column.name.lower())
    if misfits:
        raise NewColumnsError(misfits=misfits)
    return replace(schema, fields=(*schema.fields, *columns))


def set_comment(
    base: Definition, text: str | None, *, column: str | None = None
) -> Transaction:
    """Return the transaction that describes a table, or a column of it.

    Args:
        text: The words; None or empty takes them away.
        column: A dotted path for a nested column; None for the table.
    """
    words = text or None
    if column is None:
        metadata = replace(base.metadata, description=words)
        operation, parameters = "COMMENT ON TABLE", {"comment": text or ""}
    else:
        schema = table_schema(base)
        path = resolve_column(schema, column)
        after = _with_comment(schema, path, words)
        metadata = replace(base.metadata, schema_string=format_schema(after))
        if after == schema:
            metadata = base.metadata
        operation = "CHANGE COLUMN"
        parameters = {"column": ".".join(path), "comment": text or ""}
    return Transaction(
        base=base,
        operation=operation,
        parameters=parameters,
        metadata=metadata if metadata != base.metadata else None,
    )


def _with_comment(
    schema: StructType, path: ColumnPath, words: str | None
) -> StructType:
    def changed(field: StructField, at: ColumnPath) -> StructField:
        if at != path:
            return field
        rest = {key: said for key, said in field.metadata.items() if key != COMMENT}
        said = rest if words is None else {**rest, COMMENT: words}
        return replace(field, metadata=said)

    return with_fields(schema, changed)


def table_schema(base: Definition) -> StructType:
    """Return the schema of a definition; one that is missing has no column."""
    return parse_schema(base.metadata.schema_string or '{"type":"struct","fields":[]}')


# === Constraints ===


def add_constraint(
    base: Definition, name: str, sql: str, *, root: str, upgrade: bool = False
) -> Transaction:
    """Return the transaction that adds a CHECK constraint.

    The present rows are to be checked by who calls this, at the version of `base`: rows
    that come meanwhile make the commit a conflict.

    Args:
        upgrade: Whether the protocol may go up for it, in the same commit.
    """
    key = constraint_key(name)
    taken = _constraints(base)
    if not name.strip() or key in taken:
        raise ConstraintNameError(name=name, names=[*taken.values()], is_taken=True)
    protocol = protocol_knowing(
        base,
        [CHECK_CONSTRAINTS],
        root=root,
        operation="ADD CONSTRAINT",
        upgrade=upgrade,
    )
    configuration = {**base.metadata.configuration, key: sql}
    return Transaction(
        base=base,
        operation="ADD CONSTRAINT",
        parameters={"name": name, "expr": sql},
        read=EVERYTHING_READ,
        metadata=_changed(base, configuration),
        protocol=_upgrade(base, protocol),
    )


def drop_constraint(base: Definition, name: str) -> Transaction:
    """Return the transaction that drops a CHECK constraint."""
    key, there = constraint_key(name), _constraints(base)
    if key not in there:
        raise ConstraintNameError(name=name, names=[*there.values()], is_taken=False)
    said = base.metadata.configuration
    configuration = {k: sql for k, sql in said.items() if k.lower() != key}
    expression = next(sql for known, sql in said.items() if known.lower() == key)
    return Transaction(
        base=base,
        operation="DROP CONSTRAINT",
        parameters={"name": name, "expr": expression},
        metadata=_changed(base, configuration),
    )


def constraint_key(name: str) -> str:
    """Return the property of a constraint; upper and lower case are one."""
    return f"{CONSTRAINT_PREFIX}{name.lower()}"


def _constraints(base: Definition) -> dict[str, str]:
    return {
        name.lower(): name[len(CONSTRAINT_PREFIX) :]
        for name in base.metadata.configuration
        if name.startswith(CONSTRAINT_PREFIX)
    }
