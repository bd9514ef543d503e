"""The columns of versions with field ids, and the names that data files have for them.

A column's id is that of its column mapping, where there is one. Any other is a number
made of the column's path, so that all versions, and all servers, agree on it without
remembering anything. Paths are those of stored names: a column that is renamed keeps
its id.

Source: Iceberg specification, "Schemas" and "Column Projection".
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, Final, TypeAlias

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    parse_type,
    type_text,
)
from deltaweb.delta.protocol.schema.field_keys import FIELD_ID, NESTED_IDS, TYPE_CHANGES
from deltaweb.iceberg.errors import InexpressibleError

StoredPath: TypeAlias = tuple[str, ...]
"""Stored names from the top; parts of arrays and maps begin with a NUL."""

ELEMENT, KEY, VALUE = "\0element", "\0key", "\0value"
FIRST_MADE_ID: Final = 1 << 24  # above those of column mapping
MADE_IDS: Final = 1 << 30
FIRST_PARTITION_ID: Final = 1000
TYPES: Final[Mapping[str, str]] = {
    "byte": "int",
    "short": "int",
    "integer": "int",
    "long": "long",
    "float": "float",
    "double": "double",
    "boolean": "boolean",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamptz",
    "timestamp_ntz": "timestamp",
}
PLAIN: Final = (PrimitiveType, DecimalType)
WIDENED: Final = {("int", "long"), ("float", "double"), ("int", "int")}
"""Changes of a type that readers of Iceberg make as well."""
BESIDE: Final = ("_change_type", "_commit_version", "_commit_timestamp", "__is_cdc")
BESIDE_BY_PROPERTY: Final = (
    "delta.rowTracking.materializedRowIdColumnName",
    "delta.rowTracking.materializedRowCommitVersionColumnName",
)
"""Columns of files that are none of the table: a reader that finds one without an id
fails, or takes the others for nulls."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of one version as its log has them."""

    schema: StructType
    partition_columns: tuple[str, ...]
    configuration: Mapping[str, str] = field(default_factory=dict)


class FieldIds:
    """The ids of the columns of some versions.

    Args:
        versions: The columns of each; where two of them map a column, the first counts.
    """

    def __init__(self, versions: Sequence[TableColumns]) -> None:
        self._ids: dict[StoredPath, int] = {}
        walks = [list(_walk(columns.schema, (), {})) for columns in versions]
        for walk in walks:
            for path, mapped in walk:
                if mapped is not None:
                    self._ids.setdefault(path, mapped)
        self._taken = set(self._ids.values())
        is_by_id = any(
            column.field_id is not None
            for columns in versions
            for column in columns.schema.fields
        )
        self._read_by_id = {n: path for path, n in self._ids.items() if is_by_id}
        for walk in walks:
            for path, _ in walk:
                self._make(path)
        for columns in versions:
            for name in beside_columns(columns.configuration):
                self._make((name,))

    def __getitem__(self, path: StoredPath) -> int:
        return self._ids[path]

    def __contains__(self, path: StoredPath) -> bool:
        return path in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def num_lists(self) -> int:
        """The count of lists and maps among the columns and what nests in them."""
        return sum(path[-1] in {ELEMENT, KEY} for path in self._ids)

    def find(self, path: StoredPath) -> StoredPath | None:
        """Return the path of a column that a file has, exactly or else in any case."""
        if path in self._ids:
            return path
        return self._in_any_case.get(_folded(path))

    def mapped(self, above: StoredPath, field_id: int | None) -> StoredPath | None:
        """Return the column below a path that files hold under an id.

        Only tables that map columns by id have such columns.
        """
        path = None if field_id is None else self._read_by_id.get(field_id)
        return path if path is not None and path[:-1] == above else None

    def unused(self) -> Iterator[int]:
        """Yield ids that no column has, for columns that no version has."""
        return (made for made in count(FIRST_MADE_ID) if made not in self._taken)

    @cached_property
    def digest(self) -> str:
        """What distinguishes them from the ids of other versions."""
        return hashlib.sha256(repr(sorted(self._ids.items())).encode()).hexdigest()[:16]

    @cached_property
    def _in_any_case(self) -> dict[StoredPath, StoredPath]:
        return {_folded(path): path for path in reversed(self._ids)}

    @property
    def largest(self) -> int:
        return max(self._taken, default=0)

    def _make(self, path: StoredPath) -> None:
        if path in self._ids:
            return
        number = _made_number(path)
        while (made := FIRST_MADE_ID + number) in self._taken:
            number = (number + 1) % MADE_IDS
        self._ids[path] = made
        self._taken.add(made)


