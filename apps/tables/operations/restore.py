"""A version of before becomes the newest one again."""

from dataclasses import dataclass
from typing import Final

from deltaweb.delta.writing.operations.restore import RestorePlan, carry_out_restore
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.table import DeltaTable
from deltaweb.web.tables.operations.foreseen import Foreseen, Occasion
from deltaweb.web.tables.operations.operation import Operation, register
from deltaweb.web.tables.work.log_writing import MAX_FILES_NAMED


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """What comes back.

    Attributes:
        version: The version.
    """

    version: int


def plan_restore(
    opened: DeltaTable, asked: Restore, _occasion: Occasion
) -> RestorePlan:
    """Find out which files come back, and which go.

    Raises:
        DeltaError: As `DeltaTable.plan_restore` lists them.
    """
    return opened.plan_restore(asked.version)


def foresee_restore(plan: RestorePlan) -> Foreseen:
    """Tell what a restore would do, and what it lacks."""
    rows = plan.count_rows()
    return Foreseen(
        version=plan.base_version,
        counts={
            "num_files_back": plan.added.num_rows,
            "num_files_gone": plan.removed.num_rows,
        },
        detail={
            "restores": plan.version,
            "bytes_back": plan.added_bytes,
            "bytes_gone": plan.removed_bytes,
            "rows_back": rows.back,
            "rows_gone": rows.gone,
            "rows_now": rows.now,
            "rows_then": rows.then,
            "files_now": plan.now.num_files,
            "files_then": plan.target.num_files,
            "changes_metadata": plan.metadata is not None,
            "changes_schema": plan.changes_schema,
            "num_missing": len(plan.missing),
            "missing": list(plan.missing[:MAX_FILES_NAMED]),
        },
        is_empty=plan.transaction.is_empty,
    )


def bring_back(
    opened: DeltaTable, plan: RestorePlan, occasion: Occasion
) -> CommitResult:
    """Commit what was planned.

    Raises:
        RestoreFilesMissingError: If files that would come back are gone.
        DeltaError: As `DeltaTable.restore` lists them.
    """
    return carry_out_restore(opened.store, plan, user_name=occasion.user_name)


RESTORE: Final = register(
    Operation(
        name="restore",
        words="Restore a version",
        title="Restore a version of {table}",
        doing="Committing what comes back",
        action="table.restore",
        parameters=Restore,
        plan=plan_restore,
        foresee=foresee_restore,
        carry_out=bring_back,
        page="tables:table-restore",
    )
)
