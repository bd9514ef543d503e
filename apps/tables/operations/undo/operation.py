"""One commit is undone; later commits keep their effect."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from apps.pages.changes.parameters import Line, parameter
from apps.tables.operations.operation import Operation, commit_text, register
from apps.tables.operations.preview import BackAndGone, OperationPreview, RunContext
from apps.tables.work.log_writing import MAX_FILES_NAMED
from deltaweb.delta.writing.operations.undo import UndoPlan, plan_undo
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.table import DeltaTable
from deltaweb.words import counted
from deltaweb.writer.undo import carry_out_undo

MAX_VERSION: Final = 2**63 - 1
MAX_APPLICATIONS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Which commit is undone.

    Attributes:
        version: The version that the commit made.
    """

    version: int = parameter(
        -1,
        line=Line(
            label="Version",
            help="The commit that made this version is undone.",
            least=0,
            most=MAX_VERSION,
            wrong="Give the number of a version.",
            is_needed=True,
        ),
        metavar="VERSION",
        help="the version that the commit made",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoDetail(BackAndGone):
    """What else the preview of an undo shows.

    Attributes:
        undoes: The version whose commit is undone.
        is_newest: Whether the table is still as the commit left it.
        refusal: Why the commit cannot be undone; "" if it can.
        remedy: What to do instead; "" likewise.
        later: The first later version that prevents it; None if none does.
        restores: The version that a restore brings back instead; None without one.
        applications: The first of the streams whose progress the commit noted.
    """

    undoes: int
    is_newest: bool
    refusal: str
    remedy: str
    applications: tuple[str, ...]
    later: int | None = None
    restores: int | None = None


def plan(opened: DeltaTable, asked: Undo, context: RunContext) -> UndoPlan:
    """Find out which files return and which go, or why the commit stays."""
    return plan_undo(opened.store, asked.version, txn=context.txn)


def preview(plan: UndoPlan) -> OperationPreview[UndoDetail]:
    """Describe what an undo would do, or why it cannot be done."""
    refusal, rows = plan.refusal, plan.rows
    missing = tuple(getattr(refusal, "paths", ()))
    return OperationPreview(
        version=plan.base_version,
        counts={
            "num_files_back": plan.added.num_rows,
            "num_files_gone": plan.removed.num_rows,
        },
        detail=lambda: UndoDetail(
            undoes=plan.version,
            is_newest=plan.is_newest,
            bytes_back=plan.added_bytes,
            bytes_gone=plan.removed_bytes,
            rows_back=rows.back,
            rows_gone=rows.gone,
            rows_now=rows.now,
            rows_then=rows.then,
            changes_metadata=plan.metadata is not None,
            changes_schema=plan.changes_schema,
            refusal=refusal.message if refusal else "",
            remedy=refusal.hint if refusal else "",
            num_missing=len(missing),
            missing=missing[:MAX_FILES_NAMED],
            applications=plan.applications[:MAX_APPLICATIONS],
            later=getattr(refusal, "later", None),
            restores=getattr(refusal, "restores", None),
        ),
        is_empty=plan.is_done,
        says=_says(plan),
        lines=lambda: _lines(plan, missing),
        exact=lambda: {
            "num_added_files": plan.added.num_rows,
            "num_removed_files": plan.removed.num_rows,
            "missing": list(missing),
        },
    )


def _says(plan: UndoPlan) -> str:
    if plan.refusal is not None:
        return f"{plan.refusal.message} {plan.refusal.hint}"
    return (
        f"{counted(plan.added.num_rows, 'file')} ({plan.added_bytes:,} bytes) "
        f"would return, {counted(plan.removed.num_rows, 'file')} "
        f"({plan.removed_bytes:,} bytes) would be removed."
    )


def _lines(plan: UndoPlan, missing: tuple[str, ...]) -> Iterator[str]:
    yield from missing
    for name in plan.applications:
        yield f"{name} does not write these rows again: its progress stays noted."


def carry_out(opened: DeltaTable, plan: UndoPlan, context: RunContext) -> CommitResult:
    """Commit what was planned."""
    return carry_out_undo(opened.store, plan, user_name=context.user_name)


UNDO: Final = register(
    Operation(
        name="undo",
        words="Undo a commit",
        title="Undo a commit of {table}",
        doing="Committing the undo",
        action="table.undo",
        parameters=Undo,
        plan=plan,
        preview=preview,
        detail=UndoDetail,
        carry_out=carry_out,
        result=CommitResult,
        result_text=commit_text,
        check=lambda plan: plan.check(),
        question=lambda asked, opened: (
            f"Undo version {asked.version} of {opened.root}?"
        ),
        page="tables:table-undo",
    )
)
