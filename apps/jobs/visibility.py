"""Who may see a job, and where its subject is shown: filled by the apps above.

A job may be about something that not everyone may see. `apps.jobs` does not
know what that is, so the app that owns the subjects registers, in `AppConfig.ready`:

    visibility.subjects_of_jobs.register(
        Subjects(
            seen_by=lambda user: about_tables_with(user, VIEW),  # conditions of jobs
            editable_by=lambda user: about_tables_with(user, EDIT),
            links=links_of_tables,  # ids -> {id: SubjectLink(label, url)}
            named=ids_of_tables_named,  # text -> ids
        )
    )

Administrators see every job, others those about visible subjects. Of jobs without a
subject, a viewer sees those that they asked for themselves, and an editor all but kinds
for administrators and looks of others at places. Work that only editors may ask for is
reserved to them by its kind, so that nobody who was one runs it again.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q

from apps.accounts.models import User
from apps.jobs.kinds import is_reserved, names_for_admins, names_of_own
from apps.jobs.models import Job, JobQuerySet
from apps.jobs.running import start_checks
from apps.pages.registry import Registry
from deltaweb.errors import DeltawebError

Viewers: TypeAlias = Callable[
    [Collection[User], Collection[str]], Mapping[str, AbstractSet[int]]
]
"""Returns, by each of some ids, the ids of those of some users who may see it."""


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
        seen_by: The condition of jobs whose subjects a user may see. There are few jobs
            and many subjects, so it looks at the subject of each job.
        viewers: Answers the same question for many users at once.
        editable_by: Likewise of those that a user may change.
        links: The names and pages of the given ids; unknown ids are left out.
        named: A query of one column, the ids whose name holds a text.
    """

    seen_by: Callable[[User], Q]
    links: Callable[[Collection[UUID]], Mapping[UUID, SubjectLink]]
    viewers: Viewers = lambda _, __: {}
    editable_by: Callable[[User], Q] = lambda _: Q(pk__in=[])
    named: Callable[[str], object] = lambda _: ()


subjects_of_jobs: Registry[Subjects] = Registry()


def visible_jobs(user: User | AnonymousUser) -> JobQuerySet:
    """Return the jobs that a user may see, newest first."""
    jobs = Job.objects.all()
    if not isinstance(user, User):
        return jobs.none()
    if user.is_admin:
        return jobs
    jobs = jobs.exclude(kind__in=names_for_admins())
    jobs = jobs.exclude(~Q(requested_by=user), kind__in=names_of_own(), subject_id=None)
    seen = Q(subject_id__isnull=True)
    if not user.is_editor:
        seen &= Q(requested_by=user)
    for subjects in subjects_of_jobs:
        seen |= subjects.seen_by(user)
    return jobs.filter(seen)


def viewers_of_jobs(
    users: Collection[User], ids: Collection[str]
) -> dict[str, set[int]]:
    """Return which of some users may see each job: their ids by the ids of the jobs.

    It applies the rule of `visible_jobs` to many users at once.
    """
    admins = {user.pk for user in users if user.is_admin}
    editors = {user.pk for user in users if user.is_editor}
    everybody = {user.pk for user in users}
    jobs = Job.objects.filter(id__in=ids).only("kind", "subject_id", "requested_by_id")
    rows = list(jobs)
    subject_ids = {str(one.subject_id) for one in rows if one.subject_id}
    of_subject: dict[str, set[int]] = defaultdict(set)
    for subjects in subjects_of_jobs if subject_ids else ():
        for subject_id, pks in subjects.viewers(users, subject_ids).items():
            of_subject[subject_id] |= pks
    found = {}
    for job in rows:
        seen = set(admins)
        if job.kind not in names_for_admins():
            if job.subject_id is not None:
                seen |= of_subject[str(job.subject_id)]
            else:
                seen |= {pk for pk in everybody if pk == job.requested_by_id}
                if job.kind not in names_of_own():
                    seen |= editors
        found[str(job.id)] = seen
    return found


def jobs_about(jobs: JobQuerySet, text: str) -> JobQuerySet:
    """Return those of some jobs whose title, or subject's name, holds a text."""
    found = Q(title__icontains=text)
    for subjects in subjects_of_jobs:
        found |= Q(subject_id__in=subjects.named(text))
    return jobs.filter(found)


def may_change(user: User, job: Job) -> bool:
    """Whether a user may cancel or retry a job: who asked for it, or may do it."""
    return job.requested_by_id == user.id or bool(work_of(user, [job]))


def may_retry(user: User, job: Job) -> bool:
    """Whether a user may run a job again."""
    return bool(retriable(user, [job]))


def retriable(user: User, jobs: Sequence[Job]) -> frozenset[UUID]:
    """Return the ids of those of some jobs that a user may run again.

    Work that is reserved is for whoever may change its subject.
    """
    if not jobs:
        return frozenset()
    own = {
        job.id
        for job in jobs
        if job.requested_by_id == user.id and not is_reserved(job.kind)
    }
    return work_of(user, jobs) | own


def work_of(user: User, jobs: Sequence[Job]) -> frozenset[UUID]:
    """Return the ids of those of some jobs whose work a user may ask for.

    That is the right to change the subject, or the role of editors if there is none.
    """
    if user.is_admin:
        return frozenset(job.id for job in jobs)
    found = {job.id for job in jobs if job.subject_id is None and user.is_editor}
    about = [job.id for job in jobs if job.subject_id is not None]
    if about:
        editable = Q()
        for subjects in subjects_of_jobs:
            editable |= subjects.editable_by(user)
        rows = Job.objects.filter(editable, id__in=about) if editable else ()
        found |= {job.id for job in rows}
    return frozenset(found)


class AskerLacksRightError(DeltawebError, code="asker-lacks-right"):
    """Whoever asked for a job has lost the right to it before it was started."""

    asker: str
    message = "{asker} may no longer have this done."
    hint = "The right ended after the request. Ask its owner for it, then try again."


def check_may_run(job_id: UUID) -> None:
    """Refuse a job whose asker lost the right to it before it was started.

    A job that the server asked for is always done.

    Raises:
        AskerLacksRightError: If the right has ended.
    """
    job = (
        Job.objects.select_related("requested_by")
        .only("kind", "subject_id", "requested_by")
        .get(id=job_id)
    )
    user = job.requested_by
    if user is None or (user.is_admin and user.is_active):
        return
    if is_reserved(job.kind):
        may = bool(work_of(user, [job]))
    else:
        may = visible_jobs(user).filter(id=job_id).exists()
    if not may:
        raise AskerLacksRightError(asker=user.username)


start_checks.register(check_may_run)


def subject_links(ids: Collection[UUID]) -> dict[UUID, SubjectLink]:
    """Return where the given subjects are shown, as far as anybody knows."""
    links: dict[UUID, SubjectLink] = {}
    if ids:
        for subjects in subjects_of_jobs:
            links |= subjects.links(ids)
    return links
