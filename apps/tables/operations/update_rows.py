"""Columns take new values in the rows of a condition."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from apps.jobs.kind import Queue
from apps.tables.operations.foreseen import Occasion
from apps.tables.operations.operation import Operation, register
from apps.tables.operations.row_engines import plan_rows
from apps.tables.operations.row_previews import carry_out_rows, foresee_rows
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession
    from deltaweb.storage.place import TablePlace
    from deltaweb.writer.rewrite.plan import Rewrite, RewritePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRows:
    """Which rows change, and how.

    Attributes:
        assignments: The SQL of the new value by the name of the column.
        where: A condition in SQL; empty for every row.
    """

    assignments: Mapping[str, str]
    where: str = ""


def plan_update(
    opened: DeltaTable, asked: UpdateRows, occasion: Occasion
) -> "RewritePlan":
    """Find the rows and the files that hold them, and calculate the new values.

    Raises:
        DeltaError: As `DeltaTable.update` lists them.
    """
    from deltaweb.writer.rewrite.run import update

    return plan_rows(
        occasion,
        lambda: update(opened.store, asked.assignments, asked.where or None),
        lambda spark, place: _on_spark(spark, place, asked),
    )


def _on_spark(
    spark: "SparkSession", place: "TablePlace", asked: UpdateRows
) -> "Rewrite":
    from deltaweb.spark.writing.rewrite import run  # workers alone load Spark

    return run.update(spark, place, asked.assignments, asked.where or None)


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
