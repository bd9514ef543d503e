"""Ids and physical names for the columns of tables that map columns.

A column keeps both for good, whatever it is called. Ids only go up: the highest one
that was ever given is a property of the table.

Source: delta_protocol.md, "Writer Requirements for Column Mapping".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from uuid import uuid4

from deltaweb.delta.errors import PropertyError
from deltaweb.delta.features.column_mapping import (
    BY_NAME,
    MAPPING_MODE,
    MAX_COLUMN_ID,
    MAX_FIELD_ID,
    has_mapped_columns,
    mapping_mode,
)
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import (
    StructField,
    StructType,
    all_fields,
    arrow_type,
    format_schema,
    parse_schema,
    with_fields,
)
from deltaweb.delta.protocol.schema.field_keys import FIELD_ID, PHYSICAL_NAME

MAPPING: Final = (FIELD_ID, PHYSICAL_NAME)


def with_mapping(
    protocol: Protocol, metadata: Metadata, *, before: Metadata | None = None
) -> Metadata:
    """Return metaData whose columns all have an id and a physical name.

    Args:
        before: What held; columns of a table that did not map any are stored under
            their names, so these stay. None for a new table.
    """
    if not has_mapped_columns(protocol, metadata):
        return metadata
    schema = parse_schema(metadata.schema_string or "")
    is_turned_on = before is not None and not has_mapped_columns(protocol, before)
    highest = max(highest_id(metadata), highest_id(before) if before else 0)
    ids = (column.metadata.get(FIELD_ID) for column in all_fields(schema))
    highest = max([highest, *(id_ for id_ in ids if type(id_) is int)])
    mapping = _NewMapping(highest, _same_name if is_turned_on else _new_name)
    mapped = with_fields(schema, mapping.mapped)
    given = {MAX_COLUMN_ID: str(mapping.highest)}
    return replace(
        metadata,
        schema_string=format_schema(mapped),
        configuration={**metadata.configuration, **given},
    )


def with_known_mapping(schema: StructType, before: StructType) -> StructType:
    """Return a schema that takes the place of another: columns that stay keep theirs.

    A column stays that has its name and type.
    """
    fields = []
    for column in schema.fields:
        old = before.find(column.name)
        if old is None or not _is_same(old, column):
            fields.append(column)
            continue
        kept = {key: old.metadata[key] for key in MAPPING if key in old.metadata}
        metadata = {**column.metadata, **kept}
        fields.append(replace(column, data_type=old.data_type, metadata=metadata))
    return replace(schema, fields=tuple(fields))


def _is_same(old: StructField, new: StructField) -> bool:
    is_called_so = old.name == new.name
    return is_called_so and arrow_type(old.data_type) == arrow_type(new.data_type)


def check_mode(before: Metadata, after: Metadata) -> None:
    """Refuse a change of the mode that would lose what files are read by."""
    old, new = (mapping_mode(metadata.configuration) for metadata in (before, after))
    if old == new or (old == "none" and new == BY_NAME):
        return
    expected = f"{BY_NAME} or none for a table that has none, and no other change"
    if old != "none":
        expected = f"{old}, which a table that maps columns keeps"
    raise PropertyError(name=MAPPING_MODE, value=new, expected=expected)


def highest_id(metadata: Metadata) -> int:
    """Return the highest id that was given, as the table has it; 0 for none."""
    text = metadata.configuration.get(MAX_COLUMN_ID, "")
    is_id = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_FIELD_ID))
    return int(text) if is_id else 0


def _new_name(_: StructField) -> str:
    return f"col-{uuid4()}"


def _same_name(column: StructField) -> str:
    return column.name


@dataclass(slots=True)
class _NewMapping:
    """The mapping of one schema on its way.

    Attributes:
        name: Gives a physical name to a column without.
    """

    highest: int
    name: Callable[[StructField], str]

    def mapped(self, column: StructField, _path: tuple[str, ...]) -> StructField:
        said = dict(column.metadata)
        if FIELD_ID not in said:
            self.highest += 1
            said[FIELD_ID] = self.highest
        said.setdefault(PHYSICAL_NAME, self.name(column))
        return replace(column, metadata=said)
