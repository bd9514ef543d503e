"""`deltaweb parquet show`: what the footer of a file says."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

from django.conf import settings
from django.core.management.base import CommandParser

from apps.pages.command import Output, Subcommand
from apps.pages.responses import to_json
from apps.tables.management.parquet_files import cell, open_file
from apps.tables.management.text_output import aligned, facts, visible
from deltaweb.parquet.conversion.delta import SchemaConverter
from deltaweb.parquet.inspection.description import (
    ROW_GROUPS,
    described_fields,
    described_groups,
    described_node,
    footer_warnings,
    stored_as,
)
from deltaweb.parquet.loading import ParquetFooter, load_footer
from deltaweb.parquet.schema import Node
from deltaweb.parquet.tail import open_source

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
MAX_WARNINGS = 20
SPOOLED_BYTES = 16 << 20
PIECE_LENGTH = 1 << 20


class ShowVerb(Subcommand):
    """Show what the footer of a file says."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", help="a path or a URL")

    def run(self, *, file: str) -> Output:
        """Show a footer: its schema, its row groups, its columns and statistics."""
        with open_file(file) as source, open_source(source) as opened:
            size_bytes = opened.size()
            footer = load_footer(opened, settings.PARQUET_FOOTER_BYTES)
            if self.command.answers_json:
                return Output(None, parts=_whole(_json_parts(footer)))
            # Column chunks are read as they are shown, and may be corrupt.
            lines = list(_footer_lines(footer))
        for count, warning in enumerate(footer_warnings(footer)):
            if count == MAX_WARNINGS:
                self.warn("There are more; --json has them all.")
                break
            self.warn(warning)
        text = _header_text(footer, file, size_bytes)
        return Output(None, text, lines)


def _json_parts(footer: ParquetFooter) -> Iterator[str]:
    """Yield the document of a footer in pieces, a row group a piece."""
    before = "{"
    for name, value in described_fields(footer):
        yield f'{before}\n"{name}": '
        before = ","
        if name != ROW_GROUPS:
            yield to_json(value, indent=2)
            continue
        between = "["
        for group in described_groups(footer):
            yield f"{between}\n{to_json(group, indent=2)}"
            between = ","
        yield "[]" if between == "[" else "\n]"
    yield "\n}\n"


def _whole(parts: Iterable[str]) -> Iterator[str]:
    """Give pieces on when all are made: a late error leaves no half of a document."""
    with tempfile.SpooledTemporaryFile(SPOOLED_BYTES, "w+", encoding="utf-8") as file:
        file.writelines(parts)
        file.seek(0)
        yield from iter(lambda: file.read(PIECE_LENGTH), "")


# === For people ===


def _header_text(footer: ParquetFooter, file: str, size_bytes: int) -> str:
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


def _footer_lines(footer: ParquetFooter) -> Iterator[str]:
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
