"""Partition values: text in the log, typed columns to everyone else.

An empty text is null for every type, and so is a column that the map leaves out.
`__HIVE_DEFAULT_PARTITION__` means null in folder names alone: as a value it is text.
Folder names are never looked at.

Source: PROTOCOL.md, "Partition Value Serialization".
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import PartitionValueError, SchemaError
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
    type_text,
)
from deltaweb.delta.values.value_text import (
    Value,
    arrow_array,
    parse_timestamp,
    parse_value,
)

PartitionKey: TypeAlias = tuple[str | None, ...]
"""The serialised values of the partition columns, in their order."""
_PARSED_BY_ARROW = {
    "byte": r"^-?[0-9]{1,3}$",
    "short": r"^-?[0-9]{1,5}$",
    "integer": r"^-?[0-9]{1,10}$",
    "long": r"^-?[0-9]{1,19}$",
    "date": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
}
"""Types that Arrow reads exactly when every text is of this plain form."""
_LATE_YEAR = re.compile(r"[0-9]{5}")
"""Of more than four digits: ISO 8601 gives it a sign, and so does Spark."""


def partition_schema(
    schema: StructType, partition_columns: Sequence[str]
) -> StructType:
    """The partition columns with their types, in the order of `partition_columns`."""
    return StructType(
        tuple(_partition_field(schema, name) for name in partition_columns)
    )


def _partition_field(schema: StructType, name: str) -> StructField:
    column = schema.find(name)
    if column is None or column.name != name:
        reason = "the table is partitioned by it, but the schema does not have it"
        raise SchemaError(column=name, reason=reason)
    if isinstance(column.data_type, StructType | ArrayType | MapType):
        raise SchemaError(column=name, reason="a nested column cannot be a partition")
    # Whatever the schema says, a log may leave the value out.
    return replace(column, nullable=True)


def type_partition_values(
    partition_values: pa.ChunkedArray, columns: StructType, paths: pa.ChunkedArray
) -> pa.ChunkedArray:
    """Type the partition values of files.

    Args:
        partition_values: map<string, string>, a row a file, as the log has them.
        paths: The files' paths, row for row; an error names the file.

    Returns:
        A struct column, row for row, with a field a partition column.
    """
    typed = [
        type_partition_column(partition_values, column, paths).combine_chunks()
        for column in columns.fields
    ]
    fields = list(arrow_schema(columns))
    if typed:
        return pa.chunked_array([pa.StructArray.from_arrays(typed, fields=fields)])
    empty = pa.struct([])
    buffers: list[pa.Buffer | None] = [None]
    rows = pa.StructArray.from_buffers(empty, len(partition_values), buffers)
    return pa.chunked_array([rows], empty)


def type_partition_column(
    partition_values: pa.ChunkedArray, column: StructField, paths: pa.ChunkedArray
) -> pa.ChunkedArray:
    """Type the values of one partition column, row for row with the files."""
    texts = pc.map_lookup(
        partition_values, query_key=column.stored_name, occurrence="last"
    )
    encoded = texts.combine_chunks().dictionary_encode()
    try:
        values = type_partition_texts(encoded.dictionary, column.data_type)
    except _BadTextError as error:
        position = pc.index(texts, error.text).as_py()
        raise PartitionValueError(
            path=paths[position].as_py(),
            column=column.name,
            value=error.text,
            type_name=type_text(column.data_type),
        ) from None
    return pa.chunked_array([values.take(encoded.indices)], values.type)


class _BadTextError(ValueError):
    """A text that is no value of its type."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def type_partition_texts(texts: pa.Array, data_type: DataType) -> pa.Array:
    """Type texts of partition values; empty ones are null."""
    texts = pc.if_else(pc.equal(texts, ""), None, texts)
    name = data_type.name if isinstance(data_type, PrimitiveType) else ""
    if name == "string":
        return texts
    plain = _PARSED_BY_ARROW.get(name)
    target = arrow_array([], data_type).type
    if plain and pc.all(pc.match_substring_regex(texts, plain)).as_py() is not False:
        try:
            return texts.cast(target)
        except pa.ArrowInvalid:
            pass  # out of range: the exact parser finds out which
    values = [
        None if text is None else _parsed(text, data_type) for text in texts.to_pylist()
    ]
    return arrow_array(values, data_type)


def _parsed(text: str, data_type: DataType) -> Value:
    try:
        return parse_value(text, data_type)
    except ValueError:
        raise _BadTextError(text) from None


# === Values to text ===


