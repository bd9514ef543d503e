"""A footer with the physical schema alone, for a reader that refuses annotations.

pyarrow refuses whole files for one annotation, and ends the process for some
statistics. Pages depend on neither, so it gets a footer without them, with names that
are positions, and only of the row groups that are to be read.

Source: parquet.thrift; Thrift's compact protocol.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from deltaweb.parquet.compact.writer import CompactWriter
from deltaweb.parquet.errors import ValuesUnreadableError
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.metadata import PHYSICAL_TYPES, REPETITIONS, ColumnChunk, RowGroup
from deltaweb.parquet.schema import Node
from deltaweb.parquet.values.shaping import has_leaves

_WRITER: Final = re.compile(r"[\w .()+-]{1,200}", re.ASCII)


def neutral_footer(footer: ParquetFooter, groups: Sequence[RowGroup]) -> bytes:
    """Return the bytes of a footer over some row groups of a file.

    Raises:
        ValuesUnreadableError: If the chunks are not those of the schema's leaves.
    """
    nodes = [node for node in footer.root.walk() if has_leaves(node)]
    names = {id(node): b"%d" % at for at, node in enumerate(nodes)}
    paths = _leaf_paths(footer.root, names)
    created_by = footer.metadata.created_by
    writer = CompactWriter()
    writer.struct(
        [
            (1, "i32", 1),
            (2, "list:struct", [_element(node, names) for node in nodes]),
            (3, "i64", sum(group.num_rows for group in groups)),
            (4, "list:struct", [_group(group, paths) for group in groups]),
            # Readers know faults of old writers by their names.
            (
                *(6, "binary"),
                created_by.encode()
                if created_by is not None and _WRITER.fullmatch(created_by)
                else None,
            ),
        ]
    )
    return bytes(writer.parts)


def _leaf_paths(root: Node, names: Mapping[int, bytes]) -> list[list[bytes]]:
    paths: list[list[bytes]] = []

    def descend(node: Node, above: list[bytes]) -> None:
        own = [*above, names[id(node)]]
        if node.children is None:
            paths.append(own)
        for child in node.children or ():
            if id(child) in names:
                descend(child, own)

    for child in root.children or ():
        if id(child) in names:
            descend(child, [])
    return paths


def _element(node: Node, names: Mapping[int, bytes]) -> list[tuple[int, str, Any]]:
    element = node.element
    physical = element.physical_type if node.children is None else None
    if physical is not None and physical not in PHYSICAL_TYPES:
        raise ValuesUnreadableError(reason=f"the physical type {physical} is not known")
    repetition = element.repetition if node.path else "required"
    if repetition not in REPETITIONS:
        raise ValuesUnreadableError(reason=f"the repetition {repetition} is not known")
    return [
        (1, "i32", None if physical is None else PHYSICAL_TYPES.index(physical)),
        (2, "i32", element.type_length if physical is not None else None),
        (3, "i32", REPETITIONS.index(repetition)),
        (4, "binary", names[id(node)]),
        (5, "i32", None if node.children is None else _count(node, names)),
    ]


def _count(node: Node, names: Mapping[int, bytes]) -> int:
    return sum(id(child) in names for child in node.children or ())


def _group(
    group: RowGroup, paths: Sequence[Sequence[bytes]]
) -> list[tuple[int, str, Any]]:
    if len(group.columns) != len(paths):
        reason = f"a row group has {len(group.columns)} chunks for {len(paths)} columns"
        raise ValuesUnreadableError(reason=reason)
    columns = [
        _chunk(chunk, path) for chunk, path in zip(group.columns, paths, strict=True)
    ]
    return [
        (1, "list:struct", columns),
        (2, "i64", group.total_byte_size),
        (3, "i64", group.num_rows),
    ]


def _chunk(chunk: ColumnChunk, path: Sequence[bytes]) -> list[tuple[int, str, Any]]:
    values = chunk.values
    if chunk.is_encrypted:
        raise ValuesUnreadableError(reason="its columns are encrypted")
    if chunk.chunk.get("file_path"):
        raise ValuesUnreadableError(reason="its columns are in another file")
    metadata = [
        (1, "i32", values.get("type")),
        (2, "list:i32", values.get("encodings", [])),
        (3, "list:binary", path),
        (4, "i32", values.get("codec")),
        (5, "i64", values.get("num_values")),
        (6, "i64", values.get("total_uncompressed_size")),
        (7, "i64", values.get("total_compressed_size")),
        (9, "i64", values.get("data_page_offset")),
        (11, "i64", values.get("dictionary_page_offset")),
    ]
    return [(2, "i64", chunk.chunk["file_offset"]), (3, "struct", metadata)]
