"""What users and other apps ask of jobs: queue, cancel, retry."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from apps.accounts.models import User
from apps.jobs.broker.waking import wake, wake_on_commit
from apps.jobs.kinds import is_reserved
from apps.jobs.models import Job
from apps.jobs.running.news import JOBS, tell_moved
from apps.news.publishing import publish
from apps.pages.actions import Action, Stamp, report
from apps.pages.errors import PageError
from apps.pages.request.prefetching import NotPrefetchedError, is_prefetch


class JobNotRetryableError(PageError, code="job-not-retryable"):
    """Only a job that failed or was cancelled can be run again."""

    job: Job
    status = 409
    message = "“{_title}” is {_state}."
    hint = "Only a job that failed or was cancelled can be run again."

    @property
    def _title(self) -> str:
        return self.job.title

    @property
    def _state(self) -> str:
        return self.job.get_state_display()


def enqueue(  # noqa: PLR0913 (each is one column of the row)
    *,
    kind: str,
    title: str,
    now: datetime,
    parameters: dict[str, Any] | None = None,
    subject_id: uuid.UUID | None = None,
    key: str = "",
    requested_by: User | None = None,
    reuse: bool = False,
    is_cheap: bool = False,
    is_new: bool = False,
) -> Job:
    """Queue a run of background work and wake a worker once the row is committed.

    Args:
        kind: The name of the task, such as `tables.index_log`; the task is called
            with `job_id` alone and reads the rest from the row.
        title: What the work is, for people: "Index sales.orders".
        subject_id: The table that the job is about. Who may not see the table may
            not see the job.
        key: Equal keys ask for equal work. An active job with this key is returned
            instead of a second one; the database holds that there is one at most.
        requested_by: Who asked; None for the app itself.
        reuse: Also return the newest finished job with this key: its cached result.
        is_cheap: Whether it is worth its work for a page that nobody has opened yet.
        is_new: Whether the caller has looked for such a job just now, and found none.

    Returns:
        The new job, or the one that already does or has done this work.
    """
    if key and not is_new and (existing := _same_work(key, reuse=reuse)):
        return existing
    if is_prefetch() and not (is_cheap and not Job.objects.waiting().exists()):
        raise NotPrefetchedError
    job = Job(
        kind=kind,
        title=title[:300],
        parameters=parameters or {},
        subject_id=subject_id,
        key=key,
        requested_by=requested_by,
        created_at=now,
        woken_at=now,
    )
    try:
        with transaction.atomic():
            job.save(force_insert=True)
    except IntegrityError:
        # Another request was faster: its job does the same work.
        if not key or (existing := _same_work(key, reuse=reuse)) is None:
            raise
        return existing
    wake_on_commit(job)
    publish(JOBS)
    return job


def enqueue_many(jobs: Sequence[Job], *, num_woken: int) -> None:
    """Queue new work, none of which is asked for already, in one statement.

    Args:
        jobs: Rows that are not stored yet.
        num_woken: How many of them workers are told of, once that is committed. The
            sweep tells of the others in turn, so that what people ask for meanwhile
            does not come after all of them.
    """
    woken = jobs[:num_woken]
    for job in woken:
        job.woken_at = job.created_at
    Job.objects.bulk_create(jobs)
    transaction.on_commit(lambda: wake(woken), robust=True)
    publish(JOBS)


def bring_forward(job: Job, *, now: datetime) -> None:
    """Tell a worker of a job that somebody looks for, if none was told of it yet."""
    if job.woken_at is not None or is_prefetch():
        return
    waits = Job.objects.filter(id=job.id, state=Job.State.QUEUED, woken_at=None)
    if waits.update(woken_at=now):
        wake_on_commit(job)


def cancel(job: Job, *, now: datetime) -> Job:
    """Cancel a waiting job at once; ask the worker of a running one to stop.

    A finished job stays as it is.
    """
    waiting = Job.objects.filter(id=job.id, state=Job.State.QUEUED)
    if not waiting.update(
        state=Job.State.CANCELLED, cancel_requested_at=now, finished_at=now
    ):
        Job.objects.filter(
            id=job.id, state=Job.State.RUNNING, cancel_requested_at__isnull=True
        ).update(cancel_requested_at=now)
    job.refresh_from_db()
    tell_moved(job.id, is_over=not job.is_active)
    return job


@transaction.atomic
def retry(
    job: Job,
    *,
    requested_by: User | None,
    stamp: Stamp,
) -> Job:
    """Queue the work of a failed or cancelled job again, as a new job.

    The old row stays, with its step and its cause. Work that is reserved to editors
    is recorded as theirs.
    """
    if not job.can_be_retried:
        raise JobNotRetryableError(job=job)
    if is_reserved(job.kind):
        report(
            Action(
                name="job.retry",
                stamp=stamp,
                table_id=job.subject_id,
                detail={"job": str(job.id), "kind": job.kind, "title": job.title},
            )
        )
    return enqueue(
        kind=job.kind,
        title=job.title,
        parameters=job.parameters,
        subject_id=job.subject_id,
        key=job.key,
        requested_by=requested_by,
        now=stamp.at,
    )


def _same_work(key: str, *, reuse: bool) -> Job | None:
    active = Job.objects.active().filter(key=key).first()
    if active is None and reuse:
        return Job.objects.filter(key=key, state=Job.State.DONE).first()
    return active
