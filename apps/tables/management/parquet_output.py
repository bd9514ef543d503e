"""How the `parquet` commands answer people: lines of footers and of rows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

from deltaweb.parquet.conversion.delta import SchemaConverter
from deltaweb.parquet.inspection.description import (
    described_groups,
    described_node,
    stored_as,
)
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.schema import Node
from deltaweb.web.pages.lists.csv_lines import csv_line
from deltaweb.web.tables.management.text_output import aligned, facts, visible

MAX_LINES = 200
"""Of each part: who wants more takes --json."""
_INDEXES: Final = {
    "column": "has_column_index",
    "offset": "has_offset_index",
    "bloom": "has_bloom_filter",
}
Row = tuple[str, ...]
Described: TypeAlias = Mapping[str, Any]
"""What `describe` says of a column chunk, or of its statistics."""


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
    chunks = [
        list(group["columns"]) for group in islice(described_groups(footer), shown)
    ]
    if len(groups) > shown:
        yield from ("", f"Of the first {shown:,} row groups; --json has them all:")
    yield from _part(
        (
            *("COLUMN", "STORED BYTES", "PLAIN BYTES", "SHARE", "CODEC"),
            *("ENCODINGS", "INDEXES"),
        ),
        _column_rows(footer.leaves, chunks),
    )
    yield from _part(
        ("COLUMN", "ROW GROUP", "NULLS", "MIN", "MAX", "STATISTICS"),
        _statistics_rows(footer.leaves, chunks),
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
        found = described_node(node)
        invalid = found.get("invalid_annotation")
        yield (
            "  " * (len(node.path) - 1) + node.name,
            f"{found['repetition'] or 'no repetition'} {stored_as(found)}",
            found["logical_type"] or "",
            found["converted_type"] or "",
            found["effective_type"] or "" if invalid is None else f"invalid: {invalid}",
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
    leaves: Sequence[Node], groups: Sequence[Sequence[Described]]
) -> Iterator[Row]:
    found: list[tuple[int, Row]] = []
    total = sum(_bytes(chunk) for group in groups for chunk in group)
    for leaf, node in enumerate(leaves):
        chunks = [group[leaf] for group in groups if leaf < len(group)]
        stored = sum(map(_bytes, chunks))
        plain = sum(_bytes(chunk, "total_uncompressed_size") for chunk in chunks)
        codecs = dict.fromkeys(chunk["codec"] or "unknown" for chunk in chunks)
        encodings = dict.fromkeys(name for c in chunks for name in c["encodings"])
        indexes = [
            word for word, name in _INDEXES.items() if any(c[name] for c in chunks)
        ]
        row = (
            *(".".join(node.path), f"{stored:,}", f"{plain:,}"),
            f"{stored / total:.1%}" if total else "",
            *map(", ".join, (codecs, encodings, indexes)),
        )
        found.append((stored, row))
    found.sort(key=lambda pair: -pair[0])
    return (row for _, row in found)


def _bytes(chunk: Described, name: str = "total_compressed_size") -> int:
    return max(0, chunk[name] or 0)


# === Statistics ===


def _statistics_rows(
    leaves: Sequence[Node], groups: Sequence[Sequence[Described]]
) -> Iterator[Row]:
    for leaf, node in enumerate(leaves):
        for number, chunks in enumerate(groups):
            if leaf < len(chunks):
                shown = _statistics(chunks[leaf]["statistics"])
                yield (".".join(node.path), f"{number:,}", *shown)


def _statistics(found: Described | None) -> Row:
    if found is None:
        return "unknown", "", "", "none"
    nulls = "unknown" if found["null_count"] is None else f"{found['null_count']:,}"
    if found["source"] is None:
        return nulls, "", "", "no bounds"
    if not found["usable"]:
        return nulls, "", "", f"ignored: {found['ignored_because']}"
    low = "" if found.get("is_min_exact", True) else "≥ "
    high = "" if found.get("is_max_exact", True) else "≤ "
    verdict = f"usable: {found['soft']}" if "soft" in found else "usable"
    return nulls, low + cell(found["min"]), high + cell(found["max"]), verdict


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
