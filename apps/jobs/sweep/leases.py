"""The sweep: what a killed worker or a lost message left behind is put right."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q

from deltaweb.web.jobs.broker.waking import wake
from deltaweb.web.jobs.models import Job, Worker
from deltaweb.web.jobs.running.news import tell_moved
from deltaweb.web.jobs.running.process import is_known_dead
from deltaweb.web.jobs.sweep.leftovers import remove_results

WAKE_AGAIN_AFTER = timedelta(seconds=60)
WAKE_LIMIT = 100  # jobs woken again by one sweep, the longest waiting first
WOKEN_BY: Final = ("id", "kind", "parameters", "woken_at")
KEEP_FINISHED = timedelta(days=30)
DROP_LIMIT = 500
FORGET_WORKER_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SweepResult:
    """How many jobs a sweep touched."""

    requeued: int
    given_up: int
    woken: int
    dropped: int


def sweep(*, now: datetime) -> SweepResult:
    """Queue again what lost its lease, wake what waits for long, drop what is old."""
    ends = []
    for job in _lost(now):
        end = _end_lost_lease(job, now=now)
        if end is not None:
            tell_moved(job.id, is_over=end not in Job.ACTIVE_STATES)
        ends.append(end)
    woken = _wake_again(now)
    Worker.objects.filter(seen_at__lt=now - FORGET_WORKER_AFTER).delete()
    return SweepResult(
        requeued=ends.count(Job.State.QUEUED),
        given_up=ends.count(Job.State.FAILED),
        woken=woken,
        dropped=_drop_old(now),
    )


def _lost(now: datetime) -> list[Job]:
    running = Job.objects.filter(state=Job.State.RUNNING)
    return [
        job
        for job in running.only("id", "attempts", "lease_owner", "lease_expires_at")
        if job.lease_expires_at is None
        or job.lease_expires_at < now
        or is_known_dead(job.lease_owner.partition("#")[0])
    ]


def _end_lost_lease(job: Job, *, now: datetime) -> Job.State | None:
    """Queue the job again or give it up; None when its worker renewed in between."""
    same_lease = Job.objects.filter(
        id=job.id,
        state=Job.State.RUNNING,
        lease_owner=job.lease_owner,
        lease_expires_at=job.lease_expires_at,
    )
    ended: dict[str, object] = {
        "lease_owner": "",
        "lease_expires_at": None,
        "finished_at": now,
    }
    cancelled = same_lease.filter(cancel_requested_at__isnull=False)
    if cancelled.update(state=Job.State.CANCELLED, **ended):
        return Job.State.CANCELLED
    if job.attempts >= Job.MAX_ATTEMPTS:
        given_up = same_lease.update(
            state=Job.State.FAILED,
            error_code="worker-lost",
            error=f"The worker stopped {job.attempts} times in the middle of this job.",
            error_hint=(
                "Check the worker's log for what stopped it (usually memory), then"
                " retry."
            ),
            **ended,
        )
        return Job.State.FAILED if given_up else None
    requeued = same_lease.update(
        state=Job.State.QUEUED, **(ended | {"finished_at": None, "woken_at": None})
    )
    return Job.State.QUEUED if requeued else None


def _wake_again(now: datetime) -> int:
    """Send another wake-up for the jobs that have waited longest without one.

    Only the head of the queue is looked at, so that a long queue behind a busy
    worker does not fill the broker with copies.
    """
    head = list(Job.objects.waiting().only(*WOKEN_BY)[:WAKE_LIMIT])
    late = now - WAKE_AGAIN_AFTER
    # What was woken in the future was woken by a clock that was wrong.
    due = [job for job in head if not job.woken_at or not late <= job.woken_at <= now]
    sent = due[: wake(due)]
    Job.objects.filter(id__in=[job.id for job in sent]).update(woken_at=now)
    return len(sent)


def _drop_old(now: datetime) -> int:
    """Delete jobs that finished long ago, and the results that they left as files."""
    old = Job.objects.finished_before(now - KEEP_FINISHED).order_by("created_at")
    ids = list(old.values_list("id", flat=True)[:DROP_LIMIT])
    for job_id in ids:
        remove_results(job_id)
    Job.objects.filter(Q(id__in=ids)).delete()
    return len(ids)
