"""The rows of a condition go."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deltaweb import spark
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.table import DeltaTable
from deltaweb.web.jobs.kind import Queue
from deltaweb.web.tables.operations.foreseen import Occasion
from deltaweb.web.tables.operations.operation import Operation, register
from deltaweb.web.tables.operations.parameters import parameter, zone_parameter
from deltaweb.web.tables.operations.rows.engines import with_fitting_engine
from deltaweb.web.tables.operations.rows.previews import (
    LookedAt,
    carry_out_rows,
    foresee_looked_at,
    looked_at,
    rows_meant,
)
from deltaweb.writer import rewrite

if TYPE_CHECKING:
    from deltaweb.web.tables.index.spark_session import SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRows:
    """Which rows go.

    Attributes:
        where: A condition in SQL; empty for every row.
        time_zone: Whose clocks show its times without a zone.
    """

    where: str = parameter(
        "", "--where", metavar="SQL", help="rows to delete; all if omitted"
    )
    time_zone: str = zone_parameter(UTC_ZONE)


def plan_delete(opened: DeltaTable, asked: DeleteRows, occasion: Occasion) -> LookedAt:
    """Find the rows and the files that hold them."""
    then, where = looked_at(occasion), asked.where or None

    def on_spark(session: "SparkSession") -> LookedAt:
        return then(
            spark.writing.rewrite.run.deletion(session, occasion.place(), where)
        )

    return with_fitting_engine(
        lambda: rewrite.run.deletion(opened.store, where, time_zone=asked.time_zone),
        then,
        on_spark,
        occasion,
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
        foresee=foresee_looked_at,
        carry_out=carry_out_rows,
        question=lambda asked, where: f"Delete {rows_meant(asked.where)} of {where}?",
        has_engines=True,
        queue=Queue.SPARK,  # of a large table
        page="tables:table-delete-rows",
    )
)
