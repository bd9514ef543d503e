"""The columns of a table as its log defines them, built only where they changed."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from deltaweb.delta.changes.column_history.history import Key
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.column_mapping import MAPPING_MODE, is_mapped
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    parse_schema,
    parse_type,
)
from deltaweb.delta.protocol.schema.field_keys import PHYSICAL_NAME
from deltaweb.environment.bounded_json import parse_json


class SchemaDefinition(NamedTuple):
    """The columns from a version on.

    Attributes:
        schema_string: Their JSON as the log writes it; "" where it is not known.
        is_mapped: Whether fields are known by what they are stored as.
    """

    version: int
    schema_string: str
    is_mapped: bool

    @classmethod
    def of(
        cls, version: int, schema_string: str, configuration: object
    ) -> "SchemaDefinition":
        """Return the columns of a metadata action by its table properties."""
        found = configuration if isinstance(configuration, dict) else {}
        mode = found.get(MAPPING_MODE)
        is_mapped_mode = isinstance(mode, str) and is_mapped({MAPPING_MODE: mode})
        return cls(version, schema_string, is_mapped_mode)


class DefinedColumn(NamedTuple):
    """A column of the table and what is in it: each field by its key, in order."""

    raw: object
    fields: dict[Key, tuple[Key, StructField]]  # the key to the names and the field


def defined_columns(
    definition: SchemaDefinition, known: dict[str, DefinedColumn]
) -> dict[str, DefinedColumn]:
    """Return the columns of a definition by name; those known that are as they were."""
    raw_fields = _raw_fields(definition.schema_string)
    changed = [
        raw
        for name, raw in raw_fields.items()
        if name not in known or known[name].raw != raw
    ]
    struct = parse_type({"type": "struct", "fields": changed})
    assert isinstance(struct, StructType)  # noqa: S101 (for the type checker)
    built = {column.name: column for column in struct.fields}
    found: dict[str, DefinedColumn] = {}
    taken: set[Key] = {
        key
        for name in raw_fields
        if name not in built
        for key in list(known[name].fields)[:1]
    }
    for name, raw in raw_fields.items():
        if name not in built:
            found[name] = known[name]
            continue
        fields: dict[Key, tuple[Key, StructField]] = {}
        for key, path, column in _walk(
            built[name], (), (), taken, is_mapped=definition.is_mapped
        ):
            fields[key] = (path, column)
        found[name] = DefinedColumn(raw, fields)
    return found


def _raw_fields(text: str) -> dict[str, Any]:
    try:
        value = parse_json(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and value.get("type") == "struct":
        fields = value.get("fields")
        if isinstance(fields, list):
            names = [raw.get("name") if isinstance(raw, dict) else 0 for raw in fields]
            texts = [name for name in names if isinstance(name, str)]
            if len({name.lower() for name in texts}) == len(fields):
                return dict(zip(texts, fields, strict=True))
    parse_schema(text)
    raise SchemaError(column="", reason="two of its columns have the same name")


def _walk(
    column: StructField, above: Key, names: Key, taken: set[Key], *, is_mapped: bool
) -> Iterator[tuple[Key, Key, StructField]]:
    """Yield a field and those in it: its key, its names and itself."""
    stored = column.metadata.get(PHYSICAL_NAME) if is_mapped else None
    key = (*above, stored if isinstance(stored, str) else column.name)
    if key in taken:  # two fields of one stored name, which contradicts itself
        key = (*above, f"{key[-1]}\0{column.name}")
    taken.add(key)
    path = (*names, column.name)
    yield key, path, column
    for child in _inside(column.data_type):
        yield from _walk(child, key, path, taken, is_mapped=is_mapped)


def _inside(data_type: DataType) -> Iterator[StructField]:
    """Yield the fields right inside a type; those of an array follow the array."""
    match data_type:
        case StructType(fields):
            yield from fields
        case ArrayType(element_type):
            yield from _inside(element_type)
        case MapType(key_type, value_type):
            for name, entry in (("key", key_type), ("value", value_type)):
                if any(True for _ in _inside(entry)):
                    yield StructField(name=name, data_type=entry)


def fields_of(
    columns: dict[str, DefinedColumn],
) -> Iterator[tuple[Key, tuple[Key, StructField]]]:
    """Yield each field of some columns by its key, with its names."""
    for column in columns.values():
        yield from column.fields.items()
