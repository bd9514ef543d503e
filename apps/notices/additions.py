"""What notices add: events about jobs are seen by those who see the jobs."""

from collections.abc import Collection

from apps.accounts.models import User
from apps.jobs.visibility import visible_jobs
from apps.notices.events.visibility import SubjectsOfEvents, subjects_of_events


def visible_ids(user: User, ids: Collection[str]) -> Collection[str]:
    """Return those of some ids whose jobs a user may see."""
    found = visible_jobs(user).filter(id__in=ids).values_list("id", flat=True)
    return [str(one) for one in found]


subjects_of_events.register(SubjectsOfEvents(kind="job", visible_ids=visible_ids))
