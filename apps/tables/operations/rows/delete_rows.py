"""The rows of a condition go."""

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
    from collections.abc import Callable

    from deltaweb.storage.place import TablePlace
    from deltaweb.web.tables.index.spark_session import SparkSession
    from deltaweb.writer.rewrite.plan import Rewrite, RewritePlan

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRows:
    """Which rows go.

    Attributes:
        where: A condition in SQL; empty for every row.
        time_zone: Whose clocks show its times without a zone.
    """

    where: str = ""
    time_zone: str = UTC_ZONE


def delete_rows(
    place: "TablePlace",
    asked: DeleteRows,
    then: "Callable[[Rewrite], T]",
    step: Step,
) -> T:
    """Delete rows, here or by Spark.

    Args:
        place: The table.
        asked: Which rows.
        then: Called with the deletion, to look at it or to commit it.
        step: Told that Spark is started, where it is.

    Raises:
        DeltaError: As `DeltaTable.delete` lists them.
    """
    from deltaweb.writer.rewrite.run import deletion

    where, zone = asked.where or None, asked.time_zone

    def on_spark(spark: "SparkSession") -> T:
        from deltaweb.spark.writing.rewrite import run  # who needs it alone loads Spark

        return then(run.deletion(spark, place, where))

    return with_fitting_engine(
        lambda: deletion(place.open(), where, time_zone=zone),
        then,
        on_spark,
        step,
        time_zone=zone,
    )


def plan_delete(
    _opened: DeltaTable, asked: DeleteRows, occasion: Occasion
) -> "RewritePlan":
    """Find the rows and the files that hold them.

    Raises:
        DeltaError: As `DeltaTable.delete` lists them.
    """
    place, then = place_of_job(occasion), planned(occasion)
    return delete_rows(place, asked, then, occasion.job.step)


DELETE_ROWS: Final = register(
    Operation(
        name="delete_rows",
        words="Delete rows",
        title="Delete rows of {table}",
        doing="Writing the files without the rows",
        action="table.delete_rows",
        parameters=DeleteRows,
        plan=plan_delete,
        foresee=foresee_rows,
        carry_out=carry_out_rows,
        queue=Queue.SPARK,  # of a large table
        page="tables:table-delete-rows",
    )
)
