"""The columns of data files: what rows of the table become where they are stored.

Partition columns are in the log alone, and a column without a type in neither. Where
the table maps columns, files know them by their physical names, and each has its id.

Source: delta_protocol.md, "Writer Requirements for Column Mapping".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

import pyarrow as pa

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    arrow_type,
    is_mapped_type,
)
from deltaweb.delta.protocol.schema.field_keys import FIELD_ID

PARQUET_ID: Final = "PARQUET:field_id"


@dataclass(frozen=True, slots=True)
class FileShape:
    """The columns of the data files of a table.

    Attributes:
        plain: The types of their values, by the names of the table.
    """

    names: tuple[str, ...]
    plain: tuple[pa.DataType, ...]
    schema: pa.Schema

    @classmethod
    def of(cls, schema: StructType, partition_columns: Iterable[str]) -> Self:
        apart = frozenset(partition_columns)
        found = [
            (column, stored_type(arrow_type(column.data_type)))
            for column in schema.fields
            if column.name not in apart
        ]
        kept = [(column, kind) for column, kind in found if kind is not None]
        return cls(
            names=tuple(column.name for column, _ in kept),
            plain=tuple(kind for _, kind in kept),
            schema=pa.schema([_physical_field(*one) for one in kept]),
        )

    def __len__(self) -> int:
        return len(self.names)

    def stored(self, rows: pa.Table) -> pa.Table:
        columns = [
            _relabeled(_stored(rows.column(name), kind), field.type)
            for name, kind, field in zip(
                self.names, self.plain, self.schema, strict=True
            )
        ]
        return pa.Table.from_arrays(columns, schema=self.schema)

    def stored_names(self, names: Iterable[str]) -> list[str]:
        """Return what files call some of the columns."""
        by_name = dict(zip(self.names, self.schema.names, strict=True))
        return [by_name[name] for name in names]


def stored_type(kind: pa.DataType) -> pa.DataType | None:
    """Return a type of which any part may be null, as a null above makes it."""
    if pa.types.is_null(kind):
        return None
    if pa.types.is_list(kind):
        inside = stored_type(kind.value_type)
        return inside and pa.list_(pa.field(kind.value_field.name, inside))
    if pa.types.is_map(kind):
        key, item = stored_type(kind.key_type), stored_type(kind.item_type)
        return pa.map_(key, pa.field("value", item)) if key and item else None
    if not pa.types.is_struct(kind):
        return kind
    parts = [(part.name, stored_type(part.type)) for part in kind]
    fields = [pa.field(name, stored) for name, stored in parts if stored is not None]
    return pa.struct(fields) if fields else None


def _stored(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type == kind:
        return column
    chunks = [_stored_array(chunk, kind) for chunk in column.chunks]
    return pa.chunked_array(chunks, kind)


def _stored_array(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.type == kind:
        return array
    if not pa.types.is_struct(kind):
        return array.cast(kind)
    found = dict(zip([f.name for f in array.type], array.flatten(), strict=True))
    parts = [_stored_array(found[part.name], part.type) for part in kind]
    return pa.StructArray.from_arrays(parts, fields=list(kind), mask=array.is_null())


# === Other names ===


def _physical_field(column: StructField, kind: pa.DataType) -> pa.Field:
    """Return a column of files; `kind` is what is stored of its type."""
    stored = _physical(column.data_type, kind)
    field_id = column.metadata.get(FIELD_ID) if column.physical_name else None
    metadata = None if field_id is None else {PARQUET_ID: str(field_id)}
    return pa.field(column.stored_name, stored, metadata=metadata)


def _physical(data_type: DataType, kind: pa.DataType) -> pa.DataType:
    if not is_mapped_type(data_type):
        return kind
    match data_type:
        case StructType():
            by_name = {column.name: column for column in data_type.fields}
            return pa.struct(
                [_physical_field(by_name[part.name], part.type) for part in kind]
            )
        case ArrayType(element):
            inside = _physical(element, kind.value_type)
            return pa.list_(pa.field(kind.value_field.name, inside))
        case MapType(key, value):
            return pa.map_(
                _physical(key, kind.key_type),
                pa.field("value", _physical(value, kind.item_type)),
            )
        case _:
            return kind


def _relabeled(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return a column whose parts have other names; values stay where they are."""
    if column.type == kind:
        return column
    return pa.chunked_array([_relabeled_array(c, kind) for c in column.chunks], kind)


def _relabeled_array(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.type == kind:
        return array
    if pa.types.is_struct(kind):
        parts = [
            _relabeled_array(array.field(place), part.type)
            for place, part in enumerate(kind)
        ]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=mask)
    if array.offset:
        array = pa.concat_arrays([array.slice(0, 0), array])
    validity, offsets = array.buffers()[:2]
    if pa.types.is_map(kind):
        entries = pa.struct([kind.key_field, kind.item_field])
        parts = [
            _relabeled_array(array.keys, kind.key_type),
            _relabeled_array(array.items, kind.item_type),
        ]
        inside = pa.StructArray.from_arrays(parts, fields=list(entries))
    else:
        inside = _relabeled_array(array.values, kind.value_type)
    return pa.Array.from_buffers(
        kind, len(array), [validity, offsets], array.null_count, children=[inside]
    )
