"""The rows of files changed, a file after the other, whoever reads and judges them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.scan.rows import ReadRows
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import ExpressionTooLargeError
from deltaweb.writer.changes.change_writer import (
    AFTER,
    BEFORE,
    DELETE,
    ChangeWriter,
    WrittenChanges,
)
from deltaweb.writer.matching import (
    JudgedRows,
    check_all_read,
    each_file,
    judged_rows,
    rows_with_matches,
)
from deltaweb.writer.rewrite.dry_run import RowsSeen, RowTally
from deltaweb.writer.rewrite.row_changes import ChangedRows, RowChange

NUM_ROWS = pa.field("num_rows", pa.int64())
"""How many rows of a file are concerned."""

Progress = Callable[[int, int], None]
"""Told how many files are done, and of how many; it may raise to stop the work."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RewrittenFiles:
    """What became of the files.

    Attributes:
        removed: Rows of `Snapshot.files`, and `NUM_ROWS`; those gone come first.
            Some stay with a vector, and are added again.
    """

    written: WrittenChanges
    removed: pa.Table
    num_copied_rows: int

    @property
    def num_rows(self) -> int:
        return pc.sum(self.removed["num_rows"]).as_py() or 0

    @property
    def size_bytes(self) -> int:
        return pc.sum(self.removed["size"]).as_py() or 0

    def file_metrics(self) -> dict[str, int]:
        """Return what the log says of the files; those that stay are left out."""
        added, paths = self.written.added["path"], self.removed["path"]
        stays = pc.is_in(paths, value_set=added.combine_chunks())
        gone = self.removed.select(["size"]).filter(pc.invert(stays))
        return {
            "numAddedFiles": self.written.num_new_files,
            "numRemovedFiles": gone.num_rows,
            "numAddedBytes": self.written.num_bytes,
            "numRemovedBytes": pc.sum(gone["size"]).as_py() or 0,
            "numAddedChangeFiles": self.written.change_files.num_rows,
            **self.written.metrics,
        }


@dataclass(frozen=True, slots=True, eq=False)
class TouchedRows:
    """The next rows of a file that changes."""

    rows: pa.RecordBatch
    holds: pa.BooleanArray
    after: ChangedRows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowWork:
    """A change of the rows of files, as it is evaluated in process."""

    change: RowChange
    condition: SQLCondition | None
    read_rows: ReadRows

    def touched(self, file: pa.Table, *, is_sure: bool) -> Iterator[TouchedRows] | None:
        """Return all rows of a file, and what becomes of them.

        Args:
            file: One row of `Snapshot.files`.
            is_sure: Whether it is known that one of them is concerned.

        Returns:
            The rows; None where none of them is concerned.
        """
        look = judged_rows if is_sure else rows_with_matches
        judged = look(self.read_rows, file, self.condition)
        return None if judged is None else self._changed(judged)

    def _changed(self, judged: Iterable[JudgedRows]) -> Iterator[TouchedRows]:
        for rows, holds in judged:
            yield from self._applied(rows, holds)

    def _applied(
        self, rows: pa.RecordBatch, holds: pa.BooleanArray
    ) -> Iterator[TouchedRows]:
        """Change rows, in ever smaller parts where new values are too much at once."""
        half = rows.num_rows // 2
        try:
            changed = self.change.apply(rows, holds)
        except ExpressionTooLargeError as error:
            if not half or error.is_final:
                raise
        else:
            yield TouchedRows(rows, holds, changed)
            return
        yield from self._applied(rows.slice(0, half), holds.slice(0, half))
        yield from self._applied(rows.slice(half), holds.slice(half))


class FileRewriter:
    """Changes files, and adds up what became of them.

    Args:
        seen: Keeps the first of the rows; None to keep none.

    Attributes:
        removed: The files so far, a table each, with `NUM_ROWS`.
    """

    def __init__(
        self, files: ChangeWriter | RowTally, seen: RowsSeen | None = None
    ) -> None:
        self.removed: list[pa.Table] = []
        self.num_copied_rows = 0
        self._files = files
        self._seen = seen

    def rewrite(self, file: pa.Table, touched: Iterable[TouchedRows]) -> None:
        """Change a file, one row of `Snapshot.files`, by all its live rows."""
        files, seen, count, num_read = self._files, self._seen, 0, 0
        files.begin_file(file)
        for part in touched:
            rows, holds, changed = part.rows, part.holds, part.after.changed
            count += holds.true_count
            num_read += rows.num_rows
            if not files.marks_rows:
                self.num_copied_rows += rows.num_rows - holds.true_count
            files.replace(holds, part.after.written, changed)
            if files.feeds_changes:
                feed_change(files, rows.filter(holds), changed)
            if seen is not None and not seen.is_full:
                seen.see(rows.filter(holds), changed)
        check_all_read(file, num_read)
        files.end_file(file)
        self.removed.append(counted(file, pa.chunked_array([[count]], pa.int64())))


def rewrite_files(  # the work, and who watches it
    work: RowWork,
    opened: pa.Table,
    rewriter: FileRewriter,
    *,
    is_sure: bool,
    on_progress: Progress | None = None,
) -> None:
    """Change those of some files that have a row which is concerned.

    Args:
        opened: Rows of `Snapshot.files`.
    """
    for number, file in enumerate(each_file(opened)):
        if on_progress is not None:
            on_progress(number, opened.num_rows)
        touched = work.touched(file, is_sure=is_sure)
        if touched is not None:
            rewriter.rewrite(file, touched)


def feed_change(
    files: ChangeWriter | RowTally, before: pa.RecordBatch, after: pa.RecordBatch | None
) -> None:
    """Tell of rows that go, or that become others."""
    if after is None:
        files.feed(DELETE, before)
        return
    files.feed(BEFORE, before)
    files.feed(AFTER, after)


def counted(files: pa.Table, counts: pa.ChunkedArray) -> pa.Table:
    """Return files with how many rows of each are concerned."""
    return files.append_column(NUM_ROWS, counts)
