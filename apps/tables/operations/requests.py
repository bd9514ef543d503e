"""What pages and scripts ask of operations: a preview, then what was looked at."""

from datetime import datetime
from typing import Final, TypeVar

from django.db import transaction

from apps.accounts.models import User
from apps.jobs.kind import to_json
from apps.jobs.models import Job
from apps.jobs.services import enqueue
from apps.pages.actions import Stamp
from apps.tables.errors import OperationOutdatedError
from apps.tables.models import Table
from apps.tables.operations.operation import Operation
from apps.tables.operations.preview import Approval
from apps.tables.operations.preview_jobs import (
    key_of,
    preview_title,
)
from apps.tables.work.log_writing import record_log_writing

NO_TABLE: Final = -1
"""The version where no table is: what is made unseen is made of nothing."""

P = TypeVar("P")
T = TypeVar("T")
D = TypeVar("D")
R = TypeVar("R")


def request_preview(
    operation: Operation[P, T, D, R],
    table: Table | None,
    asked: P,
    *,
    now: datetime,
    requested_by: User | None = None,
) -> Job:
    """Queue a preview of what an operation would do; it changes nothing.

    Args:
        table: The table; None for one that makes one.
    """
    return _queue(operation, table, asked, None, now=now, requested_by=requested_by)


@transaction.atomic
def request_operation(  # noqa: PLR0913 (each is one part of what is asked)
    operation: Operation[P, T, D, R],
    table: Table | None,
    asked: P,
    *,
    seen: Job | None,
    unseen_at: int | None = None,
    is_scheduled: bool = False,
    stamp: Stamp,
    requested_by: User | None = None,
) -> Job:
    """Queue an operation that somebody has looked at and agreed to.

    Args:
        table: As for the preview.
        asked: Its parameters: those of the preview, but for what is chosen after it.
        seen: The job of the preview; one that is harmless may be asked for without.
        unseen_at: The version of the table at which anything else may be, too: if a
            newer one is made after the request, it is not done, and looked at.
            `NO_TABLE` of one that is made.
        is_scheduled: Whether the clock requests it, at the version that the table has
            when it is done.
    """
    name = table.full_name if table else operation.words
    found = operation.preview_of(seen)
    is_unseen = operation.is_harmless or is_scheduled or unseen_at is not None
    if seen is None and is_unseen:
        agreed = Approval(
            job="", at=stamp.at, version=unseen_at, counts={}, by=stamp.actor.name
        )
    elif seen is None or found is None or seen.kind != operation.kind:
        raise OperationOutdatedError(name=name)
    else:
        agreed = Approval(
            job=str(seen.id),
            at=found.at,
            version=found.version,
            counts=operation.agreed(found, asked),
            by=stamp.actor.name,
        )
    job = _queue(
        operation, table, asked, agreed, now=stamp.at, requested_by=requested_by
    )
    if job.created_at == stamp.at and table is not None:
        detail = {**to_json(asked), **agreed.counts, "job": str(job.id)}
        action = operation.action_name(asked)
        record_log_writing(action, table, detail=detail, stamp=stamp)
    return job


def _queue(  # noqa: PLR0913 (as above)
    operation: Operation[P, T, D, R],
    table: Table | None,
    asked: P,
    seen: Approval | None,
    *,
    now: datetime,
    requested_by: User | None,
) -> Job:
    parameters = {
        "table_id": str(table.id) if table else None,
        "asked": to_json(asked),
        "seen": seen.to_json() if seen else None,
    }
    # One that makes a table is told its name.
    name = table.full_name if table else getattr(asked, "name", "")
    title = operation.title.format(table=name)
    return enqueue(
        kind=operation.kind,
        title=title if seen else preview_title(title),
        parameters=parameters,
        subject_id=table.id if table else None,
        key=key_of(operation.kind, parameters),
        requested_by=requested_by,
        now=now,
    )
