"""Which waiting index jobs one Spark job takes, so that none holds back the others.

A batch ends with its slowest table. A table that took long the last time, or was in a
worker's hands before, will likely take long again: a batch has one such table at most.
"""

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from deltaweb.web.jobs.models import Job

KIND: Final = "tables.index_log"
BATCH: Final = 32  # jobs that one Spark job does at most
LONG: Final = timedelta(seconds=20)
LOOKED_AT: Final = 8 * BATCH  # of the jobs that wait


def slow_jobs(jobs: QuerySet[Job]) -> set[UUID]:
    """Return those of some index jobs whose tables likely take long."""
    last = Job.objects.filter(
        kind=KIND, subject_id=OuterRef("subject_id"), finished_at__isnull=False
    ).order_by("-created_at")
    found = jobs.annotate(
        last_started_at=Subquery(last.values("started_at")[:1]),
        last_finished_at=Subquery(last.values("finished_at")[:1]),
    )
    # Who takes a job counts it as an attempt.
    is_again = Q(state=Job.State.QUEUED, attempts__gt=0) | Q(attempts__gt=1)
    took_long = Q(last_finished_at__gt=F("last_started_at") + LONG)
    return set(found.filter(is_again | took_long).values_list("id", flat=True))


def jobs_beside(job_id: UUID) -> list[UUID]:
    """Return the jobs that wait and are to be done beside one, in their order."""
    waiting = Job.objects.waiting().filter(kind=KIND)
    ids = list(waiting.values_list("id", flat=True)[:LOOKED_AT])
    slow = slow_jobs(Job.objects.filter(id__in=[job_id, *ids]))
    chosen: list[UUID] = []
    has_slow = job_id in slow
    for one in ids:
        if one in slow and has_slow:
            continue
        has_slow = has_slow or one in slow
        chosen.append(one)
    return chosen[: BATCH - 1]