def _made_number(path: StoredPath) -> int:
    text = "\x01".join(path).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:8]) % MADE_IDS


def _folded(path: StoredPath) -> StoredPath:
    return tuple(name.lower() for name in path)


def _walk(
    data_type: DataType, path: StoredPath, nested: Mapping[str, Any]
) -> Iterator[tuple[StoredPath, int | None]]:
    """Yield the path of every field in a type, and the id that its mapping has."""
    match data_type:
        case StructType(fields):
            for column in fields:
                own = (*path, column.stored_name)
                known = column.metadata.get(FIELD_ID) if column.physical_name else None
                yield own, known
                inside = column.metadata.get(NESTED_IDS)
                ids = inside if isinstance(inside, Mapping) else {}
                yield from _walk(column.data_type, own, ids)
        case ArrayType(element_type):
            yield from _part(element_type, path, ELEMENT, nested)
        case MapType(key_type, value_type):
            yield from _part(key_type, path, KEY, nested)
            yield from _part(value_type, path, VALUE, nested)


def _part(
    data_type: DataType, path: StoredPath, part: str, nested: Mapping[str, Any]
) -> Iterator[tuple[StoredPath, int | None]]:
    own = (*path, part)
    # As the mapping writes it: from the nearest column on, with dots.
    first = max(i for i, name in enumerate(path) if not name.startswith("\0"))
    known = nested.get(".".join(name.lstrip("\0") for name in own[first:]))
    yield own, known if type(known) is int and known > 0 else None
    yield from _walk(data_type, own, nested)


def beside_columns(configuration: Mapping[str, str]) -> list[str]:
    """Return the names of columns that files may have beside those of the schema."""
    named = [configuration.get(name) for name in BESIDE_BY_PROPERTY]
    return [*BESIDE, *(name for name in named if name)]


# === The schema of a version ===


def schema_json(columns: TableColumns, ids: FieldIds) -> dict[str, Any]:
    """Return the schema of a version as Iceberg writes it, without its number."""
    return _Schema(ids, set()).struct(columns.schema, (), "")


@dataclass(slots=True)
class _Schema:
    ids: FieldIds
    names: set[str]

    def struct(
        self, struct: StructType, path: StoredPath, prefix: str
    ) -> dict[str, Any]:
        return {
            "type": "struct",
            "fields": [self._field(column, path, prefix) for column in struct.fields],
        }

    def _field(
        self, column: StructField, path: StoredPath, prefix: str
    ) -> dict[str, Any]:
        name, own = f"{prefix}{column.name}", (*path, column.stored_name)
        self._note(name)
        _check_changes(column, name)
        made = {
            "id": self.ids[own],
            "name": column.name,
            # Files may leave out any column, and readers refuse one that is required.
            "required": False,
            "type": self._type(column.data_type, own, name),
        }
        comment = column.metadata.get("comment")
        return {**made, "doc": comment} if isinstance(comment, str) else made

    def _type(self, data_type: DataType, path: StoredPath, name: str) -> Any:  # noqa: ANN401 (a text or an object)
        match data_type:
            case StructType():
                return self.struct(data_type, path, f"{name}.")
            case ArrayType(element_type):
                self._note(f"{name}.element")
                own = (*path, ELEMENT)
                return {
                    "type": "list",
                    "element-id": self.ids[own],
                    "element": self._type(element_type, own, f"{name}.element"),
                    "element-required": False,
                }
            case MapType(key_type, value_type):
                self._note(f"{name}.key")
                self._note(f"{name}.value")
                key, value = (*path, KEY), (*path, VALUE)
                return {
                    "type": "map",
                    "key-id": self.ids[key],
                    "key": self._type(key_type, key, f"{name}.key"),
                    "value-id": self.ids[value],
                    "value": self._type(value_type, value, f"{name}.value"),
                    "value-required": False,
                }
            case _:
                return primitive_text(data_type, column=name)

    def _note(self, name: str) -> None:
        if name in self.names:
            raise InexpressibleError(reason=f"two columns are called {name[:80]!r}")
        self.names.add(name)


