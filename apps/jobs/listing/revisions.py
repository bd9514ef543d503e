"""Whether jobs have moved on since a page showed them (`apps.news.topics`)."""

from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.jobs.running.news import JOB, JOB_END, JOBS
from apps.jobs.visibility import visible_jobs
from apps.news.topics import Topic, revision_of_values

JOB_PACE_S: Final = 0.25
JOBS_PACE_S: Final = 2.0  # many pages show them, and many jobs move
MAX_JOBS: Final = 50
_SHOWN: Final = (
    *("state", "attempts", "step", "progress_done", "progress_total"),
    "cancel_requested_at",
)


def job_revision(job: Job) -> str:
    """Return the revision of a job as its live part shows it."""
    return revision_of_values(*(getattr(job, name) for name in _SHOWN))


def end_revision(job: Job) -> str:
    """Return whether a job is over."""
    return "0" if job.is_active else "1"


def jobs_revision(user: User | AnonymousUser) -> str:
    """Return the revision of the jobs that a user may see.

    What ends was active before, and what begins is new.
    """
    jobs = visible_jobs(user)
    active = jobs.active().order_by("created_at")
    rows = active.values_list("id", "state", "step", "progress_done")[:MAX_JOBS]
    newest = jobs.order_by("-created_at").values_list("id", flat=True)
    return revision_of_values(*rows, newest.first())


def _of_key(user: Any, key: str) -> Job | None:  # noqa: ANN401 (of a request)
    try:
        wanted = UUID(key)
    except ValueError:
        return None
    return visible_jobs(user).filter(id=wanted).only(*_SHOWN).first()


def _job(user: Any, key: str) -> str | None:  # noqa: ANN401 (as above)
    job = _of_key(user, key)
    return None if job is None else job_revision(job)


def _end(user: Any, key: str) -> str | None:  # noqa: ANN401 (as above)
    job = _of_key(user, key)
    return None if job is None else end_revision(job)


TOPICS: Final = (
    Topic(word=JOB, revision=_job, pace_s=JOB_PACE_S),
    Topic(word=JOB_END, revision=_end),
    Topic(
        word=JOBS, revision=lambda user, _key: jobs_revision(user), pace_s=JOBS_PACE_S
    ),
)
