"""Writing into a table's log: it is asked for, recorded and queued."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.jobs.services import enqueue
from apps.pages.actions import Action, Actor, report
from apps.tables.errors import CleanupOutdatedError
from apps.tables.models import Table

CHECKPOINT_KIND: Final = "tables.write_checkpoint"
CLEANUP_KIND: Final = "tables.clean_up_log"


@transaction.atomic
def request_checkpoint(  # noqa: PLR0913 (each is one part of what is asked)
    table: Table,
    *,
    version: int,
    parts: int | None,
    actor: Actor,
    now: datetime,
    requested_by: User | None = None,
) -> Job:
    """Queue a checkpoint; the job that already writes the same one is returned.

    Args:
        table: The table.
        version: The version to write it of.
        parts: Into how many files; None is a single one.
        actor: Who asked, for the record.
        now: The current time.
        requested_by: The same, if it is somebody with an account.
    """
    job = enqueue(
        kind=CHECKPOINT_KIND,
        title=f"Write the checkpoint of {table.full_name} at version {version}",
        parameters={"table_id": str(table.id), "version": version, "parts": parts},
        subject_id=table.id,
        key=f"checkpoint:{table.id}:{version}:{parts}",
        requested_by=requested_by,
        now=now,
    )
    if job.created_at == now:  # or whoever finds it under way had not asked for it
        detail = {"version": version, "parts": parts, "job": str(job.id)}
        record_upkeep("table.checkpoint", table, detail=detail, actor=actor, now=now)
    return job


def list_again(table: Table, *, now: datetime, requested_by: User | None = None) -> Job:
    """Queue a list of what a clean-up would take from a log; it deletes nothing."""
    return enqueue(
        kind=CLEANUP_KIND,
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
        kind=CLEANUP_KIND,
        title=f"Delete the expired history of {table.full_name}",
        parameters={"table_id": str(table.id), "seen": agreed},
        subject_id=table.id,
        key=f"cleanup:{table.id}",
        requested_by=requested_by,
        now=now,
    )
    if job.created_at == now:
        detail = agreed | {"size_bytes": result["size_bytes"], "job": str(job.id)}
        record_upkeep("table.cleanup", table, detail=detail, actor=actor, now=now)
    return job


def newest_cleanup(table: Table) -> Job | None:
    """Return the newest job that lists or deletes the expired history of a table."""
    return _newest(table, CLEANUP_KIND)


def newest_checkpoint_job(table: Table) -> Job | None:
    """Return the newest job that writes a checkpoint of a table."""
    return _newest(table, CHECKPOINT_KIND)


def is_list(job: Job) -> bool:
    """Whether a finished job lists what would go, and deleted nothing."""
    is_dry_run = job.parameters.get("seen") is None
    return is_dry_run and job.state == Job.State.DONE and isinstance(job.result, dict)


def record_upkeep(
    action: str,
    table: Table,
    *,
    detail: Mapping[str, object],
    actor: Actor,
    now: datetime,
) -> None:
    """Record that somebody writes into a table's log.

    Args:
        action: `table.checkpoint` or `table.cleanup`.
        table: The table.
        detail: What is written or deleted.
        actor: Who asked.
        now: The current time.
    """
    report(
        Action(
            name=action,
            actor=actor,
            at=now,
            table=table.full_name,
            table_id=table.id,
            detail=detail,
        )
    )


def _newest(table: Table, kind: str) -> Job | None:
    jobs = Job.objects.filter(subject_id=table.id, kind=kind)
    return jobs.defer("log", "error_detail").order_by("-created_at", "-id").first()
