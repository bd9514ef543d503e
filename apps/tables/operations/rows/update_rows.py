"""Columns take new values in the rows of a condition."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.table import DeltaTable
from deltaweb.web.jobs.kind import Queue
from deltaweb.web.tables.operations.foreseen import Occasion
from deltaweb.web.tables.operations.operation import Operation, register
from deltaweb.web.tables.operations.rows.engines import Step, with_fitting_engine
from deltaweb.web.tables.operations.rows.previews import (
    carry_out_rows,
    foresee_rows,
    place_of_job,
    planned,
)

if TYPE_CHECKING:
    from deltaweb.storage.place import TablePlace
    from deltaweb.web.tables.index.spark_session import SparkSession
    from deltaweb.writer.rewrite.plan import Rewrite, RewritePlan

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRows:
    """Which rows change, and how.

    Attributes:
        assignments: The SQL of the new value by the name of the column.
        where: A condition in SQL; empty for every row.
        time_zone: Whose clocks show the times without a zone in all of these.
    """

    assignments: Mapping[str, str]
    where: str = ""
    time_zone: str = UTC_ZONE


def update_rows(
    place: "TablePlace",
    asked: UpdateRows,
    then: "Callable[[Rewrite], T]",
    step: Step,
) -> T:
    """Update rows, here or by Spark.

    Args:
        place: The table.
        asked: Which rows change, and how.
        then: Called with the update, to look at it or to commit it.
        step: Told that Spark is started, where it is.

    Raises:
        DeltaError: As `DeltaTable.update` lists them.
    """
    from deltaweb.writer.rewrite.run import update

    sets, where, zone = asked.assignments, asked.where or None, asked.time_zone

    def on_spark(spark: "SparkSession") -> T:
        from deltaweb.spark.writing.rewrite import run  # who needs it alone loads Spark

        return then(run.update(spark, place, sets, where))

    return with_fitting_engine(
        lambda: update(place.open(), sets, where, time_zone=zone),
        then,
        on_spark,
        step,
        time_zone=zone,
    )


def plan_update(
    _opened: DeltaTable, asked: UpdateRows, occasion: Occasion
) -> "RewritePlan":
    """Find the rows and the files that hold them, and calculate the new values.

    Raises:
        DeltaError: As `DeltaTable.update` lists them.
    """
    place, then = place_of_job(occasion), planned(occasion)
    return update_rows(place, asked, then, occasion.job.step)


UPDATE_ROWS: Final = register(
    Operation(
        name="update_rows",
        words="Update rows",
        title="Update rows of {table}",
        doing="Writing the files with the new values",
        action="table.update_rows",
        parameters=UpdateRows,
        plan=plan_update,
        foresee=foresee_rows,
        carry_out=carry_out_rows,
        queue=Queue.SPARK,  # of a large table
        page="tables:table-update-rows",
    )
)
