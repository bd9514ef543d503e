"""Column mapping: columns go by physical names, or by ids, where they are stored.

Whether and how is decided once for a version, by its protocol and its metaData. The
answer is the schema itself: `table_schema` gives each field, however deep, the name
that data files, partition values and statistics have for it, and the id where files
are read by ids. Without mapping a schema is what its text says.

Source: delta_protocol.md, "Column Mapping".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.feature import Feature
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import (
    StructField,
    StructType,
    parse_schema,
    with_fields,
)
from deltaweb.delta.protocol.schema.field_keys import FIELD_ID, PHYSICAL_NAME
from deltaweb.environment.bounded_json import parse_json

COLUMN_MAPPING: Final = "columnMapping"
MAPPING_READER_VERSION: Final = 2  # brought it, by its number
MAPPING_MODE: Final = "delta.columnMapping.mode"
NO_MAPPING: Final = "none"
BY_NAME: Final = "name"
BY_ID: Final = "id"
MAX_COLUMN_ID: Final = "delta.columnMapping.maxColumnId"
MAX_FIELD_ID: Final = (1 << 31) - 1  # of 32 bits, and 0 means none


def mapping_mode(configuration: Mapping[str, str]) -> str:
    """Return the column mapping mode of a table, `none` by default."""
    return configuration.get(MAPPING_MODE, NO_MAPPING).lower()


def is_mapped(configuration: Mapping[str, str]) -> bool:
    """Return whether the property names a mapping, whatever the protocol says."""
    return mapping_mode(configuration) != NO_MAPPING


def has_mapped_columns(protocol: Protocol, metadata: Metadata) -> bool:
    """Return whether columns go by physical names.

    The property alone means nothing: the protocol has to know of mapping.
    """
    is_known = (
        COLUMN_MAPPING in (protocol.reader_features or ())
        or protocol.min_reader_version == MAPPING_READER_VERSION
    )
    return is_known and is_mapped(metadata.configuration)


def table_schema(protocol: Protocol, metadata: Metadata) -> StructType:
    """Return the logical schema of a version; it knows what columns are stored as."""
    schema = parse_schema(metadata.schema_string or "")
    if not has_mapped_columns(protocol, metadata):
        return schema
    return mapped_schema(schema, mapping_mode(metadata.configuration))


def mapped_schema(schema: StructType, mode: str) -> StructType:
    """Return a schema that knows what its columns are stored as."""
    if mode not in {BY_NAME, BY_ID}:
        reason = f"the mode of column mapping is {mode[:40]!r}, not 'name' or 'id'"
        raise SchemaError(column="", reason=reason)
    return with_fields(schema, _Mapping(is_by_id=mode == BY_ID).mapped)


@dataclass(slots=True)
class _Mapping:
    """The columns of one schema on their way to being mapped."""

    is_by_id: bool
    ids: dict[int, str] = field(default_factory=dict)
    names: dict[tuple[str, ...], str] = field(default_factory=dict)

    def mapped(self, column: StructField, path: tuple[str, ...]) -> StructField:
        name, field_id = _physical_name(column, path), _field_id(column, path)
        other = self.ids.setdefault(field_id, ".".join(path))
        if other != ".".join(path):
            reason = f"it has the same column mapping id {field_id} as {other!r}"
            raise SchemaError(column=".".join(path), reason=reason)
        # As readers find names in files: ignoring case where they have to.
        other = self.names.setdefault((*path[:-1], name.lower()), column.name)
        if other != column.name:
            reason = f"it has the same physical name {name[:80]!r} as {other!r}"
            raise SchemaError(column=".".join(path), reason=reason)
        used_id = field_id if self.is_by_id else None
        return replace(column, physical_name=name, field_id=used_id)


def _physical_name(column: StructField, path: tuple[str, ...]) -> str:
    name = column.metadata.get(PHYSICAL_NAME)
    if not isinstance(name, str) or not name:
        reason = "columns are mapped, but it has no physical name"
        raise SchemaError(column=".".join(path), reason=reason)
    return name


def _field_id(column: StructField, path: tuple[str, ...]) -> int:
    field_id = column.metadata.get(FIELD_ID)
    if field_id is None:
        reason = "columns are mapped, but it has no column mapping id"
        raise SchemaError(column=".".join(path), reason=reason)
    if type(field_id) is not int or not 0 < field_id <= MAX_FIELD_ID:
        reason = (
            f"its column mapping id {str(field_id)[:40]} is not a whole number from 1"
        )
        raise SchemaError(column=".".join(path), reason=reason)
    return field_id


def physical_names(schema_string: str | None) -> dict[str, str]:
    """Return the physical names of top-level columns, as far as they are there."""
    try:
        fields = parse_json(schema_string or "")["fields"]
        return {
            field["name"]: str(field["metadata"][PHYSICAL_NAME]) for field in fields
        }
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


FEATURE: Final = Feature(COLUMN_MAPPING, is_active=is_mapped, is_written=True)
