"""Columns of a file as a table's are held against them: of its schema, or of its rows.

The schema is there where a footer is read, the rows of `NODE_SCHEMA` where a page shows
what was found in one.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self

import pyarrow as pa

from deltaweb.parquet.inspection.node_types import NodeTypes
from deltaweb.parquet.nesting import Part, parts_of
from deltaweb.parquet.schema import Node

_READ: Final = (
    *("path", "part_of", "depth", "field_id", "delta_type", "delta_reason"),
    *("physical_type", "effective_type"),
)


class FileColumn(Protocol):
    """A column of a file, or a part of one."""

    @property
    def name(self) -> str:
        """What the file calls it."""
        ...

    @property
    def field_id(self) -> int | None:
        """By what else readers may know it."""
        ...

    @property
    def word(self) -> str:
        """Its type in Delta, in a word or two; "" where it has none."""
        ...

    @property
    def stored(self) -> str:
        """Its physical type with its annotation, as it is stored."""
        ...

    @property
    def has_int96(self) -> bool:
        """Whether a leaf of it is an instant of the old kind."""
        ...

    def parts(self) -> Sequence[Self]:
        """Return fields, the element, or key and value; none of what is one value."""
        ...


@dataclass(frozen=True, slots=True)
class NodeColumn:
    """A column of a file by its schema."""

    part: Part
    types: NodeTypes

    @property
    def node(self) -> Node:
        """Its node."""
        return self.part.node

    @property
    def name(self) -> str:
        """As `FileColumn` says."""
        return self.node.name

    @property
    def field_id(self) -> int | None:
        """As `FileColumn` says."""
        return self.node.element.field_id

    @property
    def word(self) -> str:
        """As `FileColumn` says."""
        return self.types.word(self.node)

    @property
    def stored(self) -> str:
        """As `FileColumn` says."""
        return stored_type(self.node)

    @property
    def has_int96(self) -> bool:
        """As `FileColumn` says."""
        leaves = self.node.leaves()
        return any(leaf.element.physical_type == "INT96" for leaf in leaves)

    def parts(self) -> Sequence[Self]:
        """As `FileColumn` says."""
        return [type(self)(part, self.types) for part in parts_of(self.part)]


def columns_of_schema(root: Node, types: NodeTypes) -> tuple[NodeColumn, ...]:
    """Return the columns of a schema, those at the top.

    Args:
        root: The schema.
        types: What its nodes are in Delta.
    """
    return tuple(NodeColumn(Part(node), types) for node in root.children or ())


def stored_type(node: Node) -> str:
    """Return the physical type of a node with its annotation, as it is stored."""
    physical = node.element.physical_type if node.children is None else None
    annotation = None if node.annotation is None else node.annotation.text
    return _stored(physical, annotation)


def _stored(physical: str | None, annotation: str | None) -> str:
    return f"{physical or 'group'} {annotation or ''}".strip()


class _Rows:
    """Rows of `NODE_SCHEMA`, with those that are parts of each."""

    def __init__(self, nodes: pa.Table) -> None:
        self.values: dict[str, list[Any]] = nodes.select(_READ).to_pydict()
        self.parts: dict[int, list[int]] = defaultdict(list)
        for number, owner in enumerate(self.values["part_of"]):
            if owner is not None:
                self.parts[owner].append(number)


@dataclass(frozen=True, slots=True, eq=False)
class RowColumn:
    """A column of a file by the rows that a page has of its schema."""

    rows: _Rows
    number: int

    @property
    def name(self) -> str:
        """As `FileColumn` says."""
        return str(self._value("path")[-1])

    @property
    def field_id(self) -> int | None:
        """As `FileColumn` says."""
        found: int | None = self._value("field_id")
        return found

    @property
    def word(self) -> str:
        """As `FileColumn` says."""
        return self._value("delta_type") or ""

    @property
    def reason(self) -> str:
        """Why it has no type in Delta; "" where it has one."""
        return self._value("delta_reason") or ""

    @property
    def stored(self) -> str:
        """As `FileColumn` says."""
        return _stored(self._value("physical_type"), self._value("effective_type"))

    @property
    def has_int96(self) -> bool:
        """As `FileColumn` says."""
        depths, physical = self.rows.values["depth"], self.rows.values["physical_type"]
        end = self.number + 1
        while end < len(depths) and depths[end] > depths[self.number]:
            end += 1
        return "INT96" in physical[self.number : end]

    def parts(self) -> Sequence[Self]:
        """As `FileColumn` says."""
        numbers = self.rows.parts.get(self.number, ())
        return [type(self)(self.rows, number) for number in numbers]

    def _value(self, name: str) -> Any:  # noqa: ANN401 (by the column of the rows)
        return self.rows.values[name][self.number]


def columns_of_rows(nodes: pa.Table) -> Sequence[RowColumn]:
    """Return the columns of a schema, those at the top.

    Args:
        nodes: `NODE_SCHEMA`.
    """
    rows = _Rows(nodes)
    return [RowColumn(rows, number) for number in rows.parts.get(-1, ())]
