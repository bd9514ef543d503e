"""Comparing the rows of two versions by the changes that the feed has between them.

What was inserted and what was deleted between two versions, each taken together, is
what one has and the other lacks: a row that came and went again is on both sides. So
the answer is that of `diff_rows`, and of large files in which little changed much less
is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.buckets import RowBuckets
from deltaweb.delta.changes.row_changes import (
    CHANGE_TYPE,
    ChangeType,
    RowChanges,
    RowDiffRequest,
)
from deltaweb.delta.changes.rows import ComparedRows, compare_buckets, diff_rows
from deltaweb.delta.changes.snapshots import DiffRows, SnapshotDiff
from deltaweb.delta.changes.tally import Tally
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.feed.changed_files import ChangedFiles
from deltaweb.delta.feed.changed_rows import FeedRequest, FeedScan
from deltaweb.delta.feed.row_schema import FEED_COLUMNS
from deltaweb.delta.feed.versions import has_feed
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.scan.rows import RowSource

MAX_VERSIONS: Final = 1_000
"""Of more versions reading the log takes longer than it may save."""
_GONE: Final = pa.array([ChangeType.DELETE, ChangeType.UPDATE_BEFORE], pa.string())
_NEW: Final = pa.array([ChangeType.INSERT, ChangeType.UPDATE_AFTER], pa.string())
_KNOWN: Final = pa.concat_arrays([_GONE, _NEW])


def cheaper_engine(store: TableStore, diff: SnapshotDiff) -> DiffRows | None:
    """Return what compares rows by the feed; None where that is not cheaper.

    Nor is it taken where the schema changed, or a version between has no feed.
    """
    older, newer = sorted(
        (diff.before, diff.after), key=lambda snapshot: snapshot.version
    )
    is_short = 0 < newer.version - older.version <= MAX_VERSIONS
    if not is_short or not has_feed(newer.metadata) or older.schema != newer.schema:
        return None
    try:
        feed = FeedScan(store, FeedRequest(versions=(older.version + 1, newer.version)))
        engine = _FeedEngine(
            feed, tuple(feed.files(with_sizes=True)), older is diff.after
        )
    except DeltaError:  # the files of the versions may do
        return None
    is_same = feed.rows.row_schema.fields == (*newer.schema.fields, *FEED_COLUMNS)
    size_bytes = engine.size_bytes()
    if not is_same or size_bytes is None or size_bytes >= diff.estimate().size_bytes:
        return None
    return engine


@dataclass(frozen=True, slots=True)
class _FeedEngine:
    """Compares rows by a feed; by the files of the versions where it does not read.

    Attributes:
        is_back: Whether the first version is the later one.
    """

    feed: FeedScan
    files: Sequence[ChangedFiles]
    is_back: bool

    def size_bytes(self) -> int | None:
        """Return the bytes of the files; None where the log does not say."""
        sizes = [changed.files["size"] for changed in self.files]
        if any(column.null_count for column in sizes):
            return None
        total: int = sum(pc.sum(column).as_py() or 0 for column in sizes)
        return total

    def __call__(
        self, before: RowSource, after: RowSource, request: RowDiffRequest | None
    ) -> RowChanges:
        request = request or RowDiffRequest()
        compared = ComparedRows.of(before.schema, after.schema, request.key)
        tally = Tally(compared.columns, compared.key, request)
        with RowBuckets(
            compared.schema, compared.spread_by, request.limits, folder=request.folder
        ) as buckets:
            if self._spread(buckets, compared.schema, tally):
                if request.begin is not None:
                    request.begin(tally.schema)
                total = tally.num_files_read
                note = partial(tally.note_files, total, total=total)
                compare_buckets(buckets, compared, tally, note)
                return tally.result()
        return diff_rows(before, after, request)

    def _spread(self, buckets: RowBuckets, schema: pa.Schema, tally: Tally) -> bool:
        """Spread the changed rows; return whether all of them could be read."""
        sides = ((1, _GONE), (0, _NEW)) if self.is_back else ((0, _GONE), (1, _NEW))
        total = sum(changed.files.num_rows for changed in self.files)
        opened = 0
        try:
            for changed in self.files:
                for batch in self.feed.read(changed):
                    tally.note_files(opened, total=total)
                    kinds = batch.column(CHANGE_TYPE)
                    rows = pa.Table.from_arrays(
                        [batch.column(name) for name in schema.names], schema=schema
                    )
                    for side, kinds_of_side in sides:
                        some = rows.filter(pc.is_in(kinds, value_set=kinds_of_side))
                        tally.num_rows_read += some.num_rows
                        if some.num_rows:
                            buckets.add(side, some)
                    if not pc.all(pc.is_in(kinds, value_set=_KNOWN)).as_py():
                        return False  # nobody knows which version has the row
                opened += changed.files.num_rows
                tally.note_files(opened, total=total)
        except DeltaError:  # a file is gone, or there are too many rows
            return False
        return True
