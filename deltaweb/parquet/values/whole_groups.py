"""All rows of a row group, or an error that counts those that are missing.

pyarrow ends a reading without an error as soon as every column, or one of them at the
end of a batch, has no more values. So the rows are counted here and compared with the
footer, and so are the values of lists and maps: levels that are damaged can divide a
row or join two.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Final, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.parquet.errors import RowsMissingError
from deltaweb.parquet.values.dictionaries import StoredChunk, StoredChunks
from deltaweb.parquet.values.empty_pages import without_empty_pages

Batches: TypeAlias = Iterator[pa.RecordBatch]
ReadBatches: TypeAlias = Callable[[pa.NativeFile], Batches]
"""Reads some columns of a row group from an open file, batch by batch."""
_LISTS: Final = (pa.ListType, pa.LargeListType, pa.FixedSizeListType, pa.MapType)
_NESTED: Final = (pa.StructType, *_LISTS)


@dataclass(frozen=True, slots=True)
class LeafColumns:
    """The positions of the leaf columns that the columns of a file have.

    Attributes:
        leaves: Those of each column; of no column if they are not known.
        lists: Those of each column that has a list or a map in it.
    """

    leaves: Mapping[str, range]
    lists: Mapping[str, range]

    @classmethod
    def of(cls, fields: Sequence[pa.Field], num_columns: int | None = None) -> Self:
        """Return the positions in a file with some columns.

        Args:
            num_columns: The leaf columns that the file has; None if `fields` are sure
                to have as many.
        """
        counts = [_num_leaves(field.type) for field in fields]
        names = [field.name for field in fields]
        if num_columns not in {None, sum(counts)} or len(set(names)) < len(names):
            return cls({}, {})
        places = pairwise(accumulate(counts, initial=0))
        leaves = {name: range(*ends) for name, ends in zip(names, places, strict=True)}
        nested = [field.name for field in fields if _has_list(field.type)]
        return cls(leaves, {name: leaves[name] for name in nested})


class WholeGroups:
    """The row groups of a file, each read with all of its rows."""

    def __init__(
        self,
        chunks: StoredChunks,
        metadata: pq.FileMetaData,
        columns: "LeafColumns",
        source: pa.NativeFile,
    ) -> None:
        self._chunks = chunks
        self._metadata = metadata
        self._columns = columns
        self._source = source

    @cached_property
    def num_rows(self) -> list[int]:
        """The rows of each row group, by the footer.

        Raises:
            RowsMissingError: If they are not the rows of the file together.
        """
        metadata = self._metadata
        groups = range(metadata.num_row_groups)
        counts = [int(metadata.row_group(group).num_rows) for group in groups]
        if sum(counts) != metadata.num_rows or min(counts, default=0) < 0:
            raise RowsMissingError(
                reason=f"the footer says {metadata.num_rows:,} rows, but"
                f" the row groups have {sum(counts):,}"
            )
        return counts

    def batches(
        self, row_group: int, names: Iterable[str], read: ReadBatches
    ) -> Batches:
        """Yield what is read of a row group.

        Args:
            names: The columns that are read.

        Raises:
            RowsMissingError: At the end, if these are not all rows of the row group.
        """
        wanted = self.num_rows[row_group]
        names, lists = list(names), self._columns.lists
        slots = _Slots({name: lists[name] for name in names if name in lists})
        fault: Exception | None = None
        num_rows = 0
        try:
            for batch in read(self._source):
                num_rows += batch.num_rows
                slots.add(batch)
                yield batch
        except (pa.ArrowException, OSError) as error:
            fault = error
        if fault is not None or num_rows < wanted:
            filled = without_empty_pages(self._source, self._stored(row_group, names))
            if filled is None and fault is not None:
                raise fault
            rest = () if filled is None else _rest(read(filled), num_rows)
            for batch in rest:
                num_rows += batch.num_rows
                slots.add(batch)
                yield batch
        if num_rows != wanted:
            raise _missing(row_group, wanted, num_rows)
        self._check(slots, [row_group])

    def check(self, rows: pa.Table) -> None:
        """Check that a table has all rows of all row groups.

        Args:
            rows: All columns.

        Raises:
            RowsMissingError: If it has not.
        """
        wanted = sum(self.num_rows)
        if rows.num_rows != wanted:
            raise RowsMissingError(
                reason=f"its row groups have {wanted:,} rows, but their pages have"
                f" {rows.num_rows:,}"
            )
        if self._columns.lists:
            slots = _Slots(self._columns.lists)
            slots.add(rows)
            self._check(slots, range(len(self.num_rows)))

    def _check(self, slots: "_Slots", row_groups: Iterable[int]) -> None:
        """Check that lists and maps have as many values as the footer counts."""
        for leaf, found in slots.by_leaf.items():
            chunks = [self._chunks.of(group, leaf) for group in row_groups]
            wanted = sum(chunk.num_values for chunk in chunks)
            if found != wanted:
                raise RowsMissingError(
                    reason=f"column {chunks[0].path} has {wanted:,} values, but its"
                    f" rows have {found:,}"
                )

    def _stored(self, row_group: int, names: Sequence[str]) -> list[StoredChunk]:
        leaves = self._columns.leaves
        ranges = [leaves[name] for name in names if name in leaves]
        return [self._chunks.of(row_group, leaf) for some in ranges for leaf in some]


def _missing(row_group: int, wanted: int, found: int) -> RowsMissingError:
    reason = f"row group {row_group} has {wanted:,} rows, but its pages have {found:,}"
    return RowsMissingError(reason=reason)


def _rest(batches: Batches, done: int) -> Batches:
    """Yield batches from a row on."""
    for batch in batches:
        if done < batch.num_rows:
            yield batch.slice(done)
        done = max(0, done - batch.num_rows)


# === Values of lists and maps ===


class _Slots:
    """Counts the values that leaf columns of lists and maps have.

    A list that is null or empty counts as one, as it does in Parquet.

    Attributes:
        by_leaf: The count of each leaf column so far.
    """

    def __init__(self, leaves: Mapping[str, range]) -> None:
        self._leaves = leaves
        self.by_leaf = {leaf: 0 for some in leaves.values() for leaf in some}

    def add(self, rows: pa.RecordBatch | pa.Table) -> None:
        for name, leaves in self._leaves.items():
            column = rows.column(name)
            for values in column.chunks if isinstance(rows, pa.Table) else (column,):
                for leaf, count in zip(leaves, _slots(values), strict=True):
                    self.by_leaf[leaf] += count


def _slots(values: pa.Array) -> list[int]:
    """Return how many values the leaf columns of some values have, in their order."""
    if isinstance(values, pa.StructArray):
        parts = [values.field(place) for place in range(values.type.num_fields)]
        return [count for part in parts for count in _slots(part)]
    if isinstance(values, pa.FixedSizeListArray):
        num_empty, inner = values.null_count, values.flatten()
        return [num_empty + count for count in _slots(inner)]
    if not isinstance(values, pa.ListArray | pa.LargeListArray):
        return [len(values)]
    # A list that is null has no values here: Parquet has none to decode.
    ends = values.offsets.to_numpy()
    num_empty = len(values) - int(np.count_nonzero(ends[1:] != ends[:-1]))
    inner = values.values[ends[0] : ends[-1]]
    return [num_empty + count for count in _slots(inner)]


def _num_leaves(kind: pa.DataType) -> int:
    return sum(map(_num_leaves, _children(kind))) if isinstance(kind, _NESTED) else 1


def _has_list(kind: pa.DataType) -> bool:
    return isinstance(kind, _LISTS) or any(map(_has_list, _children(kind)))


def _children(kind: pa.DataType) -> list[pa.DataType]:
    if not isinstance(kind, _NESTED):
        return []
    return [kind.field(place).type for place in range(kind.num_fields)]
