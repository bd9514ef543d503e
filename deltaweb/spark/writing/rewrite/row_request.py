"""What is asked of the tasks that change rows by a condition, and what they answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from deltaweb.expressions.condition import SQLCondition
from deltaweb.spark.arrow_frames import Batches
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.spark.writing.change_tasks import TEXTS, ChangeRequest, pack
from deltaweb.spark.writing.session.conditions import FilledColumns
from deltaweb.writer.changes.change_writer import ChangeWriter, WrittenChanges
from deltaweb.writer.rewrite.dry_run import RowsSeen, RowTally
from deltaweb.writer.rewrite.file_changes import (
    NUM_ROWS,
    FileRewriter,
    RewrittenFiles,
    RowWork,
    feed_change,
    rewrite_files,
)
from deltaweb.writer.rewrite.row_changes import RowChange, RowDeletion, RowUpdate

EVERY_ROW: Final = "TRUE"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowRequest(ChangeRequest):
    """A change of the rows of a condition.

    Attributes:
        assignments: SQL by the column, by the table's spelling; None where rows go.
        filled: Columns of the changed rows that Spark generates again.
    """

    where: str | None
    assignments: Mapping[str, str] | None = None
    filled: FilledColumns = field(default_factory=FilledColumns)

    @property
    def changed(self) -> list[str]:
        """Names of the columns whose values Spark gives, by `judged_rows`."""
        return [*(self.assignments or {}), *self.filled.generated]

    def open_changes(self, *, is_dry: bool) -> ChangeWriter | RowTally:
        return RowTally(marks_rows=self.marks_rows) if is_dry else self.open_writer()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShareAnswer:
    """What a task answers.

    Attributes:
        seen: The first of the rows that were concerned, as they are, and as they
            become unless they go; None where none are shown.
    """

    done: RewrittenFiles
    seen: tuple[pa.Table, pa.Table | None] | None = None


def answer_of(
    share: pa.Table,
    written: WrittenChanges,
    rewriter: FileRewriter,
    seen: RowsSeen | None = None,
) -> ShareAnswer:
    """Return what became of a share, once all its files are changed."""
    kept = [name for name in share.column_names if name != TEXTS]
    nothing = share.slice(0, 0).append_column(NUM_ROWS, pa.array([], NUM_ROWS.type))
    removed = pa.concat_tables([nothing, *rewriter.removed])
    done = RewrittenFiles(
        written=written,
        removed=removed.select([*kept, NUM_ROWS.name]),
        num_copied_rows=rewriter.num_copied_rows,
    )
    return ShareAnswer(done=done, seen=None if seen is None else seen.tables())


# === What a task does with its share of the files ===


def change_of(request: RowRequest) -> RowChange:
    """Return what becomes of the rows, as it is evaluated in process."""
    if request.assignments is None:
        return RowDeletion()
    return RowUpdate(request.assignments, request.schema, request.base.metadata)


def condition_of(request: RowRequest) -> SQLCondition | None:
    """Return which rows are concerned, as it is evaluated in process; None for all."""
    return (
        None if request.where is None else SQLCondition(request.where, request.schema)
    )


def rewrite_share(
    request: RowRequest, share: pa.Table, *, is_dry: bool, is_sure: bool
) -> Batches:
    """In a task: change the files of a share; yields a row by `ANSWER`."""
    seen = RowsSeen() if is_dry else None
    with faults_are_carried(), request.open_changes(is_dry=is_dry) as files:
        work = RowWork(
            change=change_of(request),
            condition=condition_of(request),
            read_rows=request.reading.table_rows,
        )
        rewriter = FileRewriter(files, seen)
        rewrite_files(work, share, rewriter, is_sure=is_sure)
        written = files.finish(needs_feed=bool(rewriter.removed))
        answer = answer_of(share, written, rewriter, seen)
    yield from pack(answer)


def feed_share(request: RowRequest, share: pa.Table) -> Batches:
    """In a task: tell of the rows of files that go; yields a row by `ANSWER`."""
    with faults_are_carried(), request.open_changes(is_dry=False) as files:
        for rows in request.reading.table_rows(share):
            feed_change(files, rows, None)
        answer = answer_of(share, files.finish(), FileRewriter(files))
    yield from pack(answer)
