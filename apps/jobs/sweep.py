"""The sweep: what a killed worker or a lost message left behind is put right.

Jobs are queued again, their files go in time, and a worker says that it lives.
"""

import logging
import re
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Q
from django.utils import timezone

from apps.jobs.broker.waking import wake
from apps.jobs.models import Job, Worker
from apps.jobs.results import RESULTS_FOLDER
from apps.jobs.running.failures import write_end
from apps.jobs.running.news import tell_moved
from apps.jobs.running.process import is_known_dead, process_name

WAKE_AGAIN_AFTER = timedelta(seconds=60)
WAKE_LIMIT = 100  # jobs woken again by one sweep, the longest waiting first
WOKEN_BY: Final = ("id", "kind", "parameters", "woken_at")
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
        fields = {
            "state": Job.State.FAILED,
            "error_code": "worker-lost",
            "error": (
                f"The worker stopped {job.attempts} times in the middle of this job."
            ),
            "error_hint": (
                "Check the worker's log for what stopped it (usually memory), then"
                " retry."
            ),
        }
        given_up = write_end(job.id, same_lease, fields | ended)
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
    old = Job.objects.finished_before(now - timedelta(days=settings.JOB_DAYS)).order_by(
        "created_at"
    )
    ids = list(old.values_list("id", flat=True)[:DROP_LIMIT])
    for job_id in ids:
        remove_results(job_id)
    Job.objects.filter(Q(id__in=ids)).delete()
    return len(ids)


# === Files of jobs: results, folders that they work in, and when both go ===


SCRATCH_FOLDER: Final = "scratch"
ABANDONED_AFTER_S: Final = 6 * 3600  # what is that old is not being begun just now
_JOB_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UNFINISHED: Final = {".part", ".partial"}


def remove_results(job_id: object) -> None:
    """Remove what a job has left as files."""
    for path in (Path(settings.HOME) / RESULTS_FOLDER).glob(f"{job_id}*"):
        _remove(path)


def remove_leftovers(*, now: datetime) -> int:
    """Remove what killed workers left, and results that no job names any more.

    A folder to work in and a half-written result go when their job is no longer active,
    a whole result when its job is no longer known; neither before it is old.

    Returns:
        How many files and folders went.
    """
    places = list(_old_places(now.timestamp() - ABANDONED_AFTER_S))
    asked = Job.objects.filter(id__in={job_id for _, job_id in places})
    active = {str(job_id) for job_id in asked.active().values_list("id", flat=True)}
    known = {str(job_id) for job_id in asked.values_list("id", flat=True)}
    left = [
        path
        for path, job_id in places
        if job_id not in (known if _is_result(path) else active)
    ]
    for path in left:
        _remove(path)
    return len(left)


def _old_places(before_s: float) -> Iterator[tuple[Path, str]]:
    """Give what has not changed since a moment, and the id of the job in its name."""
    for name in (RESULTS_FOLDER, SCRATCH_FOLDER):
        folder = Path(settings.HOME) / name
        for path in folder.iterdir() if folder.is_dir() else ():
            found = _JOB_ID.search(path.name)
            if found and _changed_at_s(path) < before_s:
                yield path, found[0]


def _is_result(path: Path) -> bool:
    return path.parent.name == RESULTS_FOLDER and path.suffix not in _UNFINISHED


def _changed_at_s(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


logger = logging.getLogger(__name__)

# === Workers that live ===


INTERVAL_S = 5
STOP_TIMEOUT_S = 5


class Heartbeat:
    """Writes a worker's row again and again, in a thread that ends with the process.

    Args:
        queues: The names of the queues that the worker takes jobs from.
    """

    def __init__(self, queues: Iterable[str] = ()) -> None:
        self._queues = sorted(queues)
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._beat, name="heartbeat", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Take the worker's row away: it leaves in good order."""
        self._stop.set()
        self._thread.join(STOP_TIMEOUT_S)  # or its last beat would bring the row back
        try:
            Worker.objects.filter(name=process_name()).delete()
        except (DatabaseError, InterfaceError):
            logger.warning("This worker's row stays behind until it is forgotten.")

    def _beat(self) -> None:
        swept = False
        while True:
            try:
                beat_once(self._queues)
                if not swept:
                    sweep(now=timezone.now())
                    swept = True
            except (DatabaseError, InterfaceError):
                logger.warning("The heartbeat was not written.", exc_info=True)
                connection.close()
            if self._stop.wait(INTERVAL_S):
                connection.close()
                return


def beat_once(queues: Sequence[str] = ()) -> None:
    """Write that this worker is alive now, and takes jobs from these queues."""
    now = timezone.now()
    seen = {"seen_at": now, "queues": list(queues)}
    Worker.objects.update_or_create(
        name=process_name(),
        defaults=seen,
        create_defaults={**seen, "started_at": now},
    )
