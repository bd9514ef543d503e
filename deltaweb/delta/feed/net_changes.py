"""What the changes of a version leave once rows that go and come again are taken away.

To somebody who sees a part of a table, an update of what is hidden is no change: its
two rows are equal. And a row that an update moves out of the part is one that goes.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.row_changes import CHANGE_TYPE, ChangeType
from deltaweb.delta.changes.row_codes import row_codes, value_codes
from deltaweb.delta.feed.matched_updates import own_columns
from deltaweb.delta.values.whole import one_array

_COMING = pa.array([ChangeType.INSERT.value, ChangeType.UPDATE_AFTER.value])


def as_going_and_coming(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows of a feed whose `_change_type` is `delete` or `insert` alone."""
    kinds = pc.if_else(
        pc.is_in(rows[CHANGE_TYPE], value_set=_COMING),
        ChangeType.INSERT.value,
        ChangeType.DELETE.value,
    )
    place = rows.schema.get_field_index(CHANGE_TYPE)
    return rows.set_column(place, rows.schema.field(place), kinds)


def net_changes(rows: pa.Table, others: frozenset[str] = frozenset()) -> pa.Table:
    """Return the rows of one version without those that go and come again, equal.

    Args:
        rows: As `as_going_and_coming` returns them.
        others: Columns that are not looked at.
    """
    names = [name for name in own_columns(rows.column_names) if name not in others]
    codes = row_codes(
        (value_codes(one_array(rows[name])) for name in names), rows.num_rows
    )
    comes = pc.equal(rows[CHANGE_TYPE], ChangeType.INSERT.value).to_numpy()
    size = int(codes.max()) + 1 if rows.num_rows else 0
    counts = [np.bincount(codes[side], minlength=size) for side in (comes, ~comes)]
    cancelled = np.minimum(*counts)
    kept = np.zeros(rows.num_rows, np.bool_)
    for side in (comes, ~comes):
        at = np.flatnonzero(side)
        kept[at] = _ranks(codes[at]) >= cancelled[codes[at]]
    return rows.filter(pa.array(kept))


def _ranks(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return which of the equal codes each one is, from 0 on."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    lengths = np.diff(begins, append=len(codes))
    ranks = np.empty(len(codes), np.int64)
    ranks[order] = np.arange(len(codes)) - np.repeat(begins, lengths)
    return ranks
