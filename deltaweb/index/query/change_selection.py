"""The files with the changes of a range of versions, as recipients are offered them.

Source: delta_sharing_protocol_2026.md, "Read Change Data Feed from a Table".
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import PartitionValueError, PredicateError
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.protocol.schema import StructField, StructType, type_text
from deltaweb.delta.scan.row_condition import RowCondition
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.values.whole import exact_sum
from deltaweb.index.query.file_selection import ROWS_A_BATCH
from deltaweb.index.query.partition_match import rows_where_true, type_values
from deltaweb.index.query.relative_paths import (
    find_outside,
    relative_paths,
    vector_paths,
)
from deltaweb.storage.location import is_local

_ROW: Final = "row"


@dataclass(slots=True)
class ChangeFacts:
    """What is known of all files of a selection once each was looked at.

    Attributes:
        total_files: Count of all, before the filter.
        outside: The path of one that is not below the table's root, if any.
        missing: The version of one that is not in storage, if any; of object storage
            nothing is known.
    """

    num_files: int = 0
    total_files: int = 0
    size_bytes: int = 0
    has_deletion_vectors: bool = False
    outside: str | None = None
    missing: int | None = None


class Changes(Protocol):
    """The files of a range: of `FeedFiles`, what matters here."""

    @property
    def definitions(self) -> Sequence[Definition]:
        """What holds at the first version, and at each that changes it."""

    def batches(self, first: int | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the files from a version on, those of one version together."""


@dataclass(frozen=True, slots=True)
class ChangePlace:
    """Where a page of changes begins.

    Attributes:
        version: The version of its first file.
        offset: How many files of that version are before it, offered or not.
    """

    version: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class HeldChanges:
    """Some files of a range, read already, in the order of their versions."""

    definitions: Sequence[Definition]
    held: Sequence[pa.RecordBatch]

    def batches(self, first: int | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the files from a version on."""
        for batch in self.held:
            yield (
                batch
                if first is None
                else batch.filter(pc.greater_equal(batch["version"], first))
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSelection:
    """The files of a range that are shared.

    Attributes:
        partition_filter: Enforced: only files whose partition values make it true are
            offered.
        reads_removed: Whether a reader opens files that were removed.
    """

    changes: Changes
    root: str
    schema: StructType
    partition_filter: RowCondition | None = None
    reads_removed: bool = True
    _columns: list[StructField] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_columns", self._filter_columns())

    def facts(self) -> ChangeFacts:
        """Look at every file of the range once."""
        facts = ChangeFacts()
        for whole in self.changes.batches():
            batch = self._offered(whole)
            facts.total_files += whole.num_rows
            facts.num_files += batch.num_rows
            facts.size_bytes += exact_sum(batch["size"])
            facts.has_deletion_vectors |= batch[VECTOR].null_count < batch.num_rows
            facts.outside = facts.outside or find_outside(batch["path"], self.root)
            if facts.outside is None and facts.missing is None and is_local(self.root):
                facts.missing = self._missing(batch)
        return facts

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the files in batches of at most `ROWS_A_BATCH` rows.

        Columns: those of `FEED_FILES_SCHEMA`, relative_path and
        relative_vector_path as `FileSelection.batches` has them.
        """
        for whole in self.changes.batches():
            offered = _with_sizes(self._offered(whole))
            for first in range(0, offered.num_rows, ROWS_A_BATCH):
                batch = offered.slice(first, ROWS_A_BATCH)
                paths = relative_paths(batch["path"], self.root)
                vectors = vector_paths(batch["path"], batch[VECTOR], self.root)
                yield batch.append_column("relative_path", paths).append_column(
                    "relative_vector_path", vectors
                )

    def page(
        self, place: ChangePlace, max_files: int
    ) -> tuple["ChangeSelection", ChangePlace | None]:
        """Return the files that follow a place, and where the page after them begins.

        They are held in memory. The place is None where no file is left.
        """
        held: list[pa.RecordBatch] = []
        following, offset, room = None, place.offset, max_files
        for whole in self.changes.batches(place.version):
            rows = pa.array(np.arange(whole.num_rows))
            offered = self._offered(whole.append_column(_ROW, rows))
            offered = _with_sizes(offered)
            after = pc.greater_equal(offered[_ROW], offset)
            offered, offset = offered.filter(after), 0
            if offered.num_rows > room:
                following = _place_of(whole, offered[_ROW][room].as_py())
                offered = offered.slice(0, room)
            held.append(offered.drop_columns([_ROW]))
            room -= offered.num_rows
            if following is not None:
                break
        changes = HeldChanges(self.changes.definitions, held)
        return replace(self, changes=changes), following

    def _offered(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        condition = self.partition_filter
        if condition is None or not batch.num_rows:
            return batch
        values = {}
        for column in self._columns:
            typed = type_values(batch["partition_values"], column)
            if typed.bad is not None and typed.bad.any():
                at = int(typed.bad.argmax())
                texts = dict(batch["partition_values"][at].as_py() or ())
                raise PartitionValueError(
                    path=batch["path"][at].as_py(),
                    column=column.name,
                    value=texts.get(column.stored_name) or "",
                    type_name=type_text(column.data_type),
                )
            values[column.name] = typed.values
        return batch.filter(
            pa.array(rows_where_true(condition, values, batch.num_rows))
        )

    def _filter_columns(self) -> list[StructField]:
        if self.partition_filter is None:
            return []
        columns = []
        for name in sorted(self.partition_filter.names):
            found = self.schema.find(name)
            is_partition = all(
                name in at.metadata.partition_columns and found == _column(at, name)
                for at in self.changes.definitions
            )
            if found is None or not is_partition:
                reason = f"the table is not always partitioned by the same {name!r}"
                raise PredicateError(reason=reason)
            columns.append(found)
        return columns

    def _missing(self, batch: pa.RecordBatch) -> int | None:
        """Return the version of the first file that is gone, if one is."""
        if not self.reads_removed:
            batch = batch.filter(pc.not_equal(batch["kind"], "remove"))
        paths = relative_paths(batch["path"], self.root).to_pylist()
        for path, version in zip(paths, batch["version"], strict=True):
            if not os.path.lexists(os.path.join(self.root, path)):  # noqa: PTH118 (of a million paths)
                return int(version.as_py())
        return None


def _place_of(batch: pa.RecordBatch, row: int) -> ChangePlace:
    versions = batch["version"].to_numpy()
    first = int(np.searchsorted(versions, versions[row]))
    return ChangePlace(int(versions[row]), row - first)


def _column(at: Definition, name: str) -> StructField | None:
    return table_schema(at.protocol, at.metadata).find(name)


def _with_sizes(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return files with the size of the same file where an action does not say it.

    A reader finds the two actions of a file together by its URL, which names the size.
    """
    sizes = batch["size"]
    if not sizes.null_count:
        return batch
    known = batch.filter(sizes.is_valid())
    found = pc.index_in(batch["path"], value_set=known["path"])
    return batch.set_column(
        batch.schema.get_field_index("size"),
        "size",
        pc.coalesce(sizes, known["size"].take(found), pa.scalar(0, pa.int64())),
    )
