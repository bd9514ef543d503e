"""Clean-ups of logs: a list of the history that has expired, then its deletion.

A job reads the log itself, not the index: what it deletes has to be right.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from deltaweb.delta.log.paths import parse_commit_name
from deltaweb.delta.writing.log_cleanup import LogCleanup
from deltaweb.web.accounts.models import User
from deltaweb.web.jobs import kinds
from deltaweb.web.jobs.kind import JobKind
from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.running.tracking import TrackedJob
from deltaweb.web.jobs.services import enqueue
from deltaweb.web.pages.actions import Actor
from deltaweb.web.tables.errors import CleanupOutdatedError
from deltaweb.web.tables.index.refresh import refresh_anew
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.models.subjects import on_table, table_of
from deltaweb.web.tables.storage.opening import open_table, roots_of_server
from deltaweb.web.tables.work.log_writing import (
    MAX_FILES_NAMED,
    newest_of,
    record_log_writing,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanUp:
    """What is cleaned up.

    Attributes:
        seen: `checkpoint_version` and `num_files` of the list that somebody agreed to;
            None only lists.
    """

    seen: Mapping[str, int] | None = None


def list_again(table: Table, *, now: datetime, requested_by: User | None = None) -> Job:
    """Queue a list of what a clean-up would take from a log; it deletes nothing."""
    return enqueue(
        kind=CLEANUP.name,
        title=f"List the expired history of {table.full_name}",
        parameters={"table_id": str(table.id), "seen": None},
        subject_id=table.id,
        key=f"cleanup-list:{table.id}",
        requested_by=requested_by,
        now=now,
    )


@transaction.atomic
def request_cleanup(
    table: Table,
    *,
    seen: Job | None,
    actor: Actor,
    now: datetime,
    requested_by: User | None = None,
) -> Job:
    """Queue the deletion of the history that a list has shown.

    Args:
        table: The table.
        seen: The job that made the list.
        actor: Who asked, for the record.
        now: The current time.
        requested_by: The same, if it is somebody with an account.

    Raises:
        CleanupOutdatedError: If that is not the newest list, or something was deleted
            since; the worker looks at the log itself once more.
    """
    newest = newest_cleanup(table)
    is_newest = seen is not None and newest is not None and newest.id == seen.id
    if newest is None or not is_newest or not is_list(newest):
        raise CleanupOutdatedError(name=table.full_name)
    result: dict[str, Any] = newest.result or {}
    agreed = {
        "checkpoint_version": result["checkpoint_version"],
        "num_files": result["num_files"],
    }
    job = enqueue(
        kind=CLEANUP.name,
        title=f"Delete the expired history of {table.full_name}",
        parameters={"table_id": str(table.id), "seen": agreed},
        subject_id=table.id,
        key=f"cleanup:{table.id}",
        requested_by=requested_by,
        now=now,
    )
    if job.created_at == now:
        detail = agreed | {"size_bytes": result["size_bytes"], "job": str(job.id)}
        record_log_writing("table.cleanup", table, detail=detail, actor=actor, now=now)
    return job


def newest_cleanup(table: Table) -> Job | None:
    """Return the newest job that lists or deletes the expired history of a table."""
    return newest_of(CLEANUP.name, table)


def is_list(job: Job) -> bool:
    """Whether a finished job lists what would go, and deleted nothing."""
    is_dry_run = job.parameters.get("seen") is None
    return is_dry_run and job.state == Job.State.DONE and isinstance(job.result, dict)


def clean_up_log(job: TrackedJob, asked: CleanUp) -> dict[str, Any]:
    """List the history of a log that has expired, or delete what was listed.

    Raises:
        CleanupOutdatedError: If more would go than was agreed to: it is listed again.
        DeltaError: As `clean_up` says.
    """
    table = table_of(job)
    job.step("Looking for history that has expired")
    deletes = asked.seen is not None
    try:
        return clean_up(table, job, asked, now=timezone.now())
    except CleanupOutdatedError:
        # The page then shows what would go now.
        deletes = False
        list_again(table, now=timezone.now())
        raise
    finally:
        if deletes:
            # Versions that are gone are marked in the history; one that is stopped
            # halfway has taken some.
            refresh_anew(table, now=timezone.now())


def clean_up(
    table: Table, job: TrackedJob, asked: CleanUp, *, now: datetime
) -> dict[str, Any]:
    """List the history of a log that has expired, or delete what was listed.

    A run that takes up what a killed one has begun finds less, and finishes it.

    Args:
        table: The table.
        job: Told how far it is.
        asked: Its parameters.
        now: The time to count back from.

    Raises:
        CleanupOutdatedError: If more would go than was agreed to.
        DeltaError: As `deltaweb.delta.writing.log_cleanup.clean_up_log` lists them.
    """
    seen = asked.seen

    def check(found: LogCleanup) -> None:
        if seen is None:
            return
        is_other_cut = found.checkpoint_version != seen["checkpoint_version"]
        if is_other_cut or len(found.files) > seen["num_files"]:
            raise CleanupOutdatedError(name=table.full_name)
        job.step("Deleting history that has expired")

    opened = open_table(table, roots=roots_of_server())
    found = opened.clean_up_log(
        now=now,
        is_dry_run=seen is None,
        on_found=check,
        on_progress=lambda done, total: job.progress(done, total=total, unit="files"),
    )
    job.count("expired_files", len(found.files))
    job.count("expired_bytes", found.size_bytes)
    return cleanup_json(found)


def cleanup_json(found: LogCleanup) -> dict[str, Any]:
    """Return what a clean-up takes, or took, as a job's result: a bounded list."""
    versions = [parse_commit_name(file.name) for file in found.files]
    commits = [version for version in versions if version is not None]
    return {
        "is_done": found.is_done,
        "cutoff": found.cutoff.isoformat(),
        "checkpoint_version": found.checkpoint_version,
        "num_files": len(found.files),
        "num_commits": len(commits),
        "size_bytes": found.size_bytes,
        "first_version": min(commits, default=None),
        "last_version": max(commits, default=None),
        "files": [
            {"name": file.name, "size": file.size}
            for file in found.files[:MAX_FILES_NAMED]
        ],
    }


CLEANUP: Final = kinds.register(
    JobKind(
        name="tables.clean_up_log",
        words="Clean up a log",
        parameters=CleanUp,
        run=clean_up_log,
        is_reserved=True,
        is_look_unless="seen",
        page=on_table(lambda _job: ("tables:table-cleanup", (), {})),
    )
)
