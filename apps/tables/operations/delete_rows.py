"""The rows of a condition go."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from apps.tables.operations.foreseen import Occasion
from apps.tables.operations.operation import Operation, register
from apps.tables.operations.row_previews import (
    carry_out_rows,
    foresee_rows,
    progress_of,
)
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from deltaweb.writer.rewrite.plan import RewritePlan


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
    return opened.plan_delete(asked.where or None, on_progress=progress_of(occasion))


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
        page="tables:table-delete-rows",
    )
)
