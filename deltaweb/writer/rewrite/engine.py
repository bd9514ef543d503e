"""Who changes the rows of files: the seam between a change and what does it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import pyarrow as pa

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.transaction import TableRead
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.session.settings import SessionSettings
from deltaweb.writer.changes.change_writer import ChangeWriter, marks_deleted_rows
from deltaweb.writer.changes.row_ids import KeptRowIds
from deltaweb.writer.changes.wide_statistics import statistics_texts
from deltaweb.writer.matching import row_counts
from deltaweb.writer.rewrite.dry_run import RowsSeen, RowTally
from deltaweb.writer.rewrite.file_changes import (
    FileRewriter,
    Progress,
    RewrittenFiles,
    RowWork,
    counted,
    feed_change,
    rewrite_files,
)
from deltaweb.writer.rewrite.row_changes import RowChange
from deltaweb.writer.table_write import TableWrite


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConcernedFiles:
    """The files that a change is about, rows of `Snapshot.files`.

    Attributes:
        gone: Those that go without being opened, for every row of theirs does.
        is_sure: Whether it is known that each of them has a row that is concerned.
        condition: What rows are judged by in process; None for every row.
    """

    gone: pa.Table
    opened: pa.Table
    is_sure: bool
    read: TableRead
    condition: SQLCondition | None = None


class RewriteEngine(Protocol):
    """Changes the rows of files of one version by one change and one condition."""

    @property
    def progress_unit(self) -> str:
        """What progress counts."""

    @property
    def is_evaluated_here(self) -> bool:
        """Whether SQL is evaluated as in process, and refused where it is not."""

    @property
    def settings(self) -> SessionSettings:
        """By what SQL is evaluated."""

    def look(
        self, about: ConcernedFiles, seen: RowsSeen, on_progress: Progress | None
    ) -> RewrittenFiles:
        """Do all of it but writing.

        Raises:
            DeltaError: As the change says.
        """

    def write(
        self, about: ConcernedFiles, on_progress: Progress | None
    ) -> AbstractContextManager[RewrittenFiles]:
        """Do it; on an error in its context what was written is taken back.

        Raises:
            DeltaError: As the change says.
        """


@dataclass(frozen=True, slots=True, eq=False)
class RewriteHere:
    """Changes files in this process, one after the other."""

    store: TableStore
    snapshot: Snapshot
    change: RowChange
    time_zone: str = UTC_ZONE

    @property
    def progress_unit(self) -> str:
        return "files"

    @property
    def is_evaluated_here(self) -> bool:
        return True

    @property
    def settings(self) -> SessionSettings:
        """Those of every process, in the zone of the condition."""
        return SessionSettings(time_zone=self.time_zone)

    def look(
        self, about: ConcernedFiles, seen: RowsSeen, on_progress: Progress | None
    ) -> RewrittenFiles:
        base = self.snapshot.state.definition
        marks_rows = marks_deleted_rows(base.protocol, base.metadata)
        with RowTally(marks_rows=marks_rows) as tally:
            return self._rewrite(about, tally, on_progress, seen)

    @contextmanager
    def write(
        self, about: ConcernedFiles, on_progress: Progress | None
    ) -> Iterator[RewrittenFiles]:
        """Do it; on an error in its context what was written is taken back."""
        base = self.snapshot.state.definition
        write = TableWrite(self.store, base, base.metadata)
        texts = partial(statistics_texts, self.snapshot)
        row_ids = KeptRowIds.of(self.store, self.snapshot)
        with ChangeWriter(write, texts, row_ids) as files:
            yield self._rewrite(about, files, on_progress)

    def _rewrite(
        self,
        about: ConcernedFiles,
        files: ChangeWriter | RowTally,
        on_progress: Progress | None,
        seen: RowsSeen | None = None,
    ) -> RewrittenFiles:
        snapshot = self.snapshot
        work = RowWork(
            change=self.change,
            condition=about.condition,
            read_rows=snapshot.file_rows,
        )
        rewriter = FileRewriter(files, seen)
        rewrite_files(
            work, about.opened, rewriter, is_sure=about.is_sure, on_progress=on_progress
        )
        tells_rows = bool(rewriter.removed)  # else the files that go tell all
        if tells_rows and files.feeds_changes:
            for rows in snapshot.file_rows(about.gone):
                feed_change(files, rows, None)
        gone = counted(about.gone, row_counts(snapshot, about.gone))
        removed = pa.concat_tables([gone, *rewriter.removed])
        return RewrittenFiles(
            written=files.finish(needs_feed=tells_rows),
            removed=removed.combine_chunks(),  # one of each file would be slow
            num_copied_rows=rewriter.num_copied_rows,
        )
