"""The two rows of each update: as it was, and as it is.

A feed has them as rows of their own, which nothing ties together but the values of
columns that tell one row from another.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.bucket_diff import Indices, Mask, changed_cells
from deltaweb.delta.changes.row_changes import CHANGE_TYPE, ChangeType
from deltaweb.delta.changes.row_codes import row_codes, value_codes
from deltaweb.delta.feed.row_schema import COMMIT_VERSION, FEED_COLUMNS
from deltaweb.delta.values.whole import one_array


@dataclass(frozen=True, eq=False)
class MatchedUpdates:
    """Updates, by the positions of their rows.

    Attributes:
        after: What became of them, row for row.
        alone: Rows of which nobody can tell what became of them, or what they were.
        changed: By column of the table, which of the updates changed it.
    """

    before: Indices
    after: Indices
    alone: Indices
    changed: dict[str, Mask]


def match_updates(rows: pa.Table, key: Sequence[str]) -> MatchedUpdates:
    """Match the rows of updates: two that are alone with their key in a version.

    Args:
        key: Columns that tell one row from another. A null in one matches nothing.
    """
    is_before = pc.equal(rows[CHANGE_TYPE], ChangeType.UPDATE_BEFORE.value)
    is_before = is_before.to_numpy()
    columns = [one_array(rows[name]) for name in (COMMIT_VERSION, *key)]
    codes = row_codes(map(value_codes, columns), rows.num_rows)
    for column in columns:
        if column.null_count:
            codes[column.is_null().to_numpy(zero_copy_only=False)] = -1
    size = int(codes.max()) + 2 if len(codes) else 1  # the last is that of nulls
    counts = [
        np.bincount(codes[side][codes[side] >= 0], minlength=size)
        for side in (is_before, ~is_before)
    ]
    is_pair = ((counts[0] == 1) & (counts[1] == 1))[codes]
    olds = np.flatnonzero(is_pair & is_before)
    news = np.flatnonzero(is_pair & ~is_before)
    olds = olds[np.argsort(codes[olds], kind="stable")]
    news = news[np.argsort(codes[news], kind="stable")]
    in_order = np.argsort(news, kind="stable")
    olds, news = olds[in_order], news[in_order]
    own = rows.select(own_columns(rows.column_names))
    return MatchedUpdates(
        before=olds,
        after=news,
        alone=np.flatnonzero(~is_pair),
        changed=changed_cells(own.take(pa.array(olds)), own.take(pa.array(news))),
    )


def own_columns(names: Iterable[str]) -> list[str]:
    """Return the columns of the table, without those of the feed."""
    others = {column.name for column in FEED_COLUMNS}
    return [name for name in names if name not in others]
