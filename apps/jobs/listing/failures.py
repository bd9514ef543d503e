"""What failed recently and has not been mended: grouped by what the work is about."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef

from apps.accounts.models import User
from apps.jobs.kinds import looks
from apps.jobs.listing.selectors import JobView, job_views, light
from apps.jobs.models import Job, JobQuerySet
from apps.jobs.visibility import visible_jobs

MAX_JOBS = 500  # failures that are grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """The failures of one table, or of one piece of work that has none."""

    newest: JobView
    count: int

    @property
    def label(self) -> str:
        """What failed: the table's name, or the work's."""
        subject = self.newest.subject
        return subject.label if subject else self.newest.job.title


def unmended_failures(user: User | AnonymousUser, *, since: datetime) -> JobQuerySet:
    """Return the jobs that failed since a moment, the newest first.

    Work that only fills a page is left out, since who looks at that page is told: a
    dry run that was refused has failed at nothing. So is what the same work has mended
    since.
    """
    mended = Job.objects.filter(
        subject_id=OuterRef("subject_id"),
        kind=OuterRef("kind"),
        state=Job.State.DONE,
        created_at__gt=OuterRef("created_at"),
    )
    failed = visible_jobs(user).filter(state=Job.State.FAILED, finished_at__gte=since)
    kept = failed.exclude(looks()).exclude(Exists(mended))
    return kept.order_by("-finished_at")


def grouped_failures(
    failed: JobQuerySet, *, user: User | AnonymousUser, now: datetime, length: int
) -> list[Failures]:
    """Group failures by their subject, the group with the newest one first."""
    newest: dict[UUID | str, Job] = {}
    counts: dict[UUID | str, int] = {}
    for job in light(failed)[:MAX_JOBS]:
        newest.setdefault(_about(job), job)
        counts[_about(job)] = counts.get(_about(job), 0) + 1
    views = job_views(list(newest.values())[:length], user=user, now=now)
    return [Failures(newest=view, count=counts[_about(view.job)]) for view in views]


def _about(job: Job) -> UUID | str:
    """Return what failures are grouped by."""
    return job.subject_id or job.title
