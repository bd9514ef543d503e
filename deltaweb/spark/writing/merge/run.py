"""Merges of rows into a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from deltaweb.delta.features.row_tracking import kept_row_ids
from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.spark.writing.faults import spark_errors_are_ours
from deltaweb.spark.writing.merge.engine import MergeByTasks
from deltaweb.spark.writing.merge.joined_rows import check_merge
from deltaweb.spark.writing.merge.merge_request import MergeRequest, settled
from deltaweb.spark.writing.session.settings import settings_of
from deltaweb.spark.writing.spark_types import frame_schema
from deltaweb.spark.writing.write_plan import rows_not_numbered, rows_not_tracked
from deltaweb.storage.place import TablePlace
from deltaweb.writer.changes.work_times import WorkTimes
from deltaweb.writer.merge.builder import MergeBuilder
from deltaweb.writer.merge.clauses import About, MergeClause
from deltaweb.writer.merge.merge import read_for_merge, source_rows
from deltaweb.writer.merge.outcome import MergeOutlook
from deltaweb.writer.rewrite.file_changes import Progress
from deltaweb.writer.rows.identity_numbers import IdentityNumbers
from deltaweb.writer.rows.row_schema import RowSchema


def merge_rows(
    spark: SparkSession,
    location: str,
    source: DataFrame,
    on: str,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> MergeBuilder:
    """Return a merge to say the clauses of, and to execute.

    Args:
        location: The table: a path, or a URL that fsspec knows.
        source: The rows; they are looked at once, when the merge is executed.
        on: SQL by which rows match: `t` is the table, `s` the source. Of any function
            that Spark has and by the settings of the session, as the SQL of the clauses
            is.

    Nothing is read or raised before `execute`, which raises what `DeltaTable.merge`
    does, and `UnsupportedWriteError` for a table that tracks its rows, or numbers new
    ones.
    """
    place = TablePlace(location=location, storage_options=storage_options or {})

    def carry_out(clauses: Sequence[MergeClause]) -> CommitResult:
        merge = MergeOnSpark(
            spark=spark, place=place, source=source, on=on, clauses=clauses
        )
        return merge.commit()

    return MergeBuilder(carry_out)


def frame_of(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """Return rows of a process as a source.

    Without the schema Spark would take times without a zone for those of its own.
    """
    fitted = source_rows(rows.to_reader())
    return spark.createDataFrame(fitted, from_arrow_schema(fitted.schema))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MergeOnSpark:
    """A merge by tasks of Spark, as `MergePlan` is one in process.

    Attributes:
        snapshot: The version that it is about, of `read_for_merge`; None to read it.
    """

    spark: SparkSession
    place: TablePlace
    source: DataFrame
    on: str
    clauses: Sequence[MergeClause]
    snapshot: Snapshot | None = None

    def preview(self) -> MergeOutlook:
        """Find out what it would do, by its own tasks; nothing is written."""
        engine = self._engine(is_dry=True)
        with engine.write(None) as outcome:
            return MergeOutlook(snapshot=engine.snapshot, outcome=outcome)

    def commit(
        self, on_progress: Progress | None = None, *, user_name: str | None = None
    ) -> CommitResult:
        times = WorkTimes()
        engine = self._engine(is_dry=False)
        times.end_scan()
        base = engine.request.base
        with engine.write(on_progress) as outcome:
            transaction = outcome.transaction(base, self.on, self.clauses, times)
        transaction = replace(transaction, user_name=user_name)
        return commit_and_checkpoint(self.place.open(), transaction)

    def _engine(self, *, is_dry: bool) -> MergeByTasks:
        store = self.place.open()
        snapshot = self.snapshot or read_for_merge(store, self.clauses)
        base = snapshot.state.definition
        if kept_row_ids(base.protocol, base.metadata):
            raise rows_not_tracked(store.root, base)
        is_new = any(clause.about is About.NOT_MATCHED for clause in self.clauses)
        if is_new and IdentityNumbers.of(base.protocol, snapshot.schema).columns:
            raise rows_not_numbered(store.root, base)
        incoming = frame_schema(self.source.schema)
        schema = schema_of_arrow(incoming)
        RowSchema(schema, incoming)  # no column twice
        request = settled(
            MergeRequest(
                place=self.place,
                base=base,
                on=self.on,
                clauses=tuple(self.clauses),
                source=schema,
                is_dry=is_dry,
                settings=settings_of(self.spark),
            )
        )
        if not request.is_evaluated_here:
            with spark_errors_are_ours(self.spark):
                check_merge(self.spark, request)
        return MergeByTasks(
            spark=self.spark, snapshot=snapshot, request=request, source=self.source
        )
