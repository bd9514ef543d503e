"""What stands in for data files when a change of rows is only looked at."""

from typing import Final, Self

import pyarrow as pa

from deltaweb.delta.writing.transaction import MARKED_FILES, NO_CHANGE_FILES
from deltaweb.writer.changes.change_writer import WrittenChanges

MAX_ROWS_SEEN: Final = 20


class RowTally:
    """Takes changes in the place of data files, and only counts rows.

    Attributes:
        num_bytes: None, for nothing is written.
    """

    num_bytes: Final = 0
    feeds_changes: Final = False

    def __init__(self, *, marks_rows: bool) -> None:
        self.num_rows = 0
        self.marks_rows = marks_rows

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind, for nothing is there."""

    @property
    def files(self) -> Self:
        """What takes new rows: this, too."""
        return self

    def write(self, rows: pa.RecordBatch) -> None:
        """Count rows that would be written beside those of files."""
        self.num_rows += rows.num_rows

    def begin_file(self, file: pa.Table) -> None:
        """Open nothing."""

    def begin_new(self) -> None:
        """Open nothing."""

    def replace(
        self,
        holds: pa.BooleanArray,  # noqa: ARG002 # of ChangeWriter
        kept: pa.RecordBatch | pa.Table,
        new: pa.RecordBatch | pa.Table | None,
        *,
        changed: object = None,  # noqa: ARG002 # as above
    ) -> None:
        """Count the rows that would be written."""
        rows = new if self.marks_rows else kept
        self.num_rows += 0 if rows is None else rows.num_rows

    def end_file(self, file: pa.Table) -> None:
        """Write nothing."""

    def feed(self, kind: str, rows: pa.RecordBatch | pa.Table) -> None:
        """Write nothing."""

    def finish(self, *, needs_feed: bool = True) -> WrittenChanges:  # noqa: ARG002 # as above
        return WrittenChanges(
            added=MARKED_FILES.empty_table(),
            change_files=NO_CHANGE_FILES,
            metrics={},
            num_new_files=0,
        )


class RowsSeen:
    """The first rows that a change is about, as they are and as they become."""

    def __init__(self) -> None:
        self._before: list[pa.RecordBatch] = []
        self._after: list[pa.RecordBatch] = []
        self._left = MAX_ROWS_SEEN

    @property
    def is_full(self) -> bool:
        return not self._left

    def see(self, before: pa.RecordBatch, after: pa.RecordBatch | None) -> None:
        """Keep the first of some rows."""
        if not before.num_rows:
            return
        self._before.append(before.slice(0, self._left))
        if after is not None:
            self._after.append(after.slice(0, self._left))
        self._left -= min(self._left, before.num_rows)

    def tables(self) -> tuple[pa.Table, pa.Table | None] | None:
        """Return the rows as they are, and as they become, if some were seen."""
        if not self._before:
            return None
        return _copied(self._before), _copied(self._after) if self._after else None

    def before(self, schema: pa.Schema) -> pa.Table:
        """Return the rows as they are; of a schema where there is none."""
        return _table(self._before, schema)

    def after(self, schema: pa.Schema) -> pa.Table:
        """Return the rows as they become; of a schema where there is none."""
        return _table(self._after, schema)


def _table(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    return _copied(batches) if batches else schema.empty_table()


def _copied(batches: list[pa.RecordBatch]) -> pa.Table:
    # A copy: a slice would keep the whole file's rows in memory.
    rows = pa.Table.from_batches(batches)
    return rows.take(pa.array(range(rows.num_rows), pa.int64()))