def partition_texts(values: pa.Array) -> list[str | None]:
    """Write values of a partition column as the log has them.

    An instant says that it is in UTC: without that, Spark takes it for a time of its
    session's zone. An empty text, or none, is null. Bytes that are a text are that
    text; others are written as escapes, which `type_partition_texts` reads.
    """
    if pa.types.is_timestamp(values.type):
        return _instants(values) if values.type.tz else _times(values)
    if pa.types.is_date32(values.type):
        return _iso_texts(values, "D")
    if pa.types.is_floating(values.type):
        numbers = values.to_numpy(zero_copy_only=False)
        nulls = values.is_null().to_pylist()
        return [
            None if is_null else _float_text(number)
            for number, is_null in zip(numbers, nulls, strict=True)
        ]
    return [
        None if value is None else _text(value) or None for value in values.to_pylist()
    ]


def _text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case bytes():
            return _binary_text(value)
        case Decimal():
            return f"{value:f}"
        case _:
            return str(value)


def _binary_text(value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = ""
    if text and parse_value(text, PrimitiveType("binary")) == value:
        return text
    return "".join(f"\\u{byte:04x}" for byte in value)


def _float_text(number: np.floating[Any]) -> str:
    if np.isnan(number):
        return "NaN"
    if np.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return str(number)


def _times(values: pa.Array) -> list[str | None]:
    return [
        text and text.replace("T", " ").removesuffix(".000000")
        for text in _iso_texts(values, "us")
    ]


def _instants(values: pa.Array) -> list[str | None]:
    return [
        text and f"{'+' if _LATE_YEAR.match(text) else ''}{text}Z"
        for text in _iso_texts(values, "us")
    ]


def _iso_texts(values: pa.Array, unit: str) -> list[str | None]:
    """Write dates and times of any year."""
    ticks = values.cast(pa.int32() if unit == "D" else pa.int64())
    numbers = ticks.fill_null(0).to_numpy().astype(f"datetime64[{unit}]")
    texts = np.datetime_as_string(numbers).tolist()
    is_null = values.is_null().to_pylist()
    return [None if null else text for text, null in zip(texts, is_null, strict=True)]


def utc_partition_text(text: str) -> str:
    """Write the text of an instant in the form that says that it is in UTC.

    Args:
        text: In either form of the protocol; without a zone it is in UTC.
    """
    instant = arrow_array([parse_timestamp(text)], PrimitiveType("timestamp"))
    return str(_instants(instant)[0])


# === Values that are one, whatever their texts ===


def canonical_texts(texts: pa.Array, data_type: DataType) -> pa.Array:
    """Return texts of partition values as `partition_texts` writes their values.

    Two texts are one value where these are equal: this is what partitions are told
    apart by. A text that is no value of the type is itself, and so is every one of a
    type whose values are not read.
    """
    encoded = texts.dictionary_encode()
    try:
        values = type_partition_texts(encoded.dictionary, data_type)
    except SchemaError:
        written = [text or None for text in encoded.dictionary.to_pylist()]
    except ValueError:
        written = [
            _canonical(text, data_type) for text in encoded.dictionary.to_pylist()
        ]
    else:
        written = partition_texts(values)
    return pa.array(written, pa.string()).take(encoded.indices)


def _canonical(text: str, data_type: DataType) -> str | None:
    one = pa.array([text], pa.string())
    try:
        return partition_texts(type_partition_texts(one, data_type))[0]
    except ValueError:
        return text


def canonical_column(
    partition_values: pa.MapArray | pa.ChunkedArray, column: StructField
) -> pa.Array:
    """Return `canonical_texts` of one partition column, row for row with the files.

    Args:
        partition_values: map<string, string>, a row a file, as the log has them.
    """
    return canonical_texts(stored_texts(partition_values, column), column.data_type)


def canonical_keys(
    partition_values: pa.MapArray | pa.ChunkedArray, columns: StructType
) -> list[PartitionKey]:
    """Return the partition of each file: equal ones are one, however they are written.

    Args:
        partition_values: map<string, string>, a row a file, as the log has them.
    """
    found = [canonical_column(partition_values, column) for column in columns.fields]
    return _keys(found, len(partition_values))


def stored_keys(
    partition_values: pa.MapArray | pa.ChunkedArray, columns: StructType
) -> list[PartitionKey]:
    """Return the texts of each file's partition values, as the log has them."""
    found = [stored_texts(partition_values, column) for column in columns.fields]
    return _keys(found, len(partition_values))


def _keys(columns: Sequence[pa.Array], num_rows: int) -> list[PartitionKey]:
    texts = [column.to_pylist() for column in columns]
    return list(zip(*texts, strict=True)) if texts else [()] * num_rows


def stored_texts(
    partition_values: pa.MapArray | pa.ChunkedArray, column: StructField
) -> pa.Array:
    """Return the texts of one partition column, row for row, as the log has them."""
    name = column.stored_name
    texts = pc.map_lookup(partition_values, query_key=name, occurrence="last")
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
