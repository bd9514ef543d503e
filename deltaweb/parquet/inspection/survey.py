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

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyarrow as pa

from deltaweb.parquet.inspection.chunks import UNKNOWN, ChunkSums, count_of
from deltaweb.parquet.inspection.differences import (
    PARTITION,
    SurveyedColumn,
    column_differences,
    columns_of_schema,
    stored_type,
)
from deltaweb.parquet.inspection.nodes import node_types
from deltaweb.parquet.loading import ParquetFooter
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
        metadata = footer.metadata
        file = _File(path, size_bytes, max(count_of(metadata.num_rows) or 0, 0))
        sums = ChunkSums()
        ranges: Counter[int] = Counter()
        for number, group in enumerate(metadata.row_groups):
            for leaf, chunk in enumerate(group.chunks()):
                sums.add(number, leaf, chunk)
                ranges[leaf] += "min_value" in (chunk.statistics or {})
        made = defaultdict[SurveyKey, list[int]](lambda: [0, 0, 0])
        for key, *added in _of_chunks(footer, sums):
            made[key] = [a + b for a, b in zip(made[key], added, strict=True)]
        for key, (part_bytes, num_chunks, extra) in made.items():
            self._note(key, file._replace(size_bytes=part_bytes), num_chunks, extra)
        count = len(metadata.row_groups)
        writer = (metadata.created_by or UNKNOWN)[:MAX_NAME_LENGTH]
        self._note(SurveyKey("file"), file, count, metadata.footer_length)
        self._note(SurveyKey("writer", writer), file, count)
        for leaf, node in enumerate(footer.leaves):
            key = SurveyKey("type", _dotted(node), stored_type(node)[:MAX_NAME_LENGTH])
            self._note(key, file, count - ranges[leaf])
        found = columns_of_schema(footer.root, node_types(footer.root))
        for one in column_differences(self._columns, found):
            if one.relation == PARTITION:
                continue
            name = ".".join(one.path)[:MAX_NAME_LENGTH]
            stored, own = "", 0
            if one.of_file is not None:
                stored = one.of_file.stored[:MAX_NAME_LENGTH]
                leaves = one.of_file.leaves()
                own = sum(sums.columns[leaf].compressed_bytes for leaf in leaves)
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

    def _note(
        self, key: SurveyKey, file: "_File", count: int = 0, extra: int = 0
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


def _of_chunks(
    footer: ParquetFooter, sums: ChunkSums
) -> Iterator[tuple[SurveyKey, int, int, int]]:
    """Yield what a file has of codecs, encodings, columns, and sizes of row groups."""
    for kind, named in (("codec", sums.codecs), ("encoding", sums.families)):
        for name, (size_bytes, num_chunks) in named.items():
            yield SurveyKey(kind, name[:MAX_NAME_LENGTH]), size_bytes, num_chunks, 0
    for leaf, column in sums.columns.items():
        is_known = leaf < len(footer.leaves)
        name = _dotted(footer.leaves[leaf]) if is_known else f"column {leaf}"
        sizes = column.compressed_bytes, column.num_chunks, column.uncompressed_bytes
        yield SurveyKey("column", name), *sizes
    for number in range(len(footer.metadata.row_groups)):
        size_bytes, _ = sums.groups.get(number, (0, None))
        power = max(size_bytes, 1).bit_length() - 1
        yield SurveyKey("group_size", str(1 << power)), size_bytes, 1, 0


def _dotted(node: Node) -> str:
    return ".".join(node.path)[:MAX_NAME_LENGTH]
