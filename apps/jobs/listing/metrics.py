"""The metrics of jobs and workers."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib.util import find_spec
from typing import Final

from django.db.models import Count
from django.utils import timezone

from apps.jobs.kinds import DEFAULT_QUEUE, queue_of, queues
from apps.jobs.models import Job, JobQuerySet, Worker
from apps.operate.metrics.gauges import Gauge, gauges
from apps.operate.probes.parts import FAILED, OFF, OK, ServerPart, parts

RECENT: Final = timedelta(hours=1)
HEARD_OF: Final = timedelta(seconds=30)
MAX_WAITING: Final = 1000
"""Waiting jobs that are looked at for the oldest of each queue."""


def job_gauges() -> Iterator[Gauge]:
    """Yield jobs by kind and state, the age of queues, and the workers."""
    now = timezone.now()
    active = Job.objects.filter(state__in=Job.ACTIVE_STATES)
    yield Gauge(
        name="deltaweb_jobs",
        help="Jobs that wait or run.",
        labels=("kind", "state"),
        values=_by_kind(active),
    )
    ended = Job.objects.filter(finished_at__gt=now - RECENT)
    yield Gauge(
        name="deltaweb_jobs_ended_last_hour",
        help="Jobs that ended within the last hour.",
        labels=("kind", "state"),
        values=_by_kind(ended),
    )
    yield Gauge(
        name="deltaweb_queue_age_seconds",
        help="How long the job that waits longest in a queue has waited.",
        labels=("queue",),
        values={(name,): age for name, age in _ages(now).items()},
    )
    alive: Counter[str] = Counter(dict.fromkeys(queues(), 0))
    for worker in Worker.objects.filter(seen_at__gt=now - HEARD_OF):
        alive.update(worker.queues or queues())
    yield Gauge(
        name="deltaweb_workers",
        help="Workers that take jobs from a queue; those of spark have a session.",
        labels=("queue",),
        values={(name,): float(number) for name, number in alive.items()},
    )


def spark_state() -> str:
    """Return whether a worker lives that runs jobs of Spark."""
    if find_spec("pyspark") is None:
        return OFF
    heard_of = Worker.objects.filter(seen_at__gt=timezone.now() - HEARD_OF)
    takes = any(not one.queues or "spark" in one.queues for one in heard_of)
    return OK if takes else FAILED


def _by_kind(jobs: JobQuerySet) -> dict[tuple[str, ...], float]:
    rows = jobs.order_by().values_list("kind", "state").annotate(number=Count("id"))
    return {(kind, state.lower()): float(number) for kind, state, number in rows}


def _ages(now: datetime) -> dict[str, float]:
    ages = dict.fromkeys(queues(), 0.0)
    waiting = Job.objects.filter(state=Job.State.QUEUED).order_by("created_at")
    for job in waiting.only("id", "kind", "parameters", "created_at")[:MAX_WAITING]:
        queue = queue_of(job) or DEFAULT_QUEUE
        age = (now - job.created_at).total_seconds()
        ages[queue] = max(ages.get(queue, 0.0), age)
    return ages


gauges.register(job_gauges)
parts.register(ServerPart(name="spark", state=spark_state))
