"""Which files two versions do not share: a page of them, and sums by partition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.grid import SHOWN_LENGTH, named_value
from apps.pages.lists.days import moment_of
from apps.pages.lists.paging import Paged, paged
from apps.pages.page_json import Named, OnPage, Spread
from apps.pages.request.parameters import QueryError
from apps.tables.work.diff_files import KIND, FileDiff
from deltaweb.delta.changes.row_codes import value_codes
from deltaweb.delta.log.file_actions import partition_map
from deltaweb.delta.protocol.schema import DataType
from deltaweb.index.files.distribution import partition_texts
from deltaweb.words import cut

ROWS_A_BATCH = 1_000
MAX_PARTITIONS = 8
KINDS = {
    "added": "added",
    "removed": "removed",
    "rewritten": "rewritten",
    "rewritten_into": "rewritten into",
}
NEW_KINDS = ("added", "rewritten_into")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that one of the versions lacks."""

    kind: str
    path: str
    size_bytes: Annotated[int, Named("size")]
    modified_at: datetime | None

    @property
    def word(self) -> str:
        """What happened to it."""
        return KINDS[self.kind]

    @property
    def is_new(self) -> bool:
        return self.kind in NEW_KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChange:
    """Files of a partition that came and went, and bars of at most half the width."""

    text: str
    num_added: int
    num_removed: int
    added_percent: float
    removed_percent: float

    @property
    def removed_x(self) -> float:
        """Where the bar of what went begins."""
        return 50.0 - self.removed_percent


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFilePage:
    """Some of the files, and how many there are."""

    files: Annotated[list[ChangedFile], Named("changed_files")]
    kind: OnPage[str]
    paged: Spread[Paged]
    facts: OnPage[FileDiff]


def changed_file_page(
    files: pa.Table, facts: FileDiff, *, kind: str, page: int
) -> ChangedFilePage:
    """Return a page of the files, of one kind or of all for ""."""
    matching = _of_kind(files, kind)
    place = paged(matching.num_rows, page)
    return ChangedFilePage(
        files=list(_files(matching[place.rows])),
        kind=kind,
        paged=place,
        facts=facts,
    )


def changed_file_rows(files: pa.Table, *, kind: str) -> Iterator[Sequence[object]]:
    """Yield the header and every file, as the CSV form shows them."""
    yield ["kind", "path", "size", "modified_at"]
    for file in _files(_of_kind(files, kind)):
        yield [file.kind, file.path, file.size_bytes, file.modified_at]


def partition_changes(
    files: pa.Table, columns: Sequence[tuple[str, DataType | None]] | None = None
) -> list[PartitionChange]:
    """Return the partitions with the most files that came or went.

    Args:
        files: `partition_values` by the names of columns, and what became of them.
        columns: The partition columns of both versions, and their types: partitions
            are told apart by their values then; None where texts count.
    """
    if not files.num_rows:
        return []
    values = files["partition_values"].combine_chunks()
    if columns is not None:
        values = _as_written(values, columns)
    codes = value_codes(values)
    is_new = pc.is_in(files[KIND], value_set=pa.array(NEW_KINDS)).to_numpy()
    added = np.bincount(codes[is_new], minlength=codes.max() + 1)
    removed = np.bincount(codes[~is_new], minlength=len(added))
    firsts = dict(zip(*np.unique(codes, return_index=True), strict=True))
    most = np.argsort(-(added + removed), kind="stable")[: MAX_PARTITIONS + 1]
    named = [
        (
            _partition_text(values[int(firsts[code])]),
            int(added[code]),
            int(removed[code]),
        )
        for code in most
        if code in firsts
    ]
    shown = [part for part in named if part[0]][:MAX_PARTITIONS]
    largest = max((max(part[1:]) for part in shown), default=1)
    return [
        PartitionChange(
            text=text,
            num_added=num_added,
            num_removed=num_removed,
            added_percent=round(48 * num_added / largest, 1),
            removed_percent=round(48 * num_removed / largest, 1),
        )
        for text, num_added, num_removed in shown
    ]


def _as_written(
    values: pa.MapArray, columns: Sequence[tuple[str, DataType | None]]
) -> pa.MapArray:
    """Return partition values with one text for each value."""
    texts = [partition_texts(values, name, kind) for name, kind in columns]
    names = [name for name, _ in columns]
    if not names:
        return values
    rows = pa.StructArray.from_arrays(texts, names=names)
    return partition_map(rows, frozenset(names))


def _partition_text(values: pa.MapScalar) -> str:
    """Return the values of a partition; nothing where a table has no partitions."""
    text = ", ".join(named_value(name, value) for name, value in values.as_py() or ())
    return cut(text, SHOWN_LENGTH)


def _of_kind(files: pa.Table, kind: str) -> pa.Table:
    if not kind:
        return files
    if kind not in KINDS:
        raise QueryError(part="kind", expected=f"one of {', '.join(KINDS)}")
    return files.filter(pc.equal(files[KIND], kind))


def _files(files: pa.Table) -> Iterator[ChangedFile]:
    for batch in files.to_batches(max_chunksize=ROWS_A_BATCH):
        for row in batch.drop_columns(["partition_values"]).to_pylist():
            yield ChangedFile(
                kind=row[KIND],
                path=row["path"],
                size_bytes=row["size"],
                modified_at=moment_of(row["modification_time"]),
            )
