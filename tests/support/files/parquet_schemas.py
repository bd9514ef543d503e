"""Schemas of Parquet files in a few letters, for tests of what they mean."""

from collections.abc import Mapping, Sequence
from typing import Any

from deltaweb.parquet.metadata import SchemaElement
from deltaweb.parquet.schema import Node, build_schema

LOGICAL = {
    "STRING": 1,
    "MAP": 2,
    "LIST": 3,
    "ENUM": 4,
    "DECIMAL": 5,
    "DATE": 6,
    "TIME": 7,
    "TIMESTAMP": 8,
    "INT": 10,
    "UNKNOWN": 11,
    "JSON": 12,
    "BSON": 13,
    "UUID": 14,
    "FLOAT16": 15,
    "VARIANT": 16,
    "GEOMETRY": 17,
    "GEOGRAPHY": 18,
    "FILE": 19,
    "OF A LATER DAY": 99,
}


def element(
    name: str,
    physical: str | None = None,
    repetition: str = "optional",
    *,
    logical: tuple[str, Mapping[int, Any]] | None = None,
    children: int | None = None,
    **stored: Any,  # noqa: ANN401 (the other fields, as they are)
) -> SchemaElement:
    """Return an element of a schema: a leaf by its physical type, or a group."""
    fields = {
        **dict.fromkeys(("type_length", "converted_type", "precision", "scale")),
        "field_id": None,
        **stored,
    }
    union = None if logical is None else (LOGICAL[logical[0]], logical[1])
    return SchemaElement(
        name=name,
        physical_type=physical,
        repetition=repetition,
        logical_type=union,
        num_children=children,
        **fields,
    )


def tree(*elements: SchemaElement, columns: int = 1) -> Node:
    """Return the root over some columns."""
    return build_schema([element("root", children=columns), *elements])


def column(*elements: SchemaElement) -> Node:
    """Return the one column that the elements describe."""
    children: Sequence[Node] = tree(*elements).children or ()
    return children[0]
