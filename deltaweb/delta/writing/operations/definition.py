"""Changes of a table's definition: each a transaction, and no data file written.

Every function takes what holds now and returns what is to be committed; nothing of it
reads or writes. What a version of the protocol has to know is never raised in passing:
`upgrade_protocol` says so, and there is no way back.

Source: delta_protocol.md, "Change Metadata" and "Protocol Evolution".
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from deltaweb.delta.features.identity_columns import is_identity
from deltaweb.delta.features.registry import (
    BY_WRITER_VERSION,
    FEATURES_READER_VERSION,
    FEATURES_WRITER_VERSION,
    required_features,
    writer_features,
)
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.column_path import ColumnPath, resolve_column
from deltaweb.delta.protocol.schema import (
    StructField,
    StructType,
    format_schema,
    parse_schema,
    type_text,
)
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.errors import (
    ConstraintNameError,
    NewColumnsError,
    ProtocolUpgradeError,
)
from deltaweb.delta.writing.operations.mapped_columns import (
    check_mode,
    with_mapping,
)
from deltaweb.delta.writing.operations.new_protocol import (
    CHECK_CONSTRAINTS,
    OF_READERS,
    type_features,
)
from deltaweb.delta.writing.operations.properties import (
    check_properties,
    check_row_tracking,
    needed_features,
    split_features,
)
from deltaweb.delta.writing.requirements import CONSTRAINT_PREFIX
from deltaweb.delta.writing.transaction import EVERYTHING_READ, Transaction

COMMENT: Final = "comment"


# === Properties ===


def set_properties(
    base: Definition, properties: Mapping[str, str], *, root: str
) -> Transaction:
    """Return the transaction that sets properties of a table.

    `delta.feature.NAME = supported` adds a feature to a protocol that lists them.

    Args:
        base: What holds now.
        properties: By name; values are text.
        root: The table's root, for errors.

    Raises:
        PropertyError: If a value is not of its property, or the property is set by
            another operation.
        ProtocolUpgradeError: If the protocol does not know of it yet.
        UnsupportedWriteError: When committed, if it turns on what is not written here.
    """
    features, kept = split_features(properties)
    check_properties(kept)
    protocol = _with_features(base, features, root=root) if features else None
    after = replace(base, protocol=protocol or base.protocol)
    check_known(after, needed_features(kept), root=root)
    check_row_tracking(base.metadata, kept)
    metadata = _changed(base, {**base.metadata.configuration, **kept})
    if metadata is not None:
        check_mode(base.metadata, metadata)
        metadata = with_mapping(after.protocol, metadata, before=base.metadata)
    return Transaction(
        base=base,
        operation="SET TBLPROPERTIES",
        parameters={"properties": json.dumps(dict(properties))},
        metadata=metadata,
        protocol=protocol if protocol != base.protocol else None,
    )


def unset_properties(base: Definition, names: Iterable[str]) -> Transaction:
    """Return the transaction that takes properties away; those not there are passed.

    Raises:
        PropertyError: If one is a constraint, which is dropped by name.
    """
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


def _changed(base: Definition, configuration: Mapping[str, str]) -> Metadata | None:
    if dict(base.metadata.configuration) == dict(configuration):
        return None
    return replace(base.metadata, configuration=dict(configuration))


# === Columns ===


def add_columns(
    base: Definition, columns: Sequence[StructField], *, root: str
) -> Transaction:
    """Return the transaction that adds columns after those that are there.

    Present rows have null there, so a new column takes null.

    Raises:
        NewColumnsError: If a column is there, or takes no null; it names them all.
        ProtocolUpgradeError: If the protocol does not know of a type.
        UnsupportedWriteError: When committed, if a type is not written here.
    """
    schema = table_schema(base)
    after = with_columns(schema, columns)
    check_known(base, type_features(after), root=root)
    shown = [
        {"name": column.name, "type": type_text(column.data_type)} for column in columns
    ]
    metadata = replace(base.metadata, schema_string=format_schema(after))
    return Transaction(
        base=base,
        operation="ADD COLUMNS",
        parameters={"columns": shown},
        metadata=with_mapping(base.protocol, metadata, before=base.metadata)
        if columns
        else None,
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
        base: What holds now.
        text: The words; None or empty takes them away.
        column: A dotted path for a nested column; None for the table.

    Raises:
        ColumnNotFoundError: If there is no such column.
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
    fields = []
    for field in schema.fields:
        if field.name != path[0]:
            fields.append(field)
        elif len(path) == 1:
            rest = {key: said for key, said in field.metadata.items() if key != COMMENT}
            said = rest if words is None else {**rest, COMMENT: words}
            fields.append(replace(field, metadata=said))
        elif isinstance(field.data_type, StructType):
            inner = _with_comment(field.data_type, path[1:], words)
            fields.append(replace(field, data_type=inner))
    return replace(schema, fields=tuple(fields))


def table_schema(base: Definition) -> StructType:
    """Return the schema of a definition; one that is missing has no column.

    Raises:
        SchemaError: If it does not parse.
    """
    return parse_schema(base.metadata.schema_string or '{"type":"struct","fields":[]}')


# === Constraints ===


def add_constraint(base: Definition, name: str, sql: str, *, root: str) -> Transaction:
    """Return the transaction that adds a CHECK constraint.

    The present rows are to be checked by who calls this, at the version of `base`: rows
    that come meanwhile make the commit a conflict.

    Raises:
        ConstraintNameError: If the name is taken, or none.
        ProtocolUpgradeError: If the protocol does not know of constraints.
    """
    key = constraint_key(name)
    taken = _constraints(base)
    if not name.strip() or key in taken:
        raise ConstraintNameError(name=name, names=[*taken.values()], is_taken=True)
    check_known(base, [CHECK_CONSTRAINTS], root=root)
    configuration = {**base.metadata.configuration, key: sql}
    return Transaction(
        base=base,
        operation="ADD CONSTRAINT",
        parameters={"name": name, "expr": sql},
        read=EVERYTHING_READ,
        metadata=_changed(base, configuration),
    )


def drop_constraint(base: Definition, name: str) -> Transaction:
    """Return the transaction that drops a CHECK constraint.

    Raises:
        ConstraintNameError: If there is none of that name.
    """
    key, there = constraint_key(name), _constraints(base)
    if key not in there:
        raise ConstraintNameError(name=name, names=[*there.values()], is_taken=False)
    configuration = {
        known: sql
        for known, sql in base.metadata.configuration.items()
        if known.lower() != key
    }
    return Transaction(
        base=base,
        operation="DROP CONSTRAINT",
        parameters={"name": name},
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


# === The protocol ===


def upgrade_protocol(
    base: Definition,
    *,
    reader: int | None = None,
    writer: int | None = None,
    root: str,
) -> Transaction:
    """Return the transaction that raises the versions of the protocol.

    A writer version 7 lists the features that the versions before brought.

    Raises:
        ProtocolUpgradeError: If a version would go down, or the two do not go
            together.
        UnsupportedWriteError: When committed, if a version is not written here.
    """
    now = base.protocol
    reader = now.min_reader_version if reader is None else reader
    writer = now.min_writer_version if writer is None else writer
    if reader < now.min_reader_version or writer < now.min_writer_version:
        reason = (
            f"it is at reader {now.min_reader_version} and writer "
            f"{now.min_writer_version}, and versions never go down"
        )
        raise ProtocolUpgradeError(root=root, version=base.version, reason=reason)
    if reader >= FEATURES_READER_VERSION and writer < FEATURES_WRITER_VERSION:
        reason = f"reader version {reader} goes with writer version 7"
        raise ProtocolUpgradeError(root=root, version=base.version, reason=reason)
    protocol = Protocol(
        min_reader_version=reader,
        min_writer_version=writer,
        reader_features=_listed(now, reader),
        writer_features=now.writer_features,
    )
    if writer >= FEATURES_WRITER_VERSION and now.writer_features is None:
        protocol = replace(protocol, writer_features=writer_features(now))
    return Transaction(
        base=base,
        operation="UPGRADE PROTOCOL",
        parameters={
            "newProtocol": {"minReaderVersion": reader, "minWriterVersion": writer}
        },
        protocol=protocol if protocol != now else None,
    )


def _listed(now: Protocol, reader: int) -> Sequence[str] | None:
    """Return the features of readers; from version 3 on those that its number had."""
    if now.reader_features is not None or reader < FEATURES_READER_VERSION:
        return now.reader_features
    return required_features(now)


def _with_features(base: Definition, names: Sequence[str], *, root: str) -> Protocol:
    protocol = base.protocol
    if protocol.writer_features is None:
        reason = (
            f"it lists no features, as {names[0]} asks for: upgrade it to writer "
            "version 7 first"
        )
        raise ProtocolUpgradeError(root=root, version=base.version, reason=reason)
    of_readers = [name for name in names if name in OF_READERS]
    if of_readers and protocol.reader_features is None:
        reason = (
            f"readers have to know {of_readers[0]}, too: upgrade it to reader version 3"
            " first"
        )
        raise ProtocolUpgradeError(root=root, version=base.version, reason=reason)
    known = dict.fromkeys([*protocol.writer_features, *names])
    if of_readers:
        readers = dict.fromkeys([*(protocol.reader_features or ()), *of_readers])
        protocol = replace(protocol, reader_features=[*readers])
    return replace(protocol, writer_features=[*known])


def check_known(base: Definition, features: Iterable[str], *, root: str) -> None:
    """Refuse what a table's protocol does not tell other writers to keep.

    Raises:
        ProtocolUpgradeError: It names the upgrade.
    """
    known = writer_features(base.protocol)
    for feature in features:
        if feature in known:
            continue
        least = next(
            (v for v, names in BY_WRITER_VERSION.items() if feature in names), 7
        )
        listed = base.protocol.writer_features is not None
        reason = (
            f"set delta.feature.{feature} = supported first"
            if listed
            else f"{feature} needs writer version {least}: upgrade it first"
        )
        raise ProtocolUpgradeError(root=root, version=base.version, reason=reason)
