"""Parquet files whose pages stay, and whose footer says something else of them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from deltaweb.parquet.compact.writer import CompactWriter
from deltaweb.parquet.loading import load_footer
from deltaweb.parquet.metadata import (
    CONVERTED_TYPES,
    PHYSICAL_TYPES,
    REPETITIONS,
    ColumnChunk,
    SchemaElement,
)
from deltaweb.parquet.schema import build_schema
from deltaweb.parquet.tail import MAGIC

Paths = Sequence[Sequence[str]]
Fields = list[tuple[int, str, Any]]


class Claims(NamedTuple):
    """What a footer says that its file does not have; its own where None.

    Attributes:
        num_rows: The rows of the file.
        more_rows: What the first row group and the file count more than they have.
        codec: That of every column chunk.
        encodings: Those of every column chunk.
    """

    num_rows: int | None = None
    has_row_groups: bool = True
    more_rows: int = 0
    codec: int | None = None
    encodings: Sequence[int] | None = None


def elements_of(data: bytes) -> list[SchemaElement]:
    """Return the schema of a file, without its logical types."""
    elements = load_footer(pa.BufferReader(data)).metadata.elements
    return [element._replace(logical_type=None) for element in elements]


def two_level(elements: Sequence[SchemaElement]) -> list[SchemaElement]:
    """Return a schema whose lists of required lists and maps have two levels."""
    kept: list[SchemaElement] = []
    places = iter(range(len(elements)))
    for place in places:
        one = elements[place]
        inner = elements[place + 1] if place + 1 < len(elements) else None
        if (
            kept
            and kept[-1].converted_type == "LIST"
            and inner is not None
            and inner.converted_type in {"LIST", "MAP"}
            and inner.repetition == "required"
        ):
            kept.append(inner._replace(name="array", repetition="repeated"))
            next(places)
        else:
            kept.append(one)
    return kept


def with_schema(
    data: bytes,
    elements: Sequence[SchemaElement],
    *,
    paths: Paths | None = None,
    claims: Claims | None = None,
) -> bytes:
    """Return a file with another schema over its pages.

    Args:
        paths: The `path_in_schema` of each leaf column; those of the schema if None.
        claims: What else the footer says; its own if None.
    """
    metadata = load_footer(pa.BufferReader(data)).metadata
    if paths is None:
        paths = [leaf.path for leaf in build_schema(elements).leaves()]
    claims = claims or Claims()
    groups: list[Fields] = []
    for group in metadata.row_groups if claims.has_row_groups else ():
        columns = [
            _chunk(chunk, path, claims)
            for chunk, path in zip(group.columns, paths, strict=True)
        ]
        groups.append(
            [
                (1, "list:struct", columns),
                (2, "i64", group.total_byte_size),
                (3, "i64", group.num_rows + (0 if groups else claims.more_rows)),
            ]
        )
    num_rows = metadata.num_rows if claims.num_rows is None else claims.num_rows
    writer = CompactWriter()
    writer.struct(
        [
            (1, "i32", 1),
            (2, "list:struct", [_element(element) for element in elements]),
            (3, "i64", num_rows + claims.more_rows),
            (4, "list:struct", groups),
        ]
    )
    footer = bytes(writer.parts)
    body = data[: -8 - metadata.footer_length]
    return body + footer + len(footer).to_bytes(4, "little") + MAGIC


def _element(element: SchemaElement) -> Fields:
    return [
        (1, "i32", _number(PHYSICAL_TYPES, element.physical_type)),
        (2, "i32", element.type_length),
        (3, "i32", _number(REPETITIONS, element.repetition)),
        (4, "binary", element.name.encode()),
        (5, "i32", element.num_children),
        (6, "i32", _number(CONVERTED_TYPES, element.converted_type)),
        (7, "i32", element.scale),
        (8, "i32", element.precision),
        (9, "i32", element.field_id),
        (10, "struct", _union(element.logical_type)),
    ]


def _union(logical: tuple[int, Mapping[int, Any]] | None) -> Fields | None:
    """Return a logical type of a small number, of numbers and of unions."""
    return None if logical is None else [(logical[0], "struct", _fields(logical[1]))]


def _fields(values: Mapping[int, Any]) -> Fields:
    return [
        (number, "struct", _fields(value))
        if isinstance(value, Mapping)
        else (number, "i32", value)
        for number, value in values.items()
    ]


def _number(names: Sequence[str], name: str | None) -> int | None:
    """Return the number of a name; `UNKNOWN(n)` is n."""
    if name is None:
        return None
    if name.startswith("UNKNOWN("):
        return int(name[len("UNKNOWN(") : -1])
    return names.index(name)


def _chunk(
    chunk: ColumnChunk,
    path: Sequence[str],
    claims: Claims,
) -> Fields:
    values = chunk.values
    metadata = [
        (1, "i32", values["type"]),
        (2, "list:i32", claims.encodings or values["encodings"]),
        (3, "list:binary", [name.encode() for name in path]),
        (4, "i32", values["codec"] if claims.codec is None else claims.codec),
        (5, "i64", values["num_values"]),
        (6, "i64", values["total_uncompressed_size"]),
        (7, "i64", values["total_compressed_size"]),
        (9, "i64", values["data_page_offset"]),
        (11, "i64", values.get("dictionary_page_offset")),
    ]
    return [(2, "i64", chunk.chunk["file_offset"]), (3, "struct", metadata)]
