"""The clock of repeated maintenance: it requests what is due, and notes how it ended.

A run is a job of the operation, made at the version that the table then has. It plans
anew, so it respects holds and retention as a run by a person does.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Final

from django.db import transaction

from apps.jobs.models import Job
from apps.operate.switches.state import WRITES, off_sentence
from apps.pages.actions import Actor, Stamp
from apps.pages.page_json import from_json
from apps.tables.models import RepeatedOperation, Table
from apps.tables.models.repeats import next_run
from apps.tables.operations.checkpoint.operation import CHECKPOINT
from apps.tables.operations.clean_up.operation import CLEAN_UP
from apps.tables.operations.operation import AnyOperation
from apps.tables.operations.optimize.operation import OPTIMIZE
from apps.tables.operations.requests import request_operation
from apps.tables.operations.vacuum.operation import VACUUM

SCHEDULE: Final = Actor(name="deltaweb schedule")
BATCH: Final = 100
REPEATABLE: Final[Mapping[str, AnyOperation]] = {
    "optimize": OPTIMIZE,
    "vacuum": VACUUM,
    "checkpoint": CHECKPOINT,
    "cleanup": CLEAN_UP,
}
"""The operations by the names in `LABELS`."""


def request_due_repeats(*, now: datetime) -> int:
    """Queue each operation that is due; return how many.

    One that missed its time, because the server was off, runs once.
    While writes are switched off, none is queued.
    """
    if off_sentence(WRITES) is not None:
        return 0
    due = RepeatedOperation.objects.filter(
        due_at__lte=now, table__vanished_at=None, table__version__isnull=False
    )
    number = 0
    for repeat in due.select_related("table", "last_job").order_by("due_at")[:BATCH]:
        following = next_run(repeat.every, repeat.at, after=now)
        claimed = RepeatedOperation.objects.filter(pk=repeat.pk, due_at=repeat.due_at)
        if not claimed.update(due_at=following):
            continue  # another worker was first, or it was changed
        if repeat.last_job is None or not repeat.last_job.is_active:
            _request(repeat, now)
            number += 1
    return number


@transaction.atomic
def _request(repeat: RepeatedOperation, now: datetime) -> None:
    operation = REPEATABLE[repeat.operation]
    job = request_operation(
        operation,
        repeat.table,
        from_json(operation.parameters, repeat.parameters),
        seen=None,
        is_scheduled=True,
        stamp=Stamp(SCHEDULE, now),
    )
    RepeatedOperation.objects.filter(pk=repeat.pk).update(
        last_job=job, last_started_at=now, last_state="", last_result=""
    )


def note_ends() -> Iterator[Table]:
    """Keep how the last runs ended, and yield their tables."""
    over = RepeatedOperation.objects.filter(
        last_state="", last_job__finished_at__isnull=False
    )
    for repeat in over.select_related("table", "last_job")[:BATCH]:
        job = repeat.last_job
        if job is None or job.is_active:
            continue
        has_failed = job.state == Job.State.FAILED
        noted = RepeatedOperation.objects.filter(
            pk=repeat.pk, last_job=job, last_state=""
        ).update(
            last_state=job.state,
            last_result=job.error if has_failed else _result(repeat, job),
            failures=repeat.failures + 1 if has_failed else 0,
        )
        if noted:
            yield repeat.table


def _result(repeat: RepeatedOperation, job: Job) -> str:
    """Return what a run did, in the words of its operation."""
    operation = REPEATABLE[repeat.operation]
    done = None
    with suppress(KeyError, TypeError, ValueError):  # of another release
        done = operation.result_of(job)
    if done is None or done.result is None:
        return ""
    return operation.result_text(done.result).splitlines()[0]
