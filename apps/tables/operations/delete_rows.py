"""The rows of a condition go."""

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
class DeleteRows:
    """Which rows go.

    Attributes:
        where: A condition in SQL; empty for every row.
    """

    where: str = ""


def plan_delete(
    opened: DeltaTable, asked: DeleteRows, occasion: Occasion
) -> "RewritePlan":
    """Find the rows and the files that hold them.

    Raises:
        DeltaError: As `DeltaTable.delete` lists them.
    """
    from deltaweb.writer.rewrite.run import deletion

    where = asked.where or None
    return plan_rows(
        occasion,
        lambda: deletion(opened.store, where),
        lambda spark, place: _on_spark(spark, place, where),
    )


def _on_spark(
    spark: "SparkSession", place: "TablePlace", where: str | None
) -> "Rewrite":
    from deltaweb.spark.writing.rewrite import run  # workers alone load Spark

    return run.deletion(spark, place, where)


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
