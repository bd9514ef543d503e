"""A share of files changed by a task, with the code that changes them in process."""

import pyarrow as pa

from deltaweb.expressions.condition import SQLCondition
from deltaweb.spark.arrow_frames import Batches
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.spark.writing.change_tasks import pack
from deltaweb.spark.writing.rewrite.row_request import RowRequest, answer_of
from deltaweb.writer.rewrite.dry_run import RowsSeen
from deltaweb.writer.rewrite.file_changes import (
    FileRewriter,
    RowWork,
    feed_change,
    rewrite_files,
)
from deltaweb.writer.rewrite.row_changes import RowChange, RowDeletion, RowUpdate


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
