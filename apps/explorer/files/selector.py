"""The files of a version: a page of them, sorted and filtered by Arrow compute.

The newest version's files come from the memory-mapped index, an older version's from
the result of a job; neither ever becomes a list of Python objects but for one page.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.files.form import FileFilter
from apps.explorer.grid import (
    MAX_PATH_LENGTH,
    are_long,
    chunk_length,
    cut_texts,
)
from apps.pages.lists.days import moment_of
from apps.pages.lists.paging import Paged, paged
from apps.pages.page_json import As, Named, OnPage, Spread
from apps.pages.request.parameters import QueryError
from apps.tables.models import Table
from deltaweb.delta.protocol.schema import StructType
from deltaweb.index.files.distribution import partition_texts, type_of, written_value
from deltaweb.index.folder.file_index import DELETED_ROWS

CSV_CHUNK = 5000
SMALL_SHARE = 4  # a file is small below a quarter of the target
# Where the value of a sort key is, and whether a file may be without it.
SORT_COLUMNS = {
    "path": "path",
    "size": "size",
    "rows": "num_records",
    "modified": "modification_time",
    "masked": DELETED_ROWS,
}


Values = tuple[tuple[str, str | None], ...]
"""Columns and values as the log writes them; None is null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """A file of the list; None is what the log does not tell.

    `num_records` are its live rows, `deleted_rows` those that its vector hides. A path
    that is cut is no address of the file.
    """

    path: str
    partition: Annotated[Values, Named("partition_values"), As(dict)]
    size_bytes: Annotated[int, Named("size")]
    num_records: int | None
    modified_at: datetime | None
    deleted_rows: int | None = 0
    is_cut: OnPage[bool] = False

    @property
    def masked_percent(self) -> float | None:
        """How many of its rows a vector hides, in percent; None where unknown."""
        if self.num_records is None or self.deleted_rows is None:
            return None
        rows = self.num_records + self.deleted_rows
        return self.deleted_rows * 100 / rows if rows else None

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """What the path says before the name, where no partition value says it."""
        return "" if self.partition else self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePage:
    """Some files, and how many there are."""

    files: list[ListedFile] = field(default_factory=list)
    paged: Spread[Paged]
    num_files: int
    matching_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionShare:
    """A partition and what it holds; `percent` is of the largest one shown."""

    values: Annotated[Values, As(dict)]
    num_files: Annotated[int, Named("files")]
    size_bytes: Annotated[int, Named("bytes")]
    num_records: Annotated[int | None, Named("rows")]
    percent: OnPage[float]

    @property
    def average_bytes(self) -> int:
        return self.size_bytes // self.num_files if self.num_files else 0


def matching_files(
    files: pa.Table,
    wanted: FileFilter,
    partition_columns: Sequence[str],
    schema: StructType | None = None,
) -> pa.Table:
    """Return the files that pass a filter, in the order of the index.

    Args:
        schema: Its columns: partitions are found by their values then, whatever the
            text of these; None where they are not known.
    """
    conditions = [
        _partition_mask(files, column, value, partition_columns, schema)
        for column, value in wanted.partitions
    ]
    if wanted.min_size_bytes is not None:
        conditions.append(pc.greater_equal(files["size"], wanted.min_size_bytes))
    if wanted.max_size_bytes is not None:
        conditions.append(pc.less_equal(files["size"], wanted.max_size_bytes))
    if wanted.has_stats is not None:
        conditions.append(_stats_mask(files, has_stats=wanted.has_stats))
    if wanted.has_vector is not None:
        conditions.append(_vector_mask(files, has_vector=wanted.has_vector))
    if not conditions:
        return files
    mask = conditions[0]
    for condition in conditions[1:]:
        mask = pc.and_(mask, condition)
    return files.filter(mask)


def file_page(
    files: pa.Table,
    wanted: FileFilter,
    partition_columns: Sequence[str],
    schema: StructType | None = None,
) -> FilePage:
    """Return one page of the files that pass a filter.

    Args:
        files: `path`, `size`, `modification_time` (ms), `partition_values` and, where
            known, `num_records`.
    """
    matching = matching_files(files, wanted, partition_columns, schema)
    place = paged(matching.num_rows, wanted.page)
    chosen = _ordered(matching, wanted.sort, place.last)
    return FilePage(
        files=list(_listed(matching, chosen[place.rows])),
        paged=place,
        num_files=files.num_rows,
        matching_bytes=pc.sum(matching["size"]).as_py() or 0,
    )


def file_rows(
    files: pa.Table,
    wanted: FileFilter,
    partition_columns: Sequence[str],
    schema: StructType | None = None,
) -> Iterator[list[object]]:
    """Yield the header and every file of a filter, as the CSV form shows them."""
    matching = matching_files(files, wanted, partition_columns, schema)
    order = _ordered(matching, wanted.sort, matching.num_rows)
    has_vectors = DELETED_ROWS in files.column_names
    names = ["size", "num_records", "modified_at", DELETED_ROWS][: 3 + has_vectors]
    yield ["path", *partition_columns, *names]
    length = chunk_length(matching, CSV_CHUNK)
    for start in range(0, len(order), length):
        for file in _listed(matching, order[start : start + length], is_whole=True):
            values = dict(file.partition)
            yield [
                file.path,
                *(values.get(column) for column in partition_columns),
                file.size_bytes,
                file.num_records,
                file.modified_at,
                *([file.deleted_rows] if has_vectors else []),
            ]


