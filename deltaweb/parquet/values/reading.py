"""The first rows of a file, read by pyarrow from a neutral footer.

It is for a process that may end: a page that lies about its size can make pyarrow take
any memory, or end the process. See `preview`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.parquet.arrow_footer import (
    open_parquet,
    parse_arrow_footer,
    read_fault,
)
from deltaweb.parquet.compact.writer import CompactWriter
from deltaweb.parquet.errors import ValuesUnreadableError
from deltaweb.parquet.loading import ParquetFooter, load_footer
from deltaweb.parquet.metadata import PHYSICAL_TYPES, REPETITIONS, ColumnChunk, RowGroup
from deltaweb.parquet.rendering import JSON
from deltaweb.parquet.schema import Node, flat_leaves
from deltaweb.parquet.tail import read_footer
from deltaweb.parquet.values.dictionaries import StoredChunks
from deltaweb.parquet.values.extents import check_extents, choose_groups
from deltaweb.parquet.values.shaping import (
    Physical,
    field_names,
    has_leaves,
    shape_field,
)
from deltaweb.parquet.values.verdicts import check_count, check_path, explain_fault
from deltaweb.parquet.values.whole_groups import LeafColumns, WholeGroups

BATCH_ROWS: Final = 256


def read_rows(
    source: pa.NativeFile, limit: int, row_group: int | None = None
) -> list[dict[str, JSON]]:
    footer = load_footer(source)
    groups = choose_groups(footer, limit, row_group)
    check_extents(groups, source.size())
    if not footer.leaves:
        return [{} for _ in range(min(limit, footer.metadata.num_rows))]
    flat = flat_leaves(footer.root)
    for group in groups:
        for chunk, leaf in zip(group.columns, footer.leaves, strict=False):
            check_path(leaf, ".".join(chunk.path))
            if leaf.leaf in flat:
                check_count(leaf, chunk.values.get("num_values", 0), group.num_rows)
    neutral = neutral_footer(footer, groups)
    try:
        metadata = parse_arrow_footer(neutral)
        rows: list[dict[str, JSON]] = []
        for batch in _batches(source, neutral, metadata):
            rows += _rows(batch, footer.root, limit - len(rows))
            if len(rows) >= limit:
                break
    except (pa.ArrowException, OSError) as error:
        explain_fault(error, read_footer(source))
        raise read_fault(error) from None
    return rows


def _batches(
    source: pa.NativeFile, footer: bytes, metadata: pq.FileMetaData
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file, each row group by itself.

    Rows of several groups read at once would be put together wrongly where a column
    of one of them ends too early.
    """
    file = open_parquet(source, metadata)
    fields = list(file.schema_arrow)
    columns = LeafColumns.of(fields, metadata.num_columns)
    groups = WholeGroups(StoredChunks(footer), metadata, columns, source)
    for row_group in range(metadata.num_row_groups):

        def read(
            opened: pa.NativeFile, row_group: int = row_group
        ) -> Iterator[pa.RecordBatch]:
            reader = file if opened is source else open_parquet(opened, metadata)
            batches: Iterator[pa.RecordBatch] = reader.iter_batches(
                BATCH_ROWS, row_groups=[row_group], use_threads=False
            )
            return batches

        yield from groups.batches(row_group, [field.name for field in fields], read)


def _rows(batch: pa.RecordBatch, root: Node, limit: int) -> Iterator[dict[str, JSON]]:
    columns = [physical_values(column[:limit]) for column in batch.columns]
    nodes = [child for child in root.children or () if has_leaves(child)]
    names = field_names(nodes)
    for values in zip(*columns, strict=True):
        yield {
            name: shape_field(node, value)
            for name, node, value in zip(names, nodes, values, strict=True)
        }


def physical_values(column: pa.Array) -> list[Physical]:
    """Return the values of a column: groups as tuples, leaves as they are stored."""
    if pa.types.is_struct(column.type):
        parts = [physical_values(part) for part in column.flatten()]
        made = list(zip(*parts, strict=True)) if parts else [()] * len(column)
        valid = column.is_valid().to_pylist()
        return [value if ok else None for value, ok in zip(made, valid, strict=True)]
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        offsets = column.offsets.to_pylist()
        start = offsets[0] if offsets else 0
        inner = physical_values(column.values[start : offsets[-1]])
        valid = column.is_valid().to_pylist()
        return [
            inner[low - start : high - start] if ok else None
            for low, high, ok in zip(offsets, offsets[1:], valid, strict=False)
        ]
    values: list[Physical] = column.to_pylist()
    return values


# === A footer with the physical schema alone ===

# A timestamp of 96 bits is stored as 12 bytes; Arrow would make it nanoseconds of 64
# bits, which end in the year 2262.
_STORED_AS: Final[Mapping[int | None, int]] = {PHYSICAL_TYPES.index("INT96"): 7}
_INT96_BYTES: Final = 12

_WRITER: Final = re.compile(r"[\w .()+-]{1,200}", re.ASCII)


def neutral_footer(footer: ParquetFooter, groups: Sequence[RowGroup]) -> bytes:
    """Return the bytes of a footer over some row groups of a file."""
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
    repetition = (element.repetition if node.path else None) or "required"
    if repetition not in REPETITIONS:
        raise ValuesUnreadableError(reason=f"the repetition {repetition} is not known")
    kind = None if physical is None else PHYSICAL_TYPES.index(physical)
    length = element.type_length if physical is not None else None
    return [
        (1, "i32", _STORED_AS.get(kind, kind)),
        (2, "i32", _INT96_BYTES if kind in _STORED_AS else length),
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
    kind = values.get("type")
    metadata = [
        (1, "i32", _STORED_AS.get(kind, kind)),
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
