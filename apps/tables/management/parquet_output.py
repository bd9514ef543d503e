"""How the `parquet` commands answer people: lines of footers and of rows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apps.pages.lists.csv_lines import csv_line
from apps.tables.management.text_output import aligned, facts, visible
from deltaweb.parquet.annotations import stored_annotation
from deltaweb.parquet.conversion.delta import SchemaConverter
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.metadata import ColumnChunk
from deltaweb.parquet.schema import Node
from deltaweb.parquet.statistics import read_statistics

MAX_LINES = 200
"""Of each part: who wants more takes --json."""
Row = tuple[str, ...]


def header_text(footer: ParquetFooter, file: str, size_bytes: int) -> str:
    """Return what the footer says of the whole file."""
    metadata = footer.metadata
    return facts(
        [
            ("file", file),
            ("bytes", f"{size_bytes:,}"),
            ("written by", metadata.created_by),
            ("format version", metadata.version),
            ("rows", f"{metadata.num_rows:,}"),
            ("row groups", f"{len(metadata.row_groups):,}"),
            ("columns", f"{len(footer.leaves):,}"),
            ("footer bytes", f"{metadata.footer_length:,}"),
            ("encryption", metadata.encryption or "none"),
            ("keys", ", ".join(key for key, _ in metadata.key_values) or "none"),
        ]
    )


def footer_lines(footer: ParquetFooter) -> Iterator[str]:
    """Yield the schema, the row groups, the columns by size, and the statistics."""
    yield from _part(
        ("SCHEMA", "STORED", "LOGICAL", "CONVERTED", "EFFECTIVE", "DELTA"),
        _schema_rows(footer.root),
    )
    groups = footer.metadata.row_groups
    yield from _part(
        ("ROW GROUP", "ROWS", "BYTES", "COLUMNS"),
        (
            (
                *(f"{number:,}", f"{group.num_rows:,}"),
                *(f"{group.total_byte_size:,}", f"{len(group.raw_columns):,}"),
            )
            for number, group in enumerate(groups)
        ),
    )
    # Row groups are looked at up to the first that is not shown: there may be
    # thousands, of thousands of columns.
    shown = max(1, MAX_LINES // max(1, len(footer.leaves)))
    chunks = [group.columns for group in groups[:shown]]
    if len(groups) > shown:
        yield from ("", f"Of the first {shown:,} row groups; --json has them all:")
    yield from _part(
        (
            *("COLUMN", "STORED BYTES", "PLAIN BYTES", "SHARE", "CODEC"),
            *("ENCODINGS", "INDEXES"),
        ),
        _column_rows(footer, chunks),
    )
    yield from _part(
        ("COLUMN", "ROW GROUP", "NULLS", "MIN", "MAX", "STATISTICS"),
        _statistics_rows(footer, chunks),
    )


def _part(header: Row, rows: Iterator[Row]) -> Iterator[str]:
    shown = [row for row, _ in zip(rows, range(MAX_LINES), strict=False)]
    yield ""
    yield from aligned(header, [tuple(map(visible, row)) for row in shown])
    if len(shown) == MAX_LINES and next(rows, None) is not None:
        yield "… and more; --json has them all."


# === The schema ===


def _schema_rows(root: Node) -> Iterator[Row]:
    for node in root.walk():
        if not node.path:
            continue
        element, stored = node.element, stored_annotation(node.element)
        physical = "group" if node.children is not None else element.physical_type
        if node.children is None and element.type_length is not None:
            physical = f"{physical}({element.type_length})"
        effective = "" if node.annotation is None else node.annotation.text
        if node.invalid is not None:
            effective = f"invalid: {node.invalid}"
        yield (
            "  " * (len(node.path) - 1) + node.name,
            f"{element.repetition or 'no repetition'} {physical}",
            "" if stored is None else stored.text,
            element.converted_type or "",
            effective,
            _delta_text(node) if len(node.path) == 1 else "",
        )


def _delta_text(node: Node) -> str:
    converter = SchemaConverter()
    (field,) = converter.fields([node])
    if converter.problems:
        return f"none: {converter.problems[0].reason}"
    return _type_text(field["type"])


def _type_text(data_type: Any) -> str:  # noqa: ANN401 (JSON)
    if isinstance(data_type, str):
        return data_type
    match data_type["type"]:
        case "array":
            return f"array<{_type_text(data_type['elementType'])}>"
        case "map":
            key, value = data_type["keyType"], data_type["valueType"]
            return f"map<{_type_text(key)}, {_type_text(value)}>"
    fields = (f"{f['name']}: {_type_text(f['type'])}" for f in data_type["fields"])
    return f"struct<{', '.join(fields)}>"


# === Columns ===


def _column_rows(
    footer: ParquetFooter, groups: Sequence[Sequence[ColumnChunk]]
) -> Iterator[Row]:
    found: list[tuple[int, Row]] = []
    total = sum(_bytes(chunk) for group in groups for chunk in group)
    for leaf, node in enumerate(footer.leaves):
        chunks = [group[leaf] for group in groups if leaf < len(group)]
        stored = sum(map(_bytes, chunks))
        plain = sum(_bytes(chunk, "total_uncompressed_size") for chunk in chunks)
        codecs = dict.fromkeys(chunk.codec or "unknown" for chunk in chunks)
        encodings = dict.fromkeys(name for c in chunks for name in c.encodings)
        row = (
            *(".".join(node.path), f"{stored:,}", f"{plain:,}"),
            f"{stored / total:.1%}" if total else "",
            *(", ".join(codecs), ", ".join(encodings), _indexes(chunks)),
        )
        found.append((stored, row))
    found.sort(key=lambda pair: -pair[0])
    return (row for _, row in found)


def _bytes(chunk: ColumnChunk, name: str = "total_compressed_size") -> int:
    size: int = chunk.values.get(name, 0)
    return max(0, size)


def _indexes(chunks: Sequence[ColumnChunk]) -> str:
    kinds = {
        "column": lambda chunk: "column_index_offset" in chunk.chunk,
        "offset": lambda chunk: "offset_index_offset" in chunk.chunk,
        "bloom": lambda chunk: "bloom_filter_offset" in chunk.values,
    }
    return ", ".join(kind for kind, has in kinds.items() if any(map(has, chunks)))


# === Statistics ===


def _statistics_rows(
    footer: ParquetFooter, groups: Sequence[Sequence[ColumnChunk]]
) -> Iterator[Row]:
    for leaf, node in enumerate(footer.leaves):
        for number, chunks in enumerate(groups):
            if leaf < len(chunks):
                name, order = ".".join(node.path), footer.order(leaf)
                shown = _statistics(chunks[leaf].statistics, node, order)
                yield (name, f"{number:,}", *shown)


def _statistics(raw: Mapping[str, Any] | None, node: Node, order: str | None) -> Row:
    if raw is None:
        return "unknown", "", "", "none"
    nulls = raw.get("null_count")
    nulls_text = "unknown" if nulls is None else f"{nulls:,}"
    judged = read_statistics(raw, node, order)
    if judged.source is None:
        return nulls_text, "", "", "no bounds"
    if judged.ignored_because is not None:
        return nulls_text, "", "", f"ignored: {judged.ignored_because}"
    low = "" if raw.get("is_min_exact", True) else "≥ "
    high = "" if raw.get("is_max_exact", True) else "≤ "
    verdict = "usable" if judged.soft is None else f"usable: {judged.soft}"
    return nulls_text, low + cell(judged.min), high + cell(judged.max), verdict


# === Rows ===


def table_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield an aligned table for people; a null is NULL."""
    if not rows:
        yield "No rows."
        return
    names = list(rows[0])
    cells = [
        ["NULL" if value is None else visible(cell(value)) for value in row.values()]
        for row in rows
    ]
    yield from aligned([visible(name) for name in names], cells)


def csv_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield CSV lines, the header first; null is nothing, an empty text is quoted."""
    if not rows:
        return
    yield csv_line(list(rows[0]))
    for row in rows:
        yield csv_line(None if v is None else cell(v) for v in row.values())


def cell(value: Any) -> str:  # noqa: ANN401 (JSON)
    """Return a value of a file as text: what is no number or text as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and list(value) == ["hex"]:
        return f"0x{value['hex']}"
    return json.dumps(value, ensure_ascii=False)
