"""What many files really hold, added up: writers, codecs, types, and what differs.

A file becomes a few rows of sums, each under a kind, a name and a detail; the sums of
many files are as few rows as there are different names, so that nothing grows with the
files. Tasks add up what they read, and their rows add up the same way.

    kind        name                    detail                  count       extra_bytes
    file                                                        row groups  of footers
    writer      created_by                                      row groups
    codec       its name                                        chunks
    encoding    words, as a page has it                         chunks
    group_size  power of two, in bytes                          row groups
    column      dotted path                                     chunks      uncompressed
    type        dotted path             as stored               without ranges
    difference  dotted path in the table   stored type                of the column
    unreadable  code of the error       its sentence
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyarrow as pa

from deltaweb.parquet.inspection.chunks import count_of, encoding_family
from deltaweb.parquet.inspection.differences import (
    PARTITION,
    SurveyedColumn,
    column_differences,
)
from deltaweb.parquet.inspection.file_columns import columns_of_schema, stored_type
from deltaweb.parquet.inspection.node_types import node_types
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.metadata import ColumnChunk
from deltaweb.parquet.schema import Node

MAX_KEYS: Final = 50_000
"""Different rows that sums hold; what comes then is added up as `more`."""
MAX_NAME_LENGTH: Final = 300
SURVEY_SCHEMA: Final = pa.schema(
    [
        ("kind", pa.string()),
        ("name", pa.string()),
        ("detail", pa.string()),
        ("relation", pa.string()),
        ("files", pa.int64()),
        ("bytes", pa.int64()),
        ("rows", pa.int64()),
        ("count", pa.int64()),
        ("extra_bytes", pa.int64()),
        ("example", pa.string()),
    ]
)


class SurveyKey(NamedTuple):
    """What is added up together."""

    kind: str
    name: str = ""
    detail: str = ""
    relation: str = ""


@dataclass(slots=True)
class _Sum:
    files: int = 0
    size_bytes: int = 0
    rows: int = 0
    count: int = 0
    extra_bytes: int = 0
    example: str = ""


class Survey:
    """The sums of some files.

    Args:
        columns: Of the table; its files are held against them.
    """

    def __init__(self, columns: Sequence[SurveyedColumn]) -> None:
        self._columns = columns
        self._sums: dict[SurveyKey, _Sum] = {}

    def add(self, path: str, size_bytes: int, footer: ParquetFooter) -> None:
        """Add a file up.

        Raises:
            FooterCorruptError: If one of its column chunks is none.
        """
        rows = max(count_of(footer.metadata.num_rows) or 0, 0)
        file = _File(path, size_bytes, rows)
        groups = footer.metadata.row_groups
        made: dict[SurveyKey, _Sum] = {}
        ranges = [0] * len(footer.leaves)
        leaf_bytes = [0] * len(footer.leaves)
        for group in groups:
            group_bytes = 0
            for leaf, raw in enumerate(group.raw_columns):
                chunk = ColumnChunk(raw.get("metadata", {}), raw)
                group_bytes += _chunk_bytes(chunk)
                if leaf < len(leaf_bytes):
                    leaf_bytes[leaf] += _chunk_bytes(chunk)
                _add_chunk(made, chunk, leaf, footer)
                statistics = chunk.statistics or {}
                if leaf < len(ranges) and "min_value" in statistics:
                    ranges[leaf] += 1
            power = max(group_bytes, 1).bit_length() - 1
            size = made.setdefault(SurveyKey("group_size", str(1 << power)), _Sum())
            size.count += 1
            size.size_bytes += group_bytes
        for entry in made.values():
            entry.files = 1
        self._merge(made, file)
        footer_bytes = footer.metadata.footer_length
        writer = (footer.metadata.created_by or "not told")[:MAX_NAME_LENGTH]
        self._note(SurveyKey("file"), file, count=len(groups), extra=footer_bytes)
        self._note(SurveyKey("writer", writer), file, count=len(groups))
        for leaf, node in enumerate(footer.leaves):
            key = SurveyKey("type", _dotted(node), _stored(node))
            self._note(key, file, count=len(groups) - ranges[leaf])
        found = columns_of_schema(footer.root, node_types(footer.root))
        for one in column_differences(self._columns, found):
            if one.relation == PARTITION:
                continue
            name = ".".join(one.path)[:MAX_NAME_LENGTH]
            found_node = None if one.of_file is None else one.of_file.node
            stored = "" if found_node is None else _stored(found_node)
            leaves = () if found_node is None else found_node.leaves()
            own = sum(leaf_bytes[leaf.leaf or 0] for leaf in leaves)
            key = SurveyKey("difference", name, stored, one.relation)
            self._note(key, file, extra=own)

    def add_unreadable(self, path: str, size_bytes: int, code: str, why: str) -> None:
        """Add up a file whose footer does not read."""
        key = SurveyKey("unreadable", code, why[:MAX_NAME_LENGTH])
        self._note(key, _File(path, size_bytes, 0))

    def batch(self) -> pa.RecordBatch:
        """Return the sums as `SURVEY_SCHEMA`."""
        rows = [
            {
                **key._asdict(),
                "files": one.files,
                "bytes": one.size_bytes,
                "rows": one.rows,
                "count": one.count,
                "extra_bytes": one.extra_bytes,
                "example": one.example,
            }
            for key, one in self._sums.items()
        ]
        return pa.RecordBatch.from_pylist(rows, SURVEY_SCHEMA)

    def _merge(self, made: Mapping[SurveyKey, _Sum], file: "_File") -> None:
        for key, one in made.items():
            whole = self._at(key, file)
            whole.files += one.files
            whole.size_bytes += one.size_bytes
            whole.rows += file.rows
            whole.count += one.count
            whole.extra_bytes += one.extra_bytes

    def _note(
        self, key: SurveyKey, file: "_File", *, count: int = 0, extra: int = 0
    ) -> None:
        whole = self._at(key, file)
        whole.files += 1
        whole.size_bytes += file.size_bytes
        whole.rows += file.rows
        whole.count += count
        whole.extra_bytes += extra

    def _at(self, key: SurveyKey, file: "_File") -> _Sum:
        found = self._sums.get(key)
        if found is None:
            if len(self._sums) >= MAX_KEYS:
                key = SurveyKey("more", key.kind)
            found = self._sums.setdefault(key, _Sum(example=file.path))
        return found


class _File(NamedTuple):
    path: str
    size_bytes: int
    rows: int


def _chunk_bytes(chunk: ColumnChunk) -> int:
    return max(count_of(chunk.values.get("total_compressed_size")) or 0, 0)


def _add_chunk(
    made: dict[SurveyKey, _Sum], chunk: ColumnChunk, leaf: int, footer: ParquetFooter
) -> None:
    size_bytes = _chunk_bytes(chunk)
    whole = count_of(chunk.values.get("total_uncompressed_size")) or 0
    is_known = leaf < len(footer.leaves)
    path = _dotted(footer.leaves[leaf]) if is_known else f"column {leaf}"
    for key in (
        SurveyKey("codec", chunk.codec or "not told"),
        SurveyKey("encoding", encoding_family(chunk)[:MAX_NAME_LENGTH]),
        SurveyKey("column", path),
    ):
        entry = made.setdefault(key, _Sum())
        entry.count += 1
        entry.size_bytes += size_bytes
        entry.extra_bytes += max(whole, 0)


def _stored(node: Node) -> str:
    return stored_type(node)[:MAX_NAME_LENGTH]


def _dotted(node: Node) -> str:
    return ".".join(node.path)[:MAX_NAME_LENGTH]
