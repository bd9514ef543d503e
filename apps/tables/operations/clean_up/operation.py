"""History of a log that has expired is deleted; data files are not touched.

The log itself is read, not the index: what is deleted has to be right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from apps.pages.page_json import AsText, IfKnown, Spread
from apps.tables.errors import OperationOutdatedError
from apps.tables.extension.guards import (
    HeldVersions,
    holds_at,
    holds_text,
    oldest_held,
)
from apps.tables.operations.operation import Operation, register
from apps.tables.operations.preview import OperationPreview, RunContext
from apps.tables.work.log_writing import MAX_FILES_NAMED
from deltaweb.delta.log.paths import parse_commit_name
from deltaweb.delta.writing.log_cleanup import LogCleanup
from deltaweb.table import DeltaTable
from deltaweb.words import counted

NO_CHECKPOINT: Final = -1


Expired: TypeAlias = tuple[LogCleanup, Sequence[HeldVersions]]
"""What goes of a log, and which versions stay readable all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanUp:
    """A clean-up asks for nothing: the table says how long it keeps its history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """A file of a log, with its size in bytes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredHistory:
    """What a clean-up deletes, or has deleted.

    Attributes:
        is_done: Whether it is deleted.
        cutoff: What is older may go.
        checkpoint_version: The version at which the log then begins; None where no
            checkpoint is old enough.
        num_commits: Those of the files that are commits.
        first_version: The first of the versions that go; None without any.
        files: The first of the files.
        holds: A sentence about versions that stay readable; None after the work.
    """

    is_done: bool
    cutoff: AsText
    checkpoint_version: int | None
    num_files: int
    num_commits: int
    size_bytes: int
    first_version: int | None
    last_version: int | None
    files: tuple[LogFile, ...]
    holds: IfKnown[str | None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanedUp:
    """What a clean-up has deleted; it makes no version."""

    version: None = None
    log: Spread[ExpiredHistory]


def plan(opened: DeltaTable, _asked: CleanUp, context: RunContext) -> Expired:
    """List the history that has expired."""
    context.job.step("Looking for history that has expired")
    holds = holds_at(opened.root, now=context.now)
    found = opened.clean_up_log(
        now=context.now, is_dry_run=True, keep_from=oldest_held(holds)
    )
    return found, holds


def preview(choice: Expired) -> OperationPreview[ExpiredHistory]:
    """Tell what would go; the list of the detail is bounded."""
    found, holds = choice
    held, expired = holds_text(holds), expired_history(found)
    return OperationPreview(
        version=None,
        counts=_counts(found),
        detail=lambda: replace(expired, holds=held),
        is_empty=not found.files,
        says=f"{_says('Would delete', expired)} {held}".rstrip(),
        lines=lambda: (f"  {file.name}  {file.size:,}" for file in found.files),
        exact=lambda: {
            "version": found.checkpoint_version,
            "cutoff": found.cutoff,
            "deleted": False,
            "files": [{"name": file.name, "size": file.size} for file in found.files],
        },
    )


def carry_out(opened: DeltaTable, listed: Expired, context: RunContext) -> CleanedUp:
    """Delete what was listed; one that is stopped half-way has taken the oldest."""
    expected, holds = listed

    def check(found: LogCleanup) -> None:
        if not is_still(_counts(found), _counts(expected)):
            raise OperationOutdatedError(name=opened.root)

    found = opened.clean_up_log(
        now=context.now,
        keep_from=oldest_held(holds),
        on_found=check,
        on_progress=context.job.progress_of("files"),
    )
    context.job.count("expired_files", len(found.files))
    context.job.count("expired_bytes", found.size_bytes)
    return CleanedUp(log=expired_history(found))


def is_still(found: Mapping[str, int], agreed: Mapping[str, int]) -> bool:
    """Tell whether no more goes than somebody agreed to.

    What takes up a clean-up that was stopped finds less, and finishes it.
    """
    is_same_cut = found["checkpoint_version"] == agreed["checkpoint_version"]
    return is_same_cut and found["num_files"] <= agreed["num_files"]


def expired_history(found: LogCleanup) -> ExpiredHistory:
    """Return what a clean-up deletes, or has deleted; the list is bounded."""
    versions = [parse_commit_name(file.name) for file in found.files]
    commits = [version for version in versions if version is not None]
    return ExpiredHistory(
        is_done=found.is_done,
        cutoff=found.cutoff,
        checkpoint_version=found.checkpoint_version,
        num_files=len(found.files),
        num_commits=len(commits),
        size_bytes=found.size_bytes,
        first_version=min(commits, default=None),
        last_version=max(commits, default=None),
        files=tuple(
            LogFile(name=file.name, size=file.size)
            for file in found.files[:MAX_FILES_NAMED]
        ),
    )


def _counts(found: LogCleanup) -> dict[str, int]:
    cut = found.checkpoint_version
    return {
        "checkpoint_version": NO_CHECKPOINT if cut is None else cut,
        "num_files": len(found.files),
    }


def _says(verb: str, log: ExpiredHistory) -> str:
    before = f"before {log.cutoff:%Y-%m-%d} 00:00:00 UTC"
    if not log.num_files:
        return f"Nothing of the log {before} can be deleted."
    count = counted(log.num_files, "file")
    size = counted(log.size_bytes, "byte")
    gone = ""
    if log.num_commits:
        first, last = log.first_version, log.last_version
        gone = f" Versions {first} to {last} are deleted for good."
    return f"{verb} {count} ({size}) of the log {before}.{gone}"


CLEAN_UP: Final = register(
    Operation(
        name="clean_up_log",
        words="Clean up a log",
        title="Delete the expired history of {table}",
        doing="Deleting history that has expired",
        action="table.cleanup",
        parameters=CleanUp,
        plan=plan,
        preview=preview,
        detail=ExpiredHistory,
        carry_out=carry_out,
        result=CleanedUp,
        is_still=is_still,
        question=lambda _asked, opened: f"Delete them from {opened.root}?",
        result_text=lambda result: _says("Deleted", result.log),
        deletes_files=True,
        is_apart=False,
        page="tables:table-cleanup",
    )
)
