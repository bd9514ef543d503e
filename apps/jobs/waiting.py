"""A request that waits for a job: as long as a click feels like one, or a download.

It hears of the end of the job (`apps.news`), and looks at its row only then.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from django.conf import settings
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from apps.jobs.listing.resource import Started
from apps.jobs.listing.selectors import is_attended, may_end_soon, outcome_of
from apps.jobs.models import Job
from apps.jobs.running.news import of_end
from apps.news.hub import waiting_for

DOWNLOAD_S: Final = 20.0
GLANCE_S: Final = 0.25  # from the request for a job on: a page then shows its result
LOOK_S: Final = 1.0  # between looks at a row of which news are heard
POLL_S: Final = 0.05  # where none are
# Others find threads: who does not get to wait shows the job, and its end later.
_places = threading.BoundedSemaphore(max(1, settings.WEB_THREADS // 2))


def wait_for(job: Job, wait_s: float | None = None) -> None:
    """Wait a while for a job to end, as long as a worker is there to do it.

    Args:
        wait_s: How long; None for `DOWNLOAD_S`.
    """
    longest_s = DOWNLOAD_S if wait_s is None else wait_s
    _wait(job, longest_s, lambda: is_attended(job, now=timezone.now()))


@contextmanager
def place_to_wait() -> Iterator[bool]:
    """Say whether this thread may wait: half of the threads are left for others.

    In a transaction nobody waits: it would not see what others do.
    """
    if connection.in_atomic_block or not _places.acquire(blocking=False):
        yield False
        return
    try:
        yield True
    finally:
        _places.release()


def wait_in_turn(job: Job, wait_s: float) -> None:
    """Wait for a job to end, as `wait_for`, unless half of the threads wait already."""
    with place_to_wait() as has_place:
        if has_place:
            _wait(job, wait_s, lambda: is_attended(job, now=timezone.now()))


def wait_a_glance(job: Job | None) -> bool:
    """Wait for a job that was asked for just now, so that its page shows the result.

    Nobody waits where nothing can come of it: for Spark, without a worker, inside a
    transaction that nobody else sees, or where half of the threads wait already.

    Returns:
        Whether the job has ended meanwhile: what it changes was read too early.
    """
    if job is None or not job.is_active or connection.in_atomic_block:
        return False
    age_s = (timezone.now() - job.created_at).total_seconds()
    left_s = min(GLANCE_S, GLANCE_S - age_s)
    if left_s <= 0:
        return False
    with place_to_wait() as has_place:
        if not has_place:
            return False
        if may_end_soon(job, now=timezone.now()):
            _wait(job, left_s, lambda: True)
    return not job.is_active


def started(job: Job) -> Started:
    """Return a job that was requested just now, at its end if that is soon."""
    wait_a_glance(job)
    return Started(outcome_of(job))


def address_of(one: Started) -> str:
    """Return the address of a job that was requested, in the REST API."""
    return reverse("api:job", args=[one.job.id])


def _wait(job: Job, wait_s: float, continues: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + wait_s
    with waiting_for(of_end(job.id)) as news:
        look_s = LOOK_S if news.is_live else POLL_S
        is_over = _is_over(job)
        while not is_over and (left_s := deadline_s - time.monotonic()) > 0:
            if not continues():
                break
            is_over = news.wait(min(left_s, look_s)) or _is_over(job)
    job.refresh_from_db()


def _is_over(job: Job) -> bool:
    """Look at the state alone: the row has thirty columns."""
    return not Job.objects.active().filter(id=job.id).exists()
