"""What notices add: failed jobs are events, seen by those who see the jobs."""

from collections.abc import Collection
from datetime import datetime
from importlib import import_module

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.jobs.running import failures
from apps.jobs.visibility import visible_jobs
from apps.notices.events.visibility import SubjectsOfEvents, subjects_of_events


def visible_ids(user: User, ids: Collection[str]) -> Collection[str]:
    """Return those of some ids whose jobs a user may see."""
    found = visible_jobs(user).filter(id__in=ids).values_list("id", flat=True)
    return [str(one) for one in found]


def report_failure(job: Job, now: datetime) -> None:
    """Report a failed job; the module is loaded by the first one."""
    failed_jobs = import_module("apps.notices.failed_jobs")
    failed_jobs.report_failure(job, now)


failures.followers.register(report_failure)
subjects_of_events.register(SubjectsOfEvents(kind="job", visible_ids=visible_ids))
