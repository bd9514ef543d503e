"""Rows of a DataFrame, as the data source writes them.

Spark makes the writer in the driver, sends it to every task, and back with their
answers to be committed: only those of the attempts that it counts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType as SparkStruct

from deltaweb.delta.errors import PredicateError
from deltaweb.expressions.errors import ExpressionError
from deltaweb.spark.writing.file_tasks import TaskFiles, discard_parts, write_rows
from deltaweb.spark.writing.part_commit import base_snapshot, commit_parts
from deltaweb.spark.writing.source.options import SourceOptions
from deltaweb.spark.writing.source.session_rows import (
    BY_FUNCTION,
    refuse_dependent,
    rows_of_session,
)
from deltaweb.spark.writing.spark_types import frame_schema
from deltaweb.spark.writing.write_plan import WritePlan, WriteRequest, plan_write
from deltaweb.writer.matching import Matches, count_rows, find_matches
from deltaweb.writer.overwrite import ReplacedRows


@dataclass(frozen=True)
class FilesMessage(WriterCommitMessage):
    """What a task answers."""

    part: TaskFiles


class BatchWriter(DataSourceArrowWriter):
    """Writes one DataFrame.

    Args:
        overwrite: Whether rows take the place of those that are there.
    """

    def __init__(
        self, options: SourceOptions, columns: SparkStruct, *, overwrite: bool
    ) -> None:
        self._settings = options.settings
        request = options.write_request(overwrite=overwrite)
        self._plan = plan_here(options, columns, request)
        if self._plan is not None and request.where is not None:
            _matches(self._plan, request.where)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """In a task: write its rows."""
        if self._plan is None:
            for _ in iterator:
                pass
            return FilesMessage(TaskFiles.nothing())
        rows = rows_of_session(self._plan, iterator)
        return FilesMessage(write_rows(self._plan, rows))

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Commit what the tasks wrote."""
        plan, parts = self._plan, parts_of(messages)
        if plan is None:
            return
        where = plan.request.where
        if where is not None and not parts:  # no task has looked at the session
            refuse_dependent(plan, plan.schema.names, self._settings)
        replaced = None if where is None else _replaced(plan, where)
        commit_parts(plan, parts, replaced=replaced)

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Delete what tasks wrote before the write failed."""
        if self._plan is not None:
            discard_parts(self._plan.place.open(), parts_of(messages))


def plan_here(
    options: SourceOptions, columns: SparkStruct, request: WriteRequest
) -> WritePlan | None:
    """Return what a write is to be whose conditions are all evaluated by tasks."""
    plan = plan_write(options.place, frame_schema(columns), request)
    if plan is not None and plan.elsewhere:
        raise ExpressionError(sql=plan.elsewhere[0].sql, reason=BY_FUNCTION)
    return plan


def parts_of(messages: Sequence[WriterCommitMessage | None]) -> list[TaskFiles]:
    """Return what tasks wrote, by their answers; None is of a task that failed."""
    return [message.part for message in messages if isinstance(message, FilesMessage)]


def _replaced(plan: WritePlan, where: str) -> ReplacedRows:
    matches = _matches(plan, where)
    return ReplacedRows(
        removed=matches.whole,
        num_rows=count_rows(base_snapshot(plan), matches.whole),
        read=matches.read,
        where=where,
    )


def _matches(plan: WritePlan, where: str) -> Matches:
    """Return the files of a condition on partition columns."""
    matches = find_matches(base_snapshot(plan), where)
    if matches.partly.num_rows:
        reason = f"{where!r} is not only about partition columns, and {BY_FUNCTION}"
        raise PredicateError(reason=reason)
    return matches
