"""Who may see a job, and where its subject is shown: filled by the apps above.

A job may be about something that not everyone may see. `apps.jobs` does not
know what that is, so the app that owns the subjects registers, in `AppConfig.ready`:

    visibility.subjects_of_jobs.register(
        Subjects(
            visible_ids=lambda user: Table.objects.visible_to(user).values("id"),
            links=links_of_tables,  # ids -> {id: SubjectLink(label, url)}
            named=ids_of_tables_named,  # text -> ids
        )
    )

Administrators see every job. Editors see the jobs about visible subjects and those
without a subject, but no kinds for administrators, and no looks of others at places. A
viewer sees the jobs about visible subjects, and those without a subject that they asked
for themselves. Work that only editors may ask for is reserved to them by its kind, so
that nobody who was one runs it again.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q

from apps.accounts.models import User
from apps.jobs.kinds import is_reserved, names_for_admins, names_of_own
from apps.jobs.models import Job, JobQuerySet
from apps.pages.registry import Registry


@dataclass(frozen=True, slots=True)
class SubjectLink:
    """What a job is about: its name, its page and, if anywhere, its place."""

    label: str
    url: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Subjects:
    """One kind of subject.

    Attributes:
        visible_ids: A query of one column, the ids that a user may see.
        links: The names and pages of the given ids; unknown ids are left out.
        named: A query of one column, the ids whose name holds a text.
    """

    visible_ids: Callable[[User], Any]
    links: Callable[[Collection[UUID]], Mapping[UUID, SubjectLink]]
    named: Callable[[str], Any] = lambda _: ()


subjects_of_jobs: Registry[Subjects] = Registry()


def visible_jobs(user: User | AnonymousUser) -> JobQuerySet:
    """Return the jobs that a user may see, newest first."""
    jobs = Job.objects.all()
    if not isinstance(user, User):
        return jobs.none()
    if user.is_admin:
        return jobs
    jobs = jobs.exclude(kind__in=names_for_admins())
    jobs = jobs.exclude(~Q(requested_by=user), kind__in=names_of_own())
    seen = Q(subject_id__isnull=True)
    if not user.is_editor:
        seen &= Q(requested_by=user)
    for subjects in subjects_of_jobs:
        seen |= Q(subject_id__in=subjects.visible_ids(user))
    return jobs.filter(seen)


def jobs_about(jobs: JobQuerySet, text: str) -> JobQuerySet:
    """Return those of some jobs whose title, or subject's name, holds a text."""
    found = Q(title__icontains=text)
    for subjects in subjects_of_jobs:
        found |= Q(subject_id__in=subjects.named(text))
    return jobs.filter(found)


def may_change(user: User, job: Job) -> bool:
    """Whether a user may cancel or retry a job: who asked for it, and editors."""
    return user.is_editor or job.requested_by_id == user.id


def may_retry(user: User, job: Job) -> bool:
    """Whether a user may run a job again: some work is for editors alone."""
    return may_change(user, job) and (user.is_editor or not is_reserved(job.kind))


def subject_links(ids: Collection[UUID]) -> dict[UUID, SubjectLink]:
    """Return where the given subjects are shown, as far as anybody knows."""
    links: dict[UUID, SubjectLink] = {}
    if ids:
        for subjects in subjects_of_jobs:
            links |= subjects.links(ids)
    return links
