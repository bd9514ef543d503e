"""A version of before becomes the newest one again."""

from dataclasses import dataclass
from typing import Final

from apps.pages.changes.parameters import Line, parameter
from apps.tables.operations.operation import Operation, commit_text, register
from apps.tables.operations.preview import BackAndGone, OperationPreview, RunContext
from apps.tables.work.log_writing import MAX_FILES_NAMED
from deltaweb.delta.writing.operations.restore import RestorePlan, carry_out_restore
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.table import DeltaTable
from deltaweb.words import counted

MAX_VERSION: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """What comes back.

    Attributes:
        version: The version; null if `timestamp` is given.
        timestamp: A time; its version is restored.
        timestamp_zone: The time zone of a time without one.
    """

    version: int | None = parameter(
        None,
        option=None,  # beside the time, of which a command takes either
        line=Line(
            label="Version",
            help="The version to restore; the history lists them all.",
            least=0,
            most=MAX_VERSION,
            wrong="Give the number of a version.",
            is_needed=True,
        ),
    )
    timestamp: str | None = None
    timestamp_zone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreDetail(BackAndGone):
    """What else the preview of a restore shows.

    Attributes:
        restores: The version that comes back.
    """

    restores: int
    files_now: int
    files_then: int


def plan_restore(
    opened: DeltaTable, asked: Restore, _context: RunContext
) -> RestorePlan:
    """Find out which files come back, and which go."""
    there = DeltaTable.from_store(opened.store, time_zone=asked.timestamp_zone)
    return there.plan_restore(asked.version, asked.timestamp)


def preview_restore(plan: RestorePlan) -> OperationPreview[RestoreDetail]:
    """Tell what a restore would do, and what it lacks."""
    rows = plan.count_rows()
    says = (
        f"{counted(plan.added.num_rows, 'file')} ({plan.added_bytes:,} bytes) "
        f"would be restored, {counted(plan.removed.num_rows, 'file')} "
        f"({plan.removed_bytes:,} bytes) would be removed."
    )
    return OperationPreview(
        version=plan.base_version,
        counts={
            "num_files_back": plan.added.num_rows,
            "num_files_gone": plan.removed.num_rows,
        },
        detail=lambda: RestoreDetail(
            restores=plan.version,
            bytes_back=plan.added_bytes,
            bytes_gone=plan.removed_bytes,
            rows_back=rows.back,
            rows_gone=rows.gone,
            rows_now=rows.now,
            rows_then=rows.then,
            files_now=plan.now.num_files,
            files_then=plan.target.num_files,
            changes_metadata=plan.metadata is not None,
            changes_schema=plan.changes_schema,
            num_missing=len(plan.missing),
            missing=tuple(plan.missing[:MAX_FILES_NAMED]),
        ),
        is_empty=plan.transaction.is_empty,
        says=says,
        lines=lambda: plan.missing,
        exact=lambda: {
            "version": plan.version,
            "base_version": plan.base_version,
            "num_added_files": plan.added.num_rows,
            "num_removed_files": plan.removed.num_rows,
            "added_bytes": plan.added_bytes,
            "removed_bytes": plan.removed_bytes,
            "missing": list(plan.missing),
        },
    )


def bring_back(
    opened: DeltaTable, plan: RestorePlan, context: RunContext
) -> CommitResult:
    """Commit what was planned."""
    return carry_out_restore(opened.store, plan, user_name=context.user_name)


RESTORE: Final = register(
    Operation(
        name="restore",
        words="Restore a version",
        title="Restore a version of {table}",
        doing="Committing the restored version",
        action="table.restore",
        parameters=Restore,
        plan=plan_restore,
        preview=preview_restore,
        detail=RestoreDetail,
        carry_out=bring_back,
        result=CommitResult,
        result_text=commit_text,
        check=lambda plan: plan.check(),
        question=lambda asked, opened: (
            f"Restore version {asked.version} of {opened.root}?"
            if asked.timestamp is None
            else f"Restore the version of {asked.timestamp} of {opened.root}?"
        ),
        page="tables:table-restore",
    )
)
