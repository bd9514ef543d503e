"""The schema of a footer as Arrow: what its nodes are in Delta, and their chunks.

Source: Delta protocol, "Primitive Types"; Parquet logical types.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from deltaweb.parquet.conversion.delta import ColumnProblem, DeltaType, SchemaConverter
from deltaweb.parquet.inspection.chunks import ChunkSums, ColumnSum
from deltaweb.parquet.inspection.description import described_node, stored_as
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.nesting import Part, parts_of
from deltaweb.parquet.schema import Node

_WORDS: Final = {
    "long": "bigint",
    "integer": "int",
    "short": "smallint",
    "byte": "tinyint",
}
MAX_NODES: Final = 200_000
"""Nodes of a schema that are listed."""
NODES_A_BATCH: Final = 16_384

_SUMS: Final = tuple(one.name for one in dataclasses.fields(ColumnSum))
NODE_SCHEMA: Final = pa.schema(
    [
        ("path", pa.list_(pa.string())),
        ("depth", pa.int32()),
        ("parent", pa.int32()),
        ("part_of", pa.int32()),
        ("num_children", pa.int32()),
        ("position", pa.int32()),
        ("column", pa.int32()),
        ("repetition", pa.string()),
        ("stored_as", pa.string()),
        ("physical_type", pa.string()),
        ("logical_type", pa.string()),
        ("converted_type", pa.string()),
        ("effective_type", pa.string()),
        ("invalid_annotation", pa.string()),
        ("field_id", pa.int64()),
        ("sort_order", pa.string()),
        ("column_order", pa.string()),
        ("delta_type", pa.string()),
        ("delta_reason", pa.string()),
        *((name, pa.int64()) for name in _SUMS if name != "ignored_because"),
        ("ignored_because", pa.string()),
    ]
)
"""A row a node, depth first, without the root. `parent` is the row above (-1 at the
top), `part_of` that of what it is a field, the element, or key or value of: null where
it only repeats, or is within one value. `position` is the place among its siblings from
1, `column` the number of a leaf; `delta_type` is in a word or two; from `num_chunks` on
it is the `ColumnSum` of a leaf, null for a group."""


@dataclass(frozen=True, slots=True)
class NodeTypes:
    """The types of the nodes of a schema.

    Attributes:
        words: By the identity of a node, its type in a word or two.
        reasons: By the path of a node, why it has none.
        features: Names of table features that the types need.
    """

    words: Mapping[int, str]
    reasons: Mapping[tuple[str, ...], str]
    features: tuple[str, ...]

    def word(self, node: Node) -> str:
        """Return the type of a node; "" where it has none of its own."""
        return self.words.get(id(node), "")


def node_types(root: Node) -> NodeTypes:
    """Convert every column of a schema, whatever is wrong with the others."""
    converter = _RecordingConverter()
    converter.fields(root.children or ())
    if not root.children:
        converter.problems.append(ColumnProblem((), "no columns"))
    reasons: dict[tuple[str, ...], str] = {}
    for problem in converter.problems:
        reasons.setdefault(problem.path, problem.reason)
    return NodeTypes(converter.words, reasons, tuple(converter.features))


@dataclass
class _RecordingConverter(SchemaConverter):
    words: dict[int, str] = field(default_factory=dict)

    def type_of(self, node: Node, *, is_in_list: bool = False) -> DeltaType:
        made = super().type_of(node, is_in_list=is_in_list)
        self.words[id(node)] = type_word(made)
        return made

    def field_type(self, node: Node) -> DeltaType:
        made = super().field_type(node)
        self.words[id(node)] = type_word(made)
        return made


def type_word(data_type: DeltaType) -> str:
    """Return a type in a word or two: `bigint`, `array<struct>`; "" for none."""
    if isinstance(data_type, str):
        return _WORDS.get(data_type, data_type)
    if not isinstance(data_type, dict):
        return ""
    match data_type["type"]:
        case "array":
            return f"array<{type_word(data_type['elementType'])}>"
        case "map":
            key, value = data_type["keyType"], data_type["valueType"]
            return f"map<{type_word(key)}, {type_word(value)}>"
        case kind:
            return str(kind)


def node_batches(
    footer: ParquetFooter, types: NodeTypes, sums: ChunkSums
) -> Iterator[pa.RecordBatch]:
    """Yield the nodes of a schema as `NODE_SCHEMA`."""
    rows: list[dict[str, Any]] = []
    for row in _rows(footer, types, sums):
        rows.append(row)
        if len(rows) >= NODES_A_BATCH:
            yield pa.RecordBatch.from_pylist(rows, NODE_SCHEMA)
            rows.clear()
    yield pa.RecordBatch.from_pylist(rows, NODE_SCHEMA)


def _rows(
    footer: ParquetFooter, types: NodeTypes, sums: ChunkSums
) -> Iterator[dict[str, Any]]:
    top = footer.root.children or ()
    waiting = [(node, -1, place) for place, node in enumerate(top, 1)]
    waiting.reverse()
    owners = {id(node): (-1, Part(node)) for node in top}
    number = 0
    while waiting and number < MAX_NODES:
        node, parent, position = waiting.pop()
        owner, part = owners.pop(id(node), (None, None))
        if part is not None:
            inner = parts_of(part)
            owners.update((id(one.node), (number, one)) for one in inner)
        yield {
            **_stored(node),
            "parent": parent,
            "part_of": owner,
            "position": position,
            "column_order": None if node.leaf is None else footer.order(node.leaf),
            "delta_type": types.word(node) or None,
            "delta_reason": types.reasons.get(node.path),
            **_sums(node, sums),
        }
        children = list(enumerate(node.children or (), 1))
        waiting.extend((child, number, place) for place, child in reversed(children))
        number += 1


def _stored(node: Node) -> dict[str, Any]:
    described = described_node(node)
    if node.element.converted_type == "DECIMAL" and described["precision"] is not None:
        digits = f"{described['precision']},{described['scale'] or 0}"
        described["converted_type"] = f"DECIMAL({digits})"
    return {
        **described,
        "stored_as": stored_as(described),
        "depth": len(node.path) - 1,
        "num_children": len(node.children or ()),
        "column": node.leaf,
    }


def _sums(node: Node, sums: ChunkSums) -> dict[str, Any]:
    if node.leaf is None:
        return {}
    column = sums.columns[node.leaf]
    found = {name: getattr(column, name) for name in _SUMS}
    return found if column.num_chunks else {**found, "null_count": None}
