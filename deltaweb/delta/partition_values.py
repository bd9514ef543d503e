"""Partition values: text in the log, typed columns to everyone else.

An empty text is null for every type, and so is a column that the map leaves out.
`__HIVE_DEFAULT_PARTITION__` means null in folder names alone: as a value it is text.
Folder names are never looked at.

Source: PROTOCOL.md, "Partition Value Serialization".
"""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import PartitionValueError, SchemaError
from deltaweb.delta.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
    type_text,
)
from deltaweb.delta.value_text import Value, arrow_array, parse_value

_PARSED_BY_ARROW = {
    "byte": r"^-?[0-9]{1,3}$",
    "short": r"^-?[0-9]{1,5}$",
    "integer": r"^-?[0-9]{1,10}$",
    "long": r"^-?[0-9]{1,19}$",
    "date": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
}
"""Types that Arrow reads exactly when every text is of this plain form."""


def partition_schema(
    schema: StructType, partition_columns: Sequence[str]
) -> StructType:
    """The partition columns with their types, in the order of `partition_columns`.

    Raises:
        SchemaError: A partition column is not in the schema, or is nested.
    """
    return StructType(
        tuple(_partition_field(schema, name) for name in partition_columns)
    )


def _partition_field(schema: StructType, name: str) -> StructField:
    column = schema.find(name)
    if column is None or column.name != name:
        reason = "the table is partitioned by it, but the schema lacks it"
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
        columns: What `partition_schema` gives.
        paths: The files' paths, row for row; an error names the file.

    Returns:
        A struct column, row for row, with a field a partition column.

    Raises:
        PartitionValueError: A value is not of its column's type.
        SchemaError: A column's type cannot be read.
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
    """Type the values of one partition column, row for row with the files.

    Raises:
        PartitionValueError: A value is not of the column's type.
    """
    texts = pc.map_lookup(partition_values, query_key=column.name, occurrence="last")
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
    """Type texts of partition values; empty ones are null.

    Raises:
        ValueError: A text is no value of `data_type`.
    """
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
