"""Columns of a file as a table's are held against them: of its schema, or of its rows.

The schema is there where a footer is read, the rows of `NODE_SCHEMA` where a page shows
what was found in one.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from deltaweb.parquet.inspection.node_types import NodeTypes
from deltaweb.parquet.nesting import Part, parts_of
from deltaweb.parquet.schema import Node

_READ: Final = (
    *("path", "part_of", "depth", "field_id", "delta_type", "delta_reason"),
    *("physical_type", "effective_type", "column"),
)


@dataclass(frozen=True, slots=True, eq=False)
class FileColumn:
    """A column of a file, or a part of one.

    Attributes:
        name: What the file calls it.
        field_id: By what else readers may know it.
        word: Its type in Delta, in a word or two; "" where it has none.
        reason: Why it has none; "" where it has one.
        stored: Its physical type with its annotation, as it is stored.
        leaves: Returns the physical types of its leaves by their numbers.
        parts: Returns fields, the element, or key and value; none of what is one value.
    """

    name: str
    field_id: int | None
    word: str
    reason: str
    stored: str
    leaves: Callable[[], Mapping[int, str | None]]
    parts: Callable[[], Sequence["FileColumn"]]


def columns_of_schema(root: Node, types: NodeTypes) -> Sequence[FileColumn]:
    """Return the columns of a schema, those at the top.

    Args:
        root: The schema.
        types: What its nodes are in Delta.
    """

    def column(part: Part) -> FileColumn:
        node = part.node
        return FileColumn(
            name=node.name,
            field_id=node.element.field_id,
            word=types.word(node),
            reason=types.reasons.get(node.path, ""),
            stored=stored_type(node),
            leaves=lambda: {
                leaf.leaf: leaf.element.physical_type
                for leaf in node.leaves()
                if leaf.leaf is not None
            },
            parts=lambda: tuple(map(column, parts_of(part))),
        )

    return tuple(column(Part(node)) for node in root.children or ())


def columns_of_rows(nodes: pa.Table) -> Sequence[FileColumn]:
    """Return the columns of a schema, those at the top.

    Args:
        nodes: `NODE_SCHEMA`.
    """
    values = nodes.select(_READ).to_pydict()
    depths, physical = values["depth"], values["physical_type"]
    parts: dict[int, list[int]] = defaultdict(list)
    for row, owner in enumerate(values["part_of"]):
        if owner is not None:
            parts[owner].append(row)

    def leaves(row: int) -> Mapping[int, str | None]:
        end = row + 1
        while end < len(depths) and depths[end] > depths[row]:
            end += 1
        found = zip(values["column"][row:end], physical[row:end], strict=True)
        return {leaf: kind for leaf, kind in found if leaf is not None}

    def column(row: int) -> FileColumn:
        return FileColumn(
            name=values["path"][row][-1],
            field_id=values["field_id"][row],
            word=values["delta_type"][row] or "",
            reason=values["delta_reason"][row] or "",
            stored=_stored(physical[row], values["effective_type"][row]),
            leaves=lambda: leaves(row),
            parts=lambda: tuple(map(column, parts.get(row, ()))),
        )

    return tuple(map(column, parts.get(-1, ())))


def stored_type(node: Node) -> str:
    """Return the physical type of a node with its annotation, as it is stored."""
    physical = node.element.physical_type if node.children is None else None
    return _stored(physical, None if node.annotation is None else node.annotation.text)


def _stored(physical: str | None, annotation: str | None) -> str:
    return f"{physical or 'group'} {annotation or ''}".strip()
