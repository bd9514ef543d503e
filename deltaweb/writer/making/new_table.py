"""A table is made: version 0, and nothing else.

Source: delta_protocol.md, "Actions" and "Protocol Evolution".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

import pyarrow as pa

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.identity_columns import identity_columns
from deltaweb.delta.features.row_tracking import with_row_id_columns
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.column_path import column_field
from deltaweb.delta.protocol.schema import (
    DataType,
    StructType,
    format_schema,
    parse_schema,
    parts_of,
    schema_of_arrow,
)
from deltaweb.delta.protocol.schema.field_keys import DEFAULT, GENERATION
from deltaweb.delta.protocol.table_properties import CONSTRAINT_PREFIX
from deltaweb.delta.values.partition_values import partition_schema
from deltaweb.delta.writing.authorship import now_ms
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.operations.mapped_columns import with_mapping
from deltaweb.delta.writing.operations.new_protocol import new_protocol
from deltaweb.delta.writing.operations.properties import (
    check_properties,
    check_statistics_columns,
    split_features,
)
from deltaweb.delta.writing.transaction import CommitResult, Transaction
from deltaweb.writer.files.data_files import FileLayout
from deltaweb.writer.making.free_place import check_empty
from deltaweb.writer.rows.row_checks import RowChecks

CORRECT: Final = "Correct the definition of the table; nothing was made."
NAME: Final = "Give it a name in the definition of the table; nothing was made."
RENAME: Final = "Rename one of them in the definition of the table; nothing was made."


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTable:
    """What a new table is to be."""

    schema: StructType | pa.Schema
    partition_by: Sequence[str] = ()
    name: str | None = None
    description: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


def create_table(store: TableStore, new: NewTable) -> CommitResult:
    """Make a table where nothing is."""
    return commit(store, plan_table(store, new))


def plan_table(store: TableStore, new: NewTable) -> Transaction:
    """Return the first commit of a table; nothing is written."""
    metadata, protocol = new_definition(new)
    check_empty(store)
    return Transaction(
        base=None,
        operation="CREATE TABLE",
        parameters=creation_parameters(metadata, new),
        metadata=metadata,
        protocol=protocol,
    )


def creation_parameters(metadata: Metadata, new: NewTable) -> dict[str, object]:
    return {
        "isManaged": "false",
        "description": new.description or "",
        "partitionBy": [*metadata.partition_columns],
        "properties": dict(new.properties),
    }


def new_definition(
    new: NewTable, *, is_evaluated_here: bool = True
) -> tuple[Metadata, Protocol]:
    """Return what holds of a new table.

    Args:
        is_evaluated_here: Whether rows are checked in process; if another engine
            does, no constraint is refused.
    """
    try:
        return _definition(new, is_evaluated_here=is_evaluated_here)
    except SchemaError as error:
        if error.hint == SchemaError.hint:  # of tables that are there
            raise SchemaError(
                column=error.column, reason=error.reason, hint=CORRECT
            ) from None
        raise


def _definition(new: NewTable, *, is_evaluated_here: bool) -> tuple[Metadata, Protocol]:
    schema = new.schema
    if isinstance(schema, pa.Schema):
        schema = schema_of_arrow(schema)
    _check_names(schema)
    schema = parse_schema(format_schema(schema))  # as strict as readers are
    features, properties = split_features(new.properties)
    check_properties(
        {
            name: value
            for name, value in properties.items()
            if not name.startswith(CONSTRAINT_PREFIX)
        }
    )
    partitions = _partitions(schema, new.partition_by)
    _check_identity(schema, partitions)
    metadata = Metadata(
        id=str(uuid4()),
        name=new.name,
        description=new.description,
        schema_string=format_schema(schema),
        partition_columns=partitions,
        configuration=properties,
        created_time=now_ms(),
    )
    check_statistics_columns(metadata, properties)
    protocol = new_protocol(schema, properties, features)
    metadata = with_row_id_columns(with_mapping(protocol, metadata))
    FileLayout.of_table(protocol, metadata)
    if is_evaluated_here:
        RowChecks(metadata, schema)
    return metadata, protocol


def _check_names(struct: StructType, above: str = "") -> None:
    """Refuse columns that could not be told apart, or not be named."""
    seen: set[str] = set()
    for place, column in enumerate(struct.fields, start=1):
        path = f"{above}{column.name}"
        if not column.name.strip():
            reason = f"column {place} of {above[:-1] or 'the table'} has no name"
            raise SchemaError(column=path.strip(". "), reason=reason, hint=NAME)
        if column.name.lower() in seen:
            reason = "another column has the same name (upper and lower case are one)"
            raise SchemaError(column=path, reason=reason, hint=RENAME)
        seen.add(column.name.lower())
        for inside, kind in _structs(column.data_type, path):
            _check_names(kind, f"{inside}.")


def _structs(data_type: DataType, path: str) -> Iterator[tuple[str, StructType]]:
    if isinstance(data_type, StructType):
        yield path, data_type
        return
    for part in parts_of(data_type):
        yield from _structs(part.data_type, f"{path}.{part.name}")


def _partitions(schema: StructType, names: Sequence[str]) -> list[str]:
    found = [column_field(schema, (name,)).name for name in names]
    if len(set(found)) < len(found):
        reason = "a partition column is named twice"
        raise SchemaError(column="", reason=reason)
    partition_schema(schema, found)
    return found


def _check_identity(schema: StructType, partitions: Sequence[str]) -> None:
    names = {column.name for column in identity_columns(schema)}
    for column in schema.fields:
        if column.name not in names:
            continue
        if column.name in partitions:
            reason = "an identity column cannot be a partition column"
            raise SchemaError(column=column.name, reason=reason)
        if GENERATION in column.metadata or DEFAULT in column.metadata:
            reason = "an identity column has no default and is not generated"
            raise SchemaError(column=column.name, reason=reason)