def primitive_text(data_type: DataType, *, column: str) -> str:
    """Return how Iceberg spells a type without parts."""
    if isinstance(data_type, DecimalType):
        return f"decimal({data_type.precision}, {data_type.scale})"
    if isinstance(data_type, PrimitiveType) and data_type.name in TYPES:
        return TYPES[data_type.name]
    reason = f"column {column[:80]!r} is of type {type_text(data_type)[:80]}"
    raise InexpressibleError(reason=reason)


def _check_changes(column: StructField, name: str) -> None:
    """Refuse a column whose older files readers of Iceberg would not widen."""
    changes = column.metadata.get(TYPE_CHANGES)
    for change in changes if isinstance(changes, list) else ():
        if not (isinstance(change, dict) and {"fromType", "toType"} <= change.keys()):
            raise InexpressibleError(reason=f"no type that {name[:80]!r} had is named")
        narrow, wide = parse_type(change["fromType"]), parse_type(change["toType"])
        if isinstance(narrow, DecimalType) and isinstance(wide, DecimalType):
            is_known = narrow.scale == wide.scale
        else:
            spelled = [primitive_text(one, column=name) for one in (narrow, wide)]
            is_known = tuple(spelled) in WIDENED
        if not is_known:
            reason = (
                f"column {name[:80]!r} was widened from {type_text(narrow)} to "
                f"{type_text(wide)}"
            )
            raise InexpressibleError(reason=reason)


# === Names in files ===


def name_mapping(versions: Sequence[TableColumns], ids: FieldIds) -> list[Any]:
    """Return which id each name in a data file means, for files that have no ids.

    Columns of all versions are in it, also of those that the newest no longer has, and
    those that lie beside the table's own.
    """
    top: dict[str, Any] = {}
    for columns in versions:
        _map_struct(columns.schema, (), top, ids)
        for name in beside_columns(columns.configuration):
            top.setdefault(name, {"field-id": ids[(name,)], "names": [name]})
    return [_listed(entry) for entry in top.values()]


def _map_struct(
    struct: StructType, path: StoredPath, into: dict[str, Any], ids: FieldIds
) -> None:
    for column in struct.fields:
        own = (*path, column.stored_name)
        _map_part(column.data_type, own, column.stored_name, into, ids)


def _map_part(
    data_type: DataType,
    path: StoredPath,
    name: str,
    into: dict[str, Any],
    ids: FieldIds,
) -> None:
    entry = into.setdefault(name, {"field-id": ids[path], "names": [name]})
    match data_type:
        case StructType():
            _map_struct(data_type, path, entry.setdefault("fields", {}), ids)
        case ArrayType(element_type):
            inside = entry.setdefault("fields", {})
            _map_part(element_type, (*path, ELEMENT), "element", inside, ids)
        case MapType(key_type, value_type):
            inside = entry.setdefault("fields", {})
            _map_part(key_type, (*path, KEY), "key", inside, ids)
            _map_part(value_type, (*path, VALUE), "value", inside, ids)


def _listed(entry: dict[str, Any]) -> dict[str, Any]:
    if "fields" not in entry:
        return entry
    return {**entry, "fields": [_listed(one) for one in entry["fields"].values()]}


# === Partitions ===


@dataclass(frozen=True, slots=True)
class PartitionField:
    """A column that a version is partitioned by.

    Attributes:
        name: Its name: of letters that Avro takes, since readers end at any other.
    """

    column: StructField
    source_id: int
    field_id: int
    name: str


def partition_fields(columns: TableColumns, ids: FieldIds) -> list[PartitionField]:
    """Return what a version is partitioned by, in order."""
    taken = {name.lower() for name in columns.schema.names}
    fields = []
    for place, name in enumerate(columns.partition_columns):
        column = columns.schema.find(name)
        if column is None or not isinstance(column.data_type, PLAIN):
            reason = f"it is partitioned by {name[:80]!r}, which is not a plain column"
            raise InexpressibleError(reason=reason)
        called = name
        if _PLAIN_NAME.fullmatch(name) is None:
            called = f"partition_{place}"
            while called in taken:
                called += "_"
        fields.append(
            PartitionField(
                column, ids[(column.stored_name,)], FIRST_PARTITION_ID + place, called
            )
        )
    return fields


def spec_json(fields: Sequence[PartitionField]) -> list[dict[str, Any]]:
    return [
        {
            "source-id": one.source_id,
            "field-id": one.field_id,
            "name": one.name,
            "transform": "identity",
        }
        for one in fields
    ]