def partition_shares(
    table: Table, partition_columns: Sequence[str]
) -> list[PartitionShare]:
    """Return the largest partitions of the newest version, the largest first.

    Args:
        partition_columns: In the order of the values; databases do not keep one.
    """
    entries = table.summary.get("partitions")
    shares = [
        entry
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and entry.get("values")
    ]
    largest = max((entry["bytes"] for entry in shares), default=0) or 1
    return [
        PartitionShare(
            values=tuple(
                (column, entry["values"][column])
                for column in partition_columns
                if column in entry["values"]
            ),
            num_files=entry["files"],
            size_bytes=entry["bytes"],
            num_records=entry.get("rows"),
            percent=round(100 * entry["bytes"] / largest, 1),
        )
        for entry in shares
    ]


def _partition_mask(
    files: pa.Table,
    column: str,
    value: str | None,
    partition_columns: Sequence[str],
    schema: StructType | None,
) -> pa.ChunkedArray:
    if column not in partition_columns:
        known = ", ".join(partition_columns) or "none: the table is not partitioned"
        raise QueryError(part="partition", expected=f"a partition column ({known})")
    kind = type_of(schema, column)
    written = partition_texts(files["partition_values"], column, kind)
    # The specification takes an empty string for null.
    asked = written_value(value or None, kind)
    if asked is None:
        return pc.is_null(written)
    return pc.fill_null(pc.equal(written, asked), fill_value=False)


def _stats_mask(files: pa.Table, *, has_stats: bool) -> pa.ChunkedArray:
    """Mark the files that do, or do not, tell how many rows they have."""
    if "num_records" not in files.column_names:
        return pa.chunked_array([pa.repeat(not has_stats, files.num_rows)])
    records = files["num_records"]
    return pc.is_valid(records) if has_stats else pc.is_null(records)


def _vector_mask(files: pa.Table, *, has_vector: bool) -> pa.ChunkedArray:
    """Mark the files that do, or do not, have a deletion vector."""
    if DELETED_ROWS not in files.column_names:
        return pa.chunked_array([pa.repeat(not has_vector, files.num_rows)])
    # Null is the count of a vector that does not tell.
    is_masked = pc.fill_null(pc.not_equal(files[DELETED_ROWS], 0), fill_value=True)
    return is_masked if has_vector else pc.invert(is_masked)


def _ordered(files: pa.Table, sort: str, length: int) -> pa.Array:
    """Return the places of the first `length` files in the order asked for."""
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    column = SORT_COLUMNS.get(key)
    if column is None:
        known = ", ".join(SORT_COLUMNS)
        raise QueryError(
            part="sort", expected=f"one of {known}, with - in front for descending"
        )
    if column not in files.column_names:
        column = "path"
    order = "descending" if descending else "ascending"
    keys = [(column, order)]
    if column != "path":
        keys.append(("path", "ascending"))
    if length < files.num_rows // 4 and not files[column].null_count:
        return pc.select_k_unstable(files, length, keys)
    return pc.sort_indices(files, keys)


def _listed(
    matching: pa.Table, places: pa.Array, *, is_whole: bool = False
) -> Iterator[ListedFile]:
    """Yield the files at some places; long values are cut, or whole if asked."""
    values = [
        _pairs(matching["partition_values"], place, is_whole=is_whole)
        for place in places.to_pylist()
    ]
    names = [name for name in matching.column_names if name != "partition_values"]
    files = matching.select(names).take(places)
    are_cut = [False] * len(files)
    if not is_whole:
        are_cut = are_long(files["path"], MAX_PATH_LENGTH).to_pylist()
        paths = cut_texts(files["path"], MAX_PATH_LENGTH)
        files = files.set_column(files.column_names.index("path"), "path", paths)
    has_records = "num_records" in files.column_names
    records = files["num_records"].to_pylist() if has_records else [None] * len(files)
    has_vectors = DELETED_ROWS in files.column_names
    deleted = files[DELETED_ROWS].to_pylist() if has_vectors else [0] * len(files)
    rows = zip(
        files["path"].to_pylist(),
        files["size"].to_pylist(),
        files["modification_time"].to_pylist(),
        values,
        records,
        deleted,
        are_cut,
        strict=True,
    )
    for (
        path,
        size_bytes,
        modified,
        partition,
        num_records,
        deleted_rows,
        is_cut,
    ) in rows:
        yield ListedFile(
            path=path,
            partition=partition,
            size_bytes=size_bytes,
            num_records=num_records,
            modified_at=moment_of(modified),
            deleted_rows=deleted_rows,
            is_cut=is_cut,
        )


def _pairs(
    values: pa.ChunkedArray, place: int, *, is_whole: bool
) -> tuple[tuple[str, str | None], ...]:
    """Return the partition values of one file; of long ones no copy is made to cut."""
    entries = values[place].values
    if entries is None:
        return ()
    names, texts = entries.field(0), entries.field(1)
    texts = texts if is_whole else cut_texts(texts)
    return tuple(zip(names.to_pylist(), texts.to_pylist(), strict=True))
