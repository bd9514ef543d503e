"""Merges of rows into a table."""

from collections.abc import Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from deltaweb.delta.features.row_tracking import kept_row_ids
from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.spark.writing.merge.engine import MergeByTasks
from deltaweb.spark.writing.merge.joined_rows import check_merge
from deltaweb.spark.writing.merge.merge_request import MergeRequest, settled
from deltaweb.spark.writing.spark_types import frame_schema
from deltaweb.spark.writing.write_plan import rows_not_numbered, rows_not_tracked
from deltaweb.storage.place import TablePlace
from deltaweb.writer.merge.builder import MergeBuilder
from deltaweb.writer.merge.clauses import About, MergeClause
from deltaweb.writer.merge.merge import read_for_merge
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
        spark: The session.
        location: The table: a path, or a URL that fsspec knows.
        source: The rows; they are looked at once, when the merge is executed.
        on: SQL by which rows match: `t` is the table, `s` the source. Of any function
            that Spark has, as the SQL of the clauses is.
        storage_options: Options of the store.

    Nothing is read or raised before `execute`, which raises what `DeltaTable.merge`
    does, and `UnsupportedWriteError` for a table that tracks its rows, or numbers new
    ones.
    """
    place = TablePlace(location=location, storage_options=storage_options or {})
    return MergeBuilder(partial(merge, spark, place, source, on))


def merge(  # noqa: PLR0913  # the table, the source and how they meet
    spark: SparkSession,
    place: TablePlace,
    source: DataFrame,
    on: str,
    clauses: Sequence[MergeClause],
    *,
    on_progress: Progress | None = None,
) -> CommitResult:
    """Merge rows into a table, in one commit.

    Args:
        spark: The session.
        place: The table.
        source: The rows.
        on: SQL over `t`, the table, and `s`, the source.
        clauses: What is done with which rows.
        on_progress: Told how many tasks are done.

    Raises:
        DeltaError: As `merge_rows` says.
    """
    started = monotonic()
    store = place.open()
    snapshot = read_for_merge(store, clauses)
    base = snapshot.state.definition
    if kept_row_ids(base.protocol, base.metadata):
        raise rows_not_tracked(store.root, base)
    is_new = any(clause.about is About.NOT_MATCHED for clause in clauses)
    if is_new and IdentityNumbers.of(base.protocol, snapshot.schema).columns:
        raise rows_not_numbered(store.root, base)
    incoming = frame_schema(source.schema)
    schema = schema_of_arrow(incoming)
    RowSchema(schema, incoming)  # no column twice
    request = settled(
        MergeRequest(
            place=place, base=base, on=on, clauses=tuple(clauses), source=schema
        )
    )
    if not request.is_evaluated_here:
        check_merge(spark, request)
    engine = MergeByTasks(
        spark=spark, snapshot=snapshot, request=request, source=source
    )
    with engine.write(on_progress) as outcome:
        transaction = outcome.transaction(base, on, clauses, started)
    return commit_and_checkpoint(store, transaction)
