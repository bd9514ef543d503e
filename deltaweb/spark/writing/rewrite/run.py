"""Deletes and updates of the rows of a table, and what they would do."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession

from deltaweb.delta.features.row_tracking import kept_row_ids
from deltaweb.delta.protocol.column_path import column_field
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.expressions.char_columns import refuse_char
from deltaweb.expressions.errors import ExpressionError
from deltaweb.expressions.session.dependence import Dependence
from deltaweb.spark.writing.faults import spark_errors_are_ours
from deltaweb.spark.writing.rewrite.engine import RewriteByTasks
from deltaweb.spark.writing.rewrite.row_request import (
    RowRequest,
    change_of,
    condition_of,
)
from deltaweb.spark.writing.session.checked_sql import check_condition, check_value
from deltaweb.spark.writing.session.conditions import FilledColumns
from deltaweb.spark.writing.session.settings import settings_of
from deltaweb.spark.writing.spark_types import spark_schema
from deltaweb.spark.writing.write_plan import rows_not_tracked
from deltaweb.storage.place import TablePlace
from deltaweb.writer.rewrite.plan import Rewrite
from deltaweb.writer.rewrite.row_changes import ChangeKind, RowDeletion, UpdateKind
from deltaweb.writer.rewrite.run import RowsAsked
from deltaweb.writer.rows.identity_numbers import check_kept
from deltaweb.writer.rows.row_checks import constraints_elsewhere


def delete_rows(
    spark: SparkSession,
    location: str,
    where: str | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> CommitResult:
    """Remove the rows that a condition in SQL is true for; all for None.

    Args:
        location: The table: a path, or a URL that fsspec knows.
        where: The condition, by the settings of the session. It may use the columns of
            the row and nearly any function of Spark. Subqueries are refused, and so are
            functions that open files or addresses or call Java.

    Raises:
        NotOfRowError: If the condition reads more than its row.
        ExpressionError: If the condition is none, or no function of the row.
        ChangeNotEvaluatedError: If Spark cannot evaluate it for a row.
        DeltaError: As `DeltaTable.delete` lists them.
    """
    place = TablePlace(location=location, storage_options=storage_options or {})
    return deletion(spark, place, where).commit()


def update_rows(
    spark: SparkSession,
    location: str,
    assignments: Mapping[str, str],
    where: str | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> CommitResult:
    """Give columns the values of SQL expressions, in the rows of a condition.

    Args:
        location: The table: a path, or a URL that fsspec knows.
        assignments: The expression by the column's name, by the settings of the
            session; all see the old values. Subqueries are refused, as in
            `delete_rows`.
        where: The condition; every row for None.

    Raises:
        ColumnNotFoundError: If a name is no column.
        NotOfRowError: If an expression reads more than its row.
        ExpressionError: If an expression is none, or no function of the row.
        ChangeNotEvaluatedError: If Spark cannot evaluate it for a row.
        DeltaError: As `DeltaTable.update` lists them.
    """
    place = TablePlace(location=location, storage_options=storage_options or {})
    return update(spark, place, assignments, where).commit()


def deletion(
    spark: SparkSession, place: TablePlace, where: str | None = None
) -> Rewrite:
    """Return the removal of the rows that a condition is true for; all for None."""
    return by_tasks(spark, place, RowsAsked(where=where))


def update(
    spark: SparkSession,
    place: TablePlace,
    assignments: Mapping[str, str],
    where: str | None = None,
) -> Rewrite:
    """Return the change of the rows that a condition is true for; all for None."""
    return by_tasks(spark, place, RowsAsked(where=where, assignments=assignments))


def by_tasks(
    spark: SparkSession,
    place: TablePlace,
    asked: RowsAsked,
    snapshot: Snapshot | None = None,
    here: Rewrite | None = None,
) -> Rewrite:
    """Return a change of rows as tasks do it.

    Args:
        spark: In whose zone times without one are.
        snapshot: The version that it is about, as `asked` reads it; None to read it.
        here: The same change of it in process, where that evaluates it: the files that
            it has found need not be found again.
    """
    store = place.open()
    snapshot = snapshot or asked.read(store)
    base, sets = snapshot.state.definition, asked.assignments
    request = RowRequest(
        place=place,
        base=base,
        where=asked.where,
        assignments=None if sets is None else _by_column(snapshot.schema, sets),
        settings=settings_of(spark),
    )
    if kept_row_ids(base.protocol, base.metadata):
        raise rows_not_tracked(store.root, base)
    is_evaluated_here = _is_evaluated_here(request)
    if not is_evaluated_here:
        with spark_errors_are_ours(spark):
            request = _for_spark(spark, request)
    change: ChangeKind = RowDeletion() if sets is None else UpdateKind()
    engine = RewriteByTasks(
        spark=spark,
        snapshot=snapshot,
        request=request,
        is_evaluated_here=is_evaluated_here,
    )
    found = here.concerned if here is not None and is_evaluated_here else None
    return Rewrite(store, snapshot, change, asked.where, engine, found)


def _is_evaluated_here(request: RowRequest) -> bool:
    """Return whether tasks evaluate all that is asked as the session does."""
    try:
        change_of(request)
        condition_of(request)
    except ExpressionError:
        return False
    schema, settings = request.schema, request.settings
    if settings.are_ours:
        return True
    dependence = Dependence(schema, settings)
    if request.where is not None and dependence.of(request.where):
        return False
    if request.assignments is None:
        return True
    columns = {column.name: column for column in schema.fields}
    return not (
        any(
            dependence.of_value(sql, columns[name])
            for name, sql in request.assignments.items()
        )
        or _filled(request, are_all=False).generated
        or constraints_elsewhere(request.base.metadata, schema, settings=settings)
    )


def _filled(request: RowRequest, *, are_all: bool) -> FilledColumns:
    return FilledColumns.of(
        request.schema,
        [*(request.assignments or ())],
        request.settings,
        takes_defaults=False,
        are_all=are_all,
    )


def _for_spark(spark: SparkSession, request: RowRequest) -> RowRequest:
    """Return a request whose SQL Spark evaluates, once it is known to be SQL."""
    schema = request.schema
    rows = spark.createDataFrame([], spark_schema(schema))
    for said in (request.where, *(request.assignments or {}).values()):
        if said is not None:
            refuse_char(said, schema)
    if request.where is not None:
        check_condition(rows, request.where)
    if request.assignments is None:
        return request
    for name, sql in request.assignments.items():
        check_value(rows, sql, rows.schema[name])
    elsewhere = constraints_elsewhere(
        request.base.metadata, schema, settings=request.settings
    )
    filled = _filled(request, are_all=True)
    return replace(request, elsewhere=elsewhere, filled=filled)


def _by_column(schema: StructType, assignments: Mapping[str, str]) -> dict[str, str]:
    found = {
        column_field(schema, (name,)).name: sql for name, sql in assignments.items()
    }
    check_kept(schema, found)
    return found
