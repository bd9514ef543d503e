"""Batches of a stream, each written exactly once.

A batch is noted in the table by the commit that writes it: the query's id as the
application, the batch's number as its version. A query that was stopped in between,
and begins a batch again, finds it there; what its tasks wrote again is deleted.

Source: delta_protocol.md, "Transaction Identifiers".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType as SparkStruct

from deltaweb.delta.errors import DeltaError
from deltaweb.spark.writing.file_tasks import discard_parts, write_rows
from deltaweb.spark.writing.part_commit import commit_parts
from deltaweb.spark.writing.source.batch_writer import FilesMessage, parts_of, plan_here
from deltaweb.spark.writing.source.options import SourceOptions
from deltaweb.spark.writing.source.session_rows import rows_of_session
from deltaweb.spark.writing.write_plan import SaveMode, WritePlan

QUERY_ID: Final = "sql.streaming.queryId"
"""The property of a task by which Spark tells the query that it is of."""


@dataclass(frozen=True)
class BatchMessage(FilesMessage):
    """What a task of a stream answers."""

    plan: WritePlan
    query_id: str


class StreamWriter(DataSourceStreamArrowWriter):
    """Writes the batches of a query.

    Spark makes one for the tasks of each batch, and another one for the commit. What
    is wrong with a write is said by its tasks. The first one makes a table where there
    is none.

    Args:
        overwrite: Whether each batch takes the place of all that is there.
    """

    def __init__(
        self, options: SourceOptions, columns: SparkStruct, *, overwrite: bool
    ) -> None:
        self._options = options
        self._plan: WritePlan | None = None
        self._fault: DeltaError | None = None
        try:
            request = options.write_request(overwrite=overwrite)
            request = replace(request, txn=None)
            self._plan = plan_here(options, columns, request)
            if self._plan is not None and self._plan.base is None:
                # Before any file is there: what a killed query had left would be in the
                # way of a table that the first batch makes.
                commit_parts(self._plan, [])
                self._plan = plan_here(options, columns, request)
        except DeltaError as error:
            self._fault = error

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """In a task: write its rows."""
        if self._fault is not None:
            raise self._fault
        if self._plan is None:
            message = "a stream has a table to write to"
            raise ValueError(message)
        context = TaskContext.get()
        query_id = context.getLocalProperty(QUERY_ID) if context else None
        if not query_id:
            message = "Spark does not say which query a batch is of"
            raise RuntimeError(message)
        part = write_rows(self._plan, rows_of_session(self._plan, iterator))
        return BatchMessage(part, self._plan, query_id)

    def commit(
        self,
        messages: Sequence[WriterCommitMessage | None],
        batchId: int,  # noqa: N803  # Spark's name
    ) -> None:
        """Commit a batch, unless the table has it."""
        answers = [message for message in messages if isinstance(message, BatchMessage)]
        if not answers:
            return
        first, parts = answers[0], parts_of(answers)
        request = first.plan.request
        if request.mode is SaveMode.APPEND and not any(part.num_rows for part in parts):
            return  # a batch of no rows changes nothing, however often it comes
        app_id = self._options.text("txnAppId") or first.query_id
        noted = replace(request, txn=(app_id, batchId))
        commit_parts(replace(first.plan, request=noted), parts)

    def abort(
        self,
        messages: Sequence[WriterCommitMessage | None],
        batchId: int,  # noqa: ARG002, N803  # Spark's signature
    ) -> None:
        """Delete what tasks wrote before the batch failed."""
        discard_parts(self._options.place.open(), parts_of(messages))
