"""The schema of a footer as Arrow: a row a node, with what its chunks add up to."""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from deltaweb.parquet.annotations import stored_annotation
from deltaweb.parquet.inspection.chunks import ChunkSums
from deltaweb.parquet.inspection.node_types import NodeTypes
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.nesting import Part, parts_of
from deltaweb.parquet.schema import Node

MAX_NODES: Final = 200_000
"""Nodes of a schema that are listed."""
NODES_A_BATCH: Final = 16_384

NODE_SCHEMA: Final = pa.schema(
    [
        ("path", pa.list_(pa.string())),
        ("depth", pa.int32()),
        ("parent", pa.int32()),
        ("part_of", pa.int32()),
        ("num_children", pa.int32()),
        ("position", pa.int32()),
        ("leaf", pa.int32()),
        ("repetition", pa.string()),
        ("physical_type", pa.string()),
        ("type_length", pa.int64()),
        ("logical_type", pa.string()),
        ("converted_type", pa.string()),
        ("effective_type", pa.string()),
        ("invalid", pa.string()),
        ("field_id", pa.int64()),
        ("sort_order", pa.string()),
        ("column_order", pa.string()),
        ("delta_type", pa.string()),
        ("delta_reason", pa.string()),
        ("num_chunks", pa.int64()),
        ("compressed_bytes", pa.int64()),
        ("uncompressed_bytes", pa.int64()),
        ("num_values", pa.int64()),
        ("null_count", pa.int64()),
        ("num_bloom_filters", pa.int64()),
        ("num_page_indexes", pa.int64()),
        ("num_ranges", pa.int64()),
        ("num_ignored", pa.int64()),
        ("ignored_because", pa.string()),
        ("families", pa.list_(pa.int16())),
    ]
)
"""A row a node, depth first, without the root. `parent` is the row above (-1 at the
top), `part_of` that of what it is a field, the element, or key or value of: null where
it only repeats, or is within one value. `position` is the place among its siblings from
1; from `num_chunks` on it is the `ColumnSum` of a leaf, null for a group."""


def node_batches(
    footer: ParquetFooter, types: NodeTypes, sums: ChunkSums
) -> Iterator[pa.RecordBatch]:
    """Yield the nodes of a schema as `NODE_SCHEMA`.

    Args:
        footer: The footer.
        types: What the nodes are in Delta.
        sums: What the chunks of the footer add up to.
    """
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
    element, stored = node.element, stored_annotation(node.element)
    is_leaf = node.children is None
    return {
        "path": list(node.path),
        "depth": len(node.path) - 1,
        "num_children": len(node.children or ()),
        "leaf": node.leaf,
        "repetition": element.repetition,
        "physical_type": element.physical_type if is_leaf else None,
        "type_length": element.type_length,
        "logical_type": None if stored is None else stored.text,
        "converted_type": _converted(node),
        "effective_type": None if node.annotation is None else node.annotation.text,
        "invalid": node.invalid,
        "field_id": element.field_id,
        "sort_order": node.sort_order if is_leaf else None,
    }


def _converted(node: Node) -> str | None:
    """Return the old annotation; a decimal's has its digits beside it."""
    element = node.element
    if element.converted_type == "DECIMAL" and element.precision is not None:
        return f"DECIMAL({element.precision},{element.scale or 0})"
    return element.converted_type


def _sums(node: Node, sums: ChunkSums) -> dict[str, Any]:
    if node.leaf is None:
        return {}
    column = sums.columns[node.leaf]
    return {
        "num_chunks": column.num_chunks,
        "compressed_bytes": column.compressed_bytes,
        "uncompressed_bytes": column.uncompressed_bytes,
        "num_values": column.num_values,
        "null_count": column.null_count if column.num_chunks else None,
        "num_bloom_filters": column.num_bloom_filters,
        "num_page_indexes": column.num_page_indexes,
        "num_ranges": column.num_ranges,
        "num_ignored": column.num_ignored,
        "ignored_because": column.ignored_because or None,
        "families": sorted(column.families),
    }
