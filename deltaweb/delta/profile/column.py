"""One column of a version, as both engines read it to describe its values."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.column_path import ColumnPath, column_field, resolve_column
from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    StructType,
    arrow_type,
    check_read,
)
from deltaweb.delta.scan.data_file import OpenFile
from deltaweb.delta.scan.rows import RowSource, iter_rows

TEXT_LENGTH: Final = 256  # characters; a digest distinguishes longer ones


@dataclass(frozen=True, slots=True)
class ProfiledColumn:
    """The column as it is read.

    Attributes:
        schema_of_table: The column at the top that it lies in.
        kind: What of it is added up: "integer", "double", "decimal", "text", "boolean",
            "date", "timestamp", "binary", or "presence" where values have no order.
    """

    schema_of_table: StructType
    partition_columns: tuple[str, ...]
    path: ColumnPath
    data_type: DataType
    kind: str

    @classmethod
    def of(
        cls, schema: StructType, partition_columns: Sequence[str], column: ColumnPath
    ) -> "ProfiledColumn":
        path = resolve_column(schema, column)
        data_type = column_field(schema, path).data_type
        check_read(column_field(schema, path[:1]))
        top = schema.select((path[0],))
        partitions = tuple(name for name in partition_columns if name == path[0])
        return cls(top, partitions, path, data_type, _kind(data_type))

    def read(self, files: pa.Table, open_file: OpenFile) -> Iterator[pa.RecordBatch]:
        """Yield the column's values of some files, as `schema` has them."""
        source = RowSource(
            schema=self.schema_of_table,
            partition_columns=self.partition_columns,
            files=files,
            open_file=open_file,
        )
        for batch in iter_rows(source):
            yield _values_of(self, batch.column(0))

    @property
    def schema(self) -> pa.Schema:
        """The value of a row, and of text and binary its length.

        Long texts and binaries are cut, times are counts of days or microseconds.
        """
        value: pa.DataType = {
            "double": pa.float64(),
            "text": pa.string(),
            "binary": pa.string(),
            "boolean": pa.bool_(),
            "presence": pa.bool_(),
        }.get(self.kind, pa.int64())
        if isinstance(self.data_type, DecimalType):
            value = arrow_type(self.data_type)
        return pa.schema([("value", value), ("length", pa.int64())])


def _kind(data_type: DataType) -> str:
    if isinstance(data_type, DecimalType):
        return "decimal"
    if not isinstance(data_type, PrimitiveType):
        return "presence"
    return {
        **dict.fromkeys(("long", "integer", "short", "byte"), "integer"),
        **dict.fromkeys(("float", "double"), "double"),
        **dict.fromkeys(("timestamp", "timestamp_ntz"), "timestamp"),
        **dict.fromkeys(("string", "variant"), "text"),
        "void": "presence",
    }.get(data_type.name, data_type.name)


def _values_of(column: ProfiledColumn, values: pa.Array) -> pa.RecordBatch:
    for name in column.path[1:]:
        values = pc.struct_field(values, [values.type.get_field_index(name)])
    length = pa.nulls(len(values), pa.int64())
    match column.kind:
        case "integer" | "timestamp":
            values = values.cast(pa.int64())
        case "date":
            values = values.cast(pa.int32()).cast(pa.int64())
        case "double":
            values = values.cast(pa.float64())
        case "text":
            length = pc.utf8_length(values).cast(pa.int64())
            values = _short_texts(values, length)
        case "binary":
            length = pc.binary_length(values).cast(pa.int64())
            values = pa.array(map(_short_hex, values.to_pylist()), pa.string())
        case "presence":
            present = pc.is_valid(values)
            values = pc.if_else(present, present, pa.scalar(None, pa.bool_()))
    return pa.RecordBatch.from_arrays([values, length], schema=column.schema)


def _short_texts(values: pa.Array, lengths: pa.Array) -> pa.Array:
    """Cut long texts; a digest of the whole keeps different ones apart."""
    if (pc.max(lengths).as_py() or 0) <= TEXT_LENGTH:
        return values
    texts = (
        text if text is None or len(text) <= TEXT_LENGTH else _cut(text, text.encode())
        for text in values.to_pylist()
    )
    return pa.array(texts, pa.string())


def _short_hex(value: bytes | None) -> str | None:
    if value is None or 2 * len(value) <= TEXT_LENGTH:
        return None if value is None else value.hex()
    return _cut(value[:TEXT_LENGTH].hex(), value)


def _cut(text: str, whole: bytes) -> str:
    digest = hashlib.blake2b(whole, digest_size=8).hexdigest()
    return f"{text[: TEXT_LENGTH - 20]}… #{digest}"
