"""The rows of a condition go, or columns take new values in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from apps.jobs.kind import Queue
from apps.pages.changes.parameters import parameter, zone_parameter
from apps.tables.operations.operation import Operation, commit_text, register
from apps.tables.operations.preview import RunContext
from apps.tables.operations.rows.engines import with_fitting_engine
from apps.tables.operations.rows.previews import (
    LookedAt,
    RowsDetail,
    carry_out_rows,
    looked_at,
    preview_looked_at,
    rows_meant,
)
from deltaweb import spark
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.table import DeltaTable
from deltaweb.writer import rewrite

if TYPE_CHECKING:
    from deltaweb.writer.rewrite.run import RowsAsked


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRows:
    """Which rows go.

    Attributes:
        where: The rows to delete, as an SQL condition; empty for all rows.
        time_zone: The time zone of times without one in the condition.
    """

    where: str = parameter(
        "", "--where", metavar="SQL", help="rows to delete; all if omitted"
    )
    time_zone: str = zone_parameter(UTC_ZONE)


def plan_delete(opened: DeltaTable, asked: DeleteRows, context: RunContext) -> LookedAt:
    """Find the rows and the files that hold them."""
    rows = rewrite.run.RowsAsked(where=asked.where or None, time_zone=asked.time_zone)
    return plan_change(opened, rows, context)


def plan_change(
    opened: DeltaTable, asked: "RowsAsked", context: RunContext
) -> LookedAt:
    """Plan a change by the engine that is to do it; the table is read once."""
    store = opened.store
    snapshot = asked.read(store)
    return with_fitting_engine(
        lambda: asked.here(store, snapshot),
        lambda session, here: spark.writing.rewrite.run.by_tasks(
            session, context.place(), asked, snapshot, here
        ),
        looked_at(context),
        context,
        time_zone=asked.time_zone,
    )


DELETE_ROWS: Final = register(
    Operation(
        name="delete_rows",
        words="Delete rows",
        title="Delete rows of {table}",
        doing="Writing the files without the rows",
        action="table.delete_rows",
        parameters=DeleteRows,
        plan=plan_delete,
        preview=preview_looked_at,
        detail=RowsDetail,
        carry_out=carry_out_rows,
        result=CommitResult,
        result_text=commit_text,
        question=lambda asked, opened: (
            f"Delete {rows_meant(asked.where)} of {opened.root}?"
        ),
        looks_long=True,
        has_engines=True,
        queue=Queue.SPARK,  # of a large table
        page="tables:table-delete-rows",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRows:
    """Which rows change, and how.

    Attributes:
        assignments: The SQL of each new value, by the name of the column.
        where: The rows to update, as an SQL condition; empty for all rows.
        time_zone: The time zone of times without one in the SQL.
    """

    assignments: Mapping[str, str] = field(default_factory=dict)
    where: str = parameter(
        "", "--where", metavar="SQL", help="rows to update; all if omitted"
    )
    time_zone: str = zone_parameter(UTC_ZONE)


def plan_update(opened: DeltaTable, asked: UpdateRows, context: RunContext) -> LookedAt:
    """Find the rows and the files that hold them, and calculate the new values."""
    rows = rewrite.run.RowsAsked(
        where=asked.where or None,
        assignments=asked.assignments,
        time_zone=asked.time_zone,
    )
    return plan_change(opened, rows, context)


def update_question(asked: UpdateRows, opened: DeltaTable) -> str:
    """Return what somebody is asked who changes rows."""
    sets = ", ".join(f"{column} = {sql}" for column, sql in asked.assignments.items())
    return f"Set {sets} in {rows_meant(asked.where)} of {opened.root}?"


UPDATE_ROWS: Final = register(
    Operation(
        name="update_rows",
        words="Update rows",
        title="Update rows of {table}",
        doing="Writing the files with the new values",
        action="table.update_rows",
        parameters=UpdateRows,
        plan=plan_update,
        preview=preview_looked_at,
        detail=RowsDetail,
        carry_out=carry_out_rows,
        result=CommitResult,
        result_text=commit_text,
        question=update_question,
        looks_long=True,
        has_engines=True,
        queue=Queue.SPARK,  # of a large table
        page="tables:table-update-rows",
    )
)
