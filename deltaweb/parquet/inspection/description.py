"""A footer as one JSON document: what scripts get, and what tests compare.

Source: Parquet logical types; parquet.thrift.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from deltaweb.parquet.annotations import stored_annotation
from deltaweb.parquet.conversion.delta import DeltaConversion, convert, problems_text
from deltaweb.parquet.loading import ParquetFooter, load_footer
from deltaweb.parquet.metadata import ColumnChunk, RowGroup
from deltaweb.parquet.schema import Node
from deltaweb.parquet.statistics import read_statistics
from deltaweb.parquet.tail import Source, open_source

_BOX: Final = ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax", "mmin", "mmax")
ROW_GROUPS: Final = "row_groups"
_STORED_FLAGS: Final = ("is_min_exact", "is_max_exact", "nan_count")


def describe(source: Source) -> dict[str, Any]:
    """Return what the footer of a file says, and what it is in Delta, as JSON.

    Args:
        source: A local path, or an open file: of Arrow, of Python, or of fsspec.

    Raises:
        ParquetError: If the file is none, is encrypted, or its footer is corrupt.
        OSError: If the file does not read.
    """
    with open_source(source) as opened:
        footer = load_footer(opened)
    groups = list(described_groups(footer))
    return {
        name: groups if name == ROW_GROUPS else value
        for name, value in described_fields(footer)
    }


def described_fields(footer: ParquetFooter) -> Iterator[tuple[str, Any]]:
    """Yield what a footer says field by field; its row groups are None here.

    Who writes them somewhere takes them from `described_groups`, one after the other:
    those of a large footer take some gigabytes together.
    """
    metadata = footer.metadata
    orders = metadata.column_orders
    yield "version", metadata.version
    yield "created_by", metadata.created_by
    yield "num_rows", metadata.num_rows
    yield "footer_length", metadata.footer_length
    yield "encryption", metadata.encryption
    yield "key_value_metadata_keys", [key for key, _ in metadata.key_values]
    yield "schema", describe_node(footer.root)
    yield "warnings", list(footer_warnings(footer))
    yield "column_orders", None if orders is None else list(orders)
    yield "num_row_groups", len(metadata.row_groups)
    yield ROW_GROUPS, None
    yield from _delta(convert(footer.root)).items()


def described_groups(footer: ParquetFooter) -> Iterator[dict[str, Any]]:
    for group in footer.metadata.row_groups:
        yield _row_group(group, footer)


def footer_warnings(footer: ParquetFooter) -> Iterator[str]:
    """Yield what is odd about a file that reads all the same, a sentence each."""
    for node in footer.root.walk():
        name = ".".join(node.path)
        stored = stored_annotation(node.element)
        if node.invalid is not None:
            yield f"{name}: the annotation is invalid: {node.invalid}."
        if stored is not None and stored.kind == "UNRECOGNIZED":
            yield f"{name}: LogicalType {stored.number} is not known."
        annotation = node.annotation
        if annotation is not None and annotation.kind == "UNRECOGNIZED_CONVERTED":
            yield f"{name}: ConvertedType {annotation.number} is not known."
    counted = sum(group.num_rows for group in footer.metadata.row_groups)
    if counted != footer.metadata.num_rows:
        rows = footer.metadata.num_rows
        yield f"The footer says {rows:,} rows, but the row groups have {counted:,}."
    for number, group in enumerate(footer.metadata.row_groups):
        # Not `columns`, which would read and keep them all.
        if len(group.raw_columns) != len(footer.leaves):
            yield (
                f"Row group {number} has {len(group.raw_columns):,} column chunks for "
                f"{len(footer.leaves):,} columns."
            )


def describe_node(node: Node) -> dict[str, Any]:
    described = described_node(node)
    if node.children is not None:
        described["children"] = [describe_node(child) for child in node.children]
    return described


def described_node(node: Node) -> dict[str, Any]:
    """Return a node of the schema without those below it."""
    element = node.element
    stored = stored_annotation(element)
    described = {
        "name": node.name,
        "path": list(node.path),
        "repetition": element.repetition,
        "physical_type": element.physical_type if node.children is None else None,
        "type_length": element.type_length,
        "logical_type": None if stored is None else stored.text,
        "converted_type": element.converted_type,
        "precision": element.precision,
        "scale": element.scale,
        "field_id": element.field_id,
        "effective_type": None if node.annotation is None else node.annotation.text,
    }
    if node.invalid is not None:
        described["invalid_annotation"] = node.invalid
    if node.children is None:
        described["sort_order"] = node.sort_order
    return described


def stored_as(described: Mapping[str, Any]) -> str:
    """Return the physical type of a node with its length; `group` without one."""
    physical, length = described["physical_type"], described["type_length"]
    return (
        f"{physical}({length})"
        if physical and length is not None
        else physical or "group"
    )


def _row_group(group: RowGroup, footer: ParquetFooter) -> dict[str, Any]:
    sorting = group.sorting_columns
    return {
        "num_rows": group.num_rows,
        "total_byte_size": group.total_byte_size,
        "sorting_columns": None if sorting is None else list(sorting),
        "columns": [
            describe_chunk(chunk, footer, leaf)
            for leaf, chunk in enumerate(group.chunks())
        ],
    }


def describe_chunk(
    chunk: ColumnChunk, footer: ParquetFooter, leaf: int
) -> dict[str, Any]:
    values = chunk.values
    described: dict[str, Any] = {
        "path": list(chunk.path),
        "physical_type": chunk.physical_type,
        "encodings": chunk.encodings,
        "codec": chunk.codec,
        "num_values": values.get("num_values"),
        "total_compressed_size": values.get("total_compressed_size"),
        "total_uncompressed_size": values.get("total_uncompressed_size"),
        "data_page_offset": values.get("data_page_offset"),
        "dictionary_page_offset": values.get("dictionary_page_offset"),
        "has_bloom_filter": "bloom_filter_offset" in values,
        "has_column_index": "column_index_offset" in chunk.chunk,
        "has_offset_index": "offset_index_offset" in chunk.chunk,
        "statistics": None,
    }
    if chunk.statistics is not None and leaf < len(footer.leaves):
        node, order = footer.leaves[leaf], footer.order(leaf)
        described["statistics"] = _statistics(chunk.statistics, node, order)
    if "geospatial_statistics" in values:
        described["geospatial_statistics"] = _geospatial(
            values["geospatial_statistics"]
        )
    return described


def _statistics(
    raw: Mapping[str, Any], node: Node, order: str | None
) -> dict[str, Any]:
    judged = read_statistics(raw, node, order)
    described: dict[str, Any] = {
        "null_count": raw.get("null_count"),
        "distinct_count": raw.get("distinct_count"),
        "source": judged.source,
        "min_hex": None if judged.low is None else judged.low.hex(),
        "max_hex": None if judged.high is None else judged.high.hex(),
        **{flag: raw[flag] for flag in _STORED_FLAGS if flag in raw},
    }
    if judged.source is None:
        return described
    described["usable"] = judged.ignored_because is None
    if judged.ignored_because is not None:
        described["ignored_because"] = judged.ignored_because
    if judged.soft is not None:
        described["soft"] = judged.soft
    if judged.has_bounds:
        described |= {"min": judged.min, "max": judged.max}
    return described


def _geospatial(raw: Mapping[str, Any]) -> dict[str, Any]:
    box = raw.get("bbox")
    return {
        "bbox": None if box is None else {side: box.get(side) for side in _BOX},
        "geospatial_types": list(raw.get("geospatial_types", ())),
    }


def _delta(conversion: DeltaConversion) -> dict[str, Any]:
    if conversion.problems:
        return {
            "delta_error": problems_text(conversion.problems),
            "delta_error_columns": _paths([p.path for p in conversion.problems]),
        }
    described: dict[str, Any] = {
        "delta_schema": conversion.nullable,
        "delta_schema_strict": conversion.strict,
        "delta_features_needed": list(conversion.features),
    }
    if conversion.mapped_columns:
        described["delta_needs_column_mapping"] = _paths(conversion.mapped_columns)
    return described


def _paths(paths: Sequence[tuple[str, ...]]) -> list[list[str]]:
    return [list(path) for path in paths]
