"""When a column appeared and changed, by the metadata of the table's versions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from apps.tables.models import MetadataVersion, Table
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    short_type_text,
)

MAX_VERSIONS: Final = 300  # of the metadata, the newest
MAX_LENGTH: Final = 20_000_000  # characters of their schemas that a page reads
_ID: Final = "delta.columnMapping.id"
_MAX_TYPE: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnEvent:
    """What a version made of the column.

    Attributes:
        version: The version.
        kind: "added", "dropped", "type", "nullable", "comment", "renamed" or
            "partition".
        text: The change in words.
    """

    version: int
    kind: str
    text: str

    def describe(self) -> dict[str, object]:
        """Return the event as the JSON form shows it."""
        return {"version": self.version, "kind": self.kind, "text": self.text}


@dataclass(frozen=True, slots=True)
class _Found:
    """The column at one version."""

    names: tuple[str, ...]
    field: StructField
    is_partition: bool


def column_events(
    table: Table, names: tuple[str, ...], *, up_to: int
) -> tuple[ColumnEvent, ...]:
    """Return what the versions up to one made of a column, the newest first.

    A column that is mapped by an id is followed through its renames.
    """
    schemas = _schemas(table, up_to)
    newest = next((schema for _, schema in reversed(schemas) if schema), None)
    known = _find(newest, names, None) if newest else None
    mapped = known[1].metadata.get(_ID) if known else None
    events: list[ColumnEvent] = []
    before: _Found | None = None
    is_first = True
    for row, schema in schemas:
        if schema is None:
            continue
        found = _find(schema, names, mapped)
        now = None
        if found:
            partition = len(found[0]) == 1 and found[0][0] in row.partition_columns
            now = _Found(*found, partition)
        events += _changes(row.version, before, now, is_first=is_first)
        before, is_first = now, False
    return tuple(reversed(events))


def _schemas(
    table: Table, up_to: int
) -> list[tuple[MetadataVersion, StructType | None]]:
    """Return the newest metadata up to a version with their schemas, oldest first.

    As many as a page can read at once; an equal schema is the same one.
    """
    found: list[tuple[MetadataVersion, StructType | None]] = []
    room = MAX_LENGTH
    newest_first = table.metadata_versions.filter(version__lte=up_to)
    rows = newest_first.order_by("-version")[:MAX_VERSIONS]
    for row in rows.iterator(chunk_size=8):
        room -= len(row.schema_string)
        if found and room < 0:
            break
        is_same = found and found[-1][0].schema_string == row.schema_string
        found.append((row, found[-1][1] if is_same else _schema(row)))
    return found[::-1]


def _schema(row: MetadataVersion) -> StructType | None:
    try:
        return row.schema()
    except SchemaError:
        return None


def _changes(
    version: int, before: _Found | None, now: _Found | None, *, is_first: bool
) -> Iterator[ColumnEvent]:
    if before is None and now is None:
        return
    if before is None and now is not None:
        words = _type(now.field)
        text = (
            f"In the first known schema as {words}" if is_first else f"Added as {words}"
        )
        yield ColumnEvent(version=version, kind="added", text=text)
        return
    if before is not None and now is None:
        yield ColumnEvent(version=version, kind="dropped", text="Dropped")
        return
    assert before is not None and now is not None  # noqa: S101, PT018 (for the type checker)
    if before.names != now.names:
        text = f"Renamed from {'.'.join(before.names)} to {'.'.join(now.names)}"
        yield ColumnEvent(version=version, kind="renamed", text=text)
    if before.field.data_type != now.field.data_type:
        text = f"Type changed from {_type(before.field)} to {_type(now.field)}"
        yield ColumnEvent(version=version, kind="type", text=text)
    if before.field.nullable != now.field.nullable:
        text = "May be null now" if now.field.nullable else "Must not be null any more"
        yield ColumnEvent(version=version, kind="nullable", text=text)
    if before.field.metadata.get("comment") != now.field.metadata.get("comment"):
        yield ColumnEvent(version=version, kind="comment", text="Comment changed")
    if before.is_partition != now.is_partition:
        text = (
            "Now a partition column" if now.is_partition else "No partition column now"
        )
        yield ColumnEvent(version=version, kind="partition", text=text)


def _type(field: StructField) -> str:
    return short_type_text(field.data_type, _MAX_TYPE)


def _find(
    schema: StructType, names: tuple[str, ...], mapped: object
) -> tuple[tuple[str, ...], StructField] | None:
    """Find a column by its id where it has one, else by its names."""
    for path, field in _fields(schema, ()):
        if mapped is not None and field.metadata.get(_ID) == mapped:
            return path, field
        if mapped is None and path == names:
            return path, field
    return None


def _fields(
    data_type: DataType, prefix: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], StructField]]:
    match data_type:
        case StructType(fields):
            for field in fields:
                path = (*prefix, field.name)
                yield path, field
                yield from _fields(field.data_type, path)
        case ArrayType(element_type):
            yield from _fields(element_type, prefix)
        case MapType(key_type, value_type):
            yield from _fields(key_type, (*prefix, "key"))
            yield from _fields(value_type, (*prefix, "value"))
