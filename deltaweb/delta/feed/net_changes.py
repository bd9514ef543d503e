"""What the changes of a version leave once rows that go and come again are taken away.

To somebody who sees a part of a table, an update of what is hidden is no change: its
two rows are equal. And a row that an update moves out of the part is one that goes.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.bucket_diff import Indices, diff_bucket
from deltaweb.delta.changes.buckets import RowBuckets, RowLimits
from deltaweb.delta.changes.row_changes import CHANGE_TYPE, ChangeType

NUMBER: Final = "_deltaweb_file"
POSITION: Final = "_deltaweb_position"
PLACES: Final = pa.schema([(NUMBER, pa.int64()), (POSITION, pa.int64())])
"""Where a row was read: the number of its file, and which of the rows there it is."""
Kept = Mapping[int, Indices]
"""Positions of rows by the number of their file, in order."""

_COMING: Final = pa.array([ChangeType.INSERT.value, ChangeType.UPDATE_AFTER.value])


def as_going_and_coming(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows of a feed whose `_change_type` is `delete` or `insert` alone."""
    kinds = pc.if_else(
        pc.is_in(rows[CHANGE_TYPE], value_set=_COMING),
        ChangeType.INSERT.value,
        ChangeType.DELETE.value,
    )
    place = rows.schema.get_field_index(CHANGE_TYPE)
    return rows.set_column(place, rows.schema.field(place), kinds)


class NetChanges:
    """Takes the rows of one version, and tells which of them are changes.

    Args:
        limits: What the rows may take of memory, and of files beyond it.
    """

    def __init__(self, schema: pa.Schema, limits: RowLimits | None = None) -> None:
        self._names = schema.names
        placed = pa.schema([*schema, *PLACES])
        self._rows = RowBuckets(placed, schema.names, limits or RowLimits())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._rows.close()

    def add(self, rows: pa.Table) -> None:
        """Take rows as `as_going_and_coming` returns them, with `PLACES`."""
        comes = pc.equal(rows[CHANGE_TYPE], ChangeType.INSERT.value)
        for side, chosen in enumerate((pc.invert(comes), comes)):
            self._rows.add(side, rows.filter(chosen).drop_columns([CHANGE_TYPE]))

    def places(self) -> Iterator[pa.Table]:
        """Yield where those are that do not go and come again, by `PLACES`."""
        for sides in self._rows.buckets():
            # Of equal rows the same ones stay, in whatever order they were added.
            going, coming = (
                rows.sort_by([(name, "ascending") for name in PLACES.names])
                for rows in sides
            )
            found = diff_bucket(going.select(self._names), coming.select(self._names))
            for rows, left in ((going, found.deleted), (coming, found.inserted)):
                yield rows.select(PLACES.names).take(pa.array(left))


def by_file(places: Iterable[pa.Table]) -> dict[int, Indices]:
    """Return places by file, in order."""
    found = pa.concat_tables([PLACES.empty_table(), *places])
    numbers, positions = (found[name].to_numpy() for name in PLACES.names)
    order = np.lexsort((positions, numbers))
    numbers, positions = numbers[order], positions[order]
    known, firsts = np.unique(numbers, return_index=True)
    return dict(zip(known.tolist(), np.split(positions, firsts)[1:], strict=True))
