"""What one look at a file tells, as bounded JSON; its row groups and texts as Arrow."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

import pyarrow as pa

from deltaweb.parquet.conversion.arrow import arrow_schema
from deltaweb.parquet.conversion.delta import convert, problems_text
from deltaweb.parquet.conversion.spark import convert as convert_to_spark
from deltaweb.parquet.conversion.spark import stored_schema
from deltaweb.parquet.inspection.chunks import ChunkSums, count_of
from deltaweb.parquet.inspection.description import footer_warnings
from deltaweb.parquet.inspection.nodes import NodeTypes
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.metadata import RowGroup

MAX_WARNINGS: Final = 200
MAX_KEYS: Final = 200
MAX_REASONS: Final = 200
MAX_KEY_LENGTH: Final = 200
MAX_VALUE_LENGTH: Final = 600
MAX_WRITER_LENGTH: Final = 300
MAX_SORTING: Final = 8
GROUPS_A_BATCH: Final = 16_384

GROUP_SCHEMA: Final = pa.schema(
    [
        ("num_rows", pa.int64()),
        ("compressed_bytes", pa.int64()),
        ("uncompressed_bytes", pa.int64()),
        ("offset", pa.int64()),
        ("sorted_by", pa.string()),
        ("num_chunks", pa.int64()),
    ]
)
"""A row a row group: what its chunks add up to, where it begins, and the columns
that its rows are sorted by."""
MAX_WRITTEN_NODES: Final = 50_000
"""Nodes of a schema that is written as others write it."""
KEY, DELTA, SPARK, ARROW = "key", "delta", "spark", "arrow"
TEXT_SCHEMA: Final = pa.schema(
    [("kind", pa.string()), ("name", pa.string()), ("text", pa.large_string())]
)
"""Rows of kind `key` in the order of the footer, then one of each other kind; the name
of these is why there is none, if there is none."""


def group_batches(footer: ParquetFooter, sums: ChunkSums) -> Iterator[pa.RecordBatch]:
    """Yield the row groups of a footer as `GROUP_SCHEMA`."""
    nothing = (0, None)
    groups = footer.metadata.row_groups
    for first in range(0, max(len(groups), 1), GROUPS_A_BATCH):
        rows = [
            {
                "num_rows": count_of(group.num_rows),
                "uncompressed_bytes": count_of(group.total_byte_size),
                "compressed_bytes": sums.groups.get(number, nothing)[0],
                "offset": sums.groups.get(number, nothing)[1],
                "num_chunks": len(group.raw_columns),
                "sorted_by": _sorting(group, footer),
            }
            for number, group in enumerate(
                groups[first : first + GROUPS_A_BATCH], first
            )
        ]
        yield pa.RecordBatch.from_pylist(rows, GROUP_SCHEMA)


def _sorting(group: RowGroup, footer: ParquetFooter) -> str | None:
    """Source: parquet.thrift, "SortingColumn"."""
    names = []
    for column in list(group.sorting_columns or ())[:MAX_SORTING]:
        leaf = column.get("column_idx", -1)
        if not 0 <= leaf < len(footer.leaves):
            continue
        name = ".".join(footer.leaves[leaf].path)[:MAX_KEY_LENGTH]
        names.append(f"{name} descending" if column.get("descending") else name)
    return ", ".join(names) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedBytes:
    """Chunks of one codec or family of encodings, and their compressed bytes."""

    name: str
    bytes: int
    chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyValue:
    """A pair of the footer, cut; `length` is that of the whole value."""

    key: str
    length: int | None
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PathReason:
    """Why a column has no type of Delta."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """What a footer says of its file.

    Attributes:
        encryption: The encryption algorithm; null if the file is not encrypted.
        num_columns: The number of leaf columns; `num_nodes` also counts groups.
        codecs: The compression codecs, the one with the most bytes first.
        encodings: The encodings, the one with the most bytes first.
        column_orders: The column orders; null if the footer has none.
        delta_features: The table features that a Delta table with these columns needs.
        delta_reasons: The first reasons why a Delta table cannot have these columns.
    """

    size_bytes: int
    footer_bytes: int
    format_version: int
    created_by: str | None
    encryption: str | None
    num_rows: int | None
    num_row_groups: int
    num_columns: int
    num_nodes: int
    num_chunks: int
    compressed_bytes: int
    uncompressed_bytes: int
    codecs: tuple[NamedBytes, ...]
    encodings: tuple[NamedBytes, ...]
    column_orders: tuple[str, ...] | None
    warnings: tuple[str, ...]
    has_more_warnings: bool
    key_values: tuple[KeyValue, ...]
    num_key_values: int
    delta_features: tuple[str, ...]
    delta_reasons: tuple[PathReason, ...]
    num_delta_reasons: int


def file_facts(
    footer: ParquetFooter, types: NodeTypes, sums: ChunkSums, *, size_bytes: int
) -> FileFacts:
    """Return what a footer says of its file, in bounded parts."""
    metadata = footer.metadata
    columns = [sums.columns[leaf] for leaf in range(len(footer.leaves))]
    warnings = list(islice(footer_warnings(footer), MAX_WARNINGS + 1))
    reasons = islice(types.reasons.items(), MAX_REASONS)
    return FileFacts(
        size_bytes=size_bytes,
        footer_bytes=metadata.footer_length,
        format_version=metadata.version,
        created_by=(metadata.created_by or "")[:MAX_WRITER_LENGTH] or None,
        encryption=metadata.encryption,
        num_rows=count_of(metadata.num_rows),
        num_row_groups=len(metadata.row_groups),
        num_columns=len(footer.leaves),
        num_nodes=len(metadata.elements) - 1,
        num_chunks=sums.num_chunks,
        compressed_bytes=sum(column.compressed_bytes for column in columns),
        uncompressed_bytes=sum(column.uncompressed_bytes for column in columns),
        codecs=_largest(sums.codecs),
        encodings=_largest(sums.families),
        column_orders=None
        if metadata.column_orders is None
        else tuple(sorted(set(metadata.column_orders))),
        warnings=tuple(warnings[:MAX_WARNINGS]),
        has_more_warnings=len(warnings) > MAX_WARNINGS,
        key_values=tuple(
            KeyValue(
                key=key[:MAX_KEY_LENGTH],
                length=None if value is None else len(value),
                value=None if value is None else value[:MAX_VALUE_LENGTH],
            )
            for key, value in metadata.key_values[:MAX_KEYS]
        ),
        num_key_values=len(metadata.key_values),
        delta_features=tuple(types.features),
        delta_reasons=tuple(
            PathReason(path=".".join(path)[:MAX_WRITER_LENGTH], reason=reason)
            for path, reason in reasons
        ),
        num_delta_reasons=len(types.reasons),
    )


def _largest(sums: dict[str, list[int]]) -> tuple[NamedBytes, ...]:
    """Return sums, the most bytes first."""
    ordered = sorted(sums.items(), key=lambda entry: (-entry[1][0], entry[0]))
    return tuple(
        NamedBytes(name=name, bytes=size_bytes, chunks=chunks)
        for name, (size_bytes, chunks) in ordered[:MAX_KEYS]
    )


def text_batches(footer: ParquetFooter) -> Iterator[pa.RecordBatch]:
    """Yield the texts of a footer as `TEXT_SCHEMA`."""
    for key, value in footer.metadata.key_values:
        yield _text(KEY, key, value)
    if len(footer.metadata.elements) > MAX_WRITTEN_NODES:
        reason = f"it has more than {MAX_WRITTEN_NODES:,} nodes"
        for kind in (DELTA, SPARK, ARROW):
            yield _text(kind, reason, None)
        return
    yield _text(DELTA, *_delta(footer))
    yield _text(SPARK, *_spark(footer))
    yield _text(ARROW, *_arrow(footer))


def _text(kind: str, name: str, text: str | None) -> pa.RecordBatch:
    row = {"kind": kind, "name": name, "text": text}
    return pa.RecordBatch.from_pylist([row], TEXT_SCHEMA)


def _delta(footer: ParquetFooter) -> tuple[str, str | None]:
    made = convert(footer.root)
    if made.nullable is None:
        return problems_text(made.problems), None
    return "", json.dumps(made.nullable, indent=2, ensure_ascii=False)


def _spark(footer: ParquetFooter) -> tuple[str, str | None]:
    found = stored_schema(footer)
    if found is None:
        found, problems = convert_to_spark(footer.root)
        if found is None:
            return problems_text(problems), None
    return "", json.dumps(found, indent=2, ensure_ascii=False)


def _arrow(footer: ParquetFooter) -> tuple[str, str | None]:
    try:
        return "", str(arrow_schema(footer.root))
    except (pa.ArrowException, ValueError, OverflowError) as error:
        return f"Arrow has no such schema: {error}", None
