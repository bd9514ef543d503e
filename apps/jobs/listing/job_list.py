"""The list of jobs: filter, search, order and pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser

from deltaweb.web.accounts.models import User
from deltaweb.web.jobs.kinds import words_of
from deltaweb.web.jobs.listing.forms import ACTIVE, COLUMNS
from deltaweb.web.jobs.listing.selectors import JobView, job_views, light
from deltaweb.web.jobs.models import JobQuerySet
from deltaweb.web.jobs.visibility import jobs_about, visible_jobs
from deltaweb.web.pages.lists.sorting import ordering
from deltaweb.web.pages.paging import Paged, paged

DEFAULT_SORT = "asked"
_SORT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "job": ("title",),
    "state": ("state",),
    "by": ("requested_by__username",),
    "asked": ("created_at",),
    "finished": ("finished_at",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobQuery:
    """Which jobs a list holds and in which order; empty texts filter nothing.

    Attributes:
        q: What titles, or names of subjects, hold.
        state: A state, or `ACTIVE`.
        kind: A kind.
        sort: A key of the list's columns, `-` in front turns it round.
    """

    q: str = ""
    state: str = ""
    kind: str = ""
    sort: str = ""

    @property
    def is_filtered(self) -> bool:
        """Whether something else than every job is asked for."""
        return bool(self.q or self.state or self.kind)


@dataclass(frozen=True, slots=True)
class JobPage:
    """Some jobs."""

    views: list[JobView]
    paged: Paged


def job_page(
    user: User | AnonymousUser, query: JobQuery, *, number: int, now: datetime
) -> JobPage:
    """Return one page of the jobs that the user may see."""
    jobs = listed_jobs(user, query)
    place = paged(jobs.count(), number)
    rows = list(light(jobs)[place.rows])
    return JobPage(views=job_views(rows, user=user, now=now), paged=place)


def listed_jobs(user: User | AnonymousUser, query: JobQuery) -> JobQuerySet:
    """Return the jobs of a list that the user may see, in its order."""
    jobs = visible_jobs(user).select_related("requested_by")
    if query.state == ACTIVE:
        jobs = jobs.active()
    elif query.state:
        jobs = jobs.filter(state=query.state)
    if query.kind:
        jobs = jobs.filter(kind=query.kind)
    if query.q:
        jobs = jobs_about(jobs, query.q)
    order = ordering(
        COLUMNS,
        _SORT_FIELDS,
        query.sort or DEFAULT_SORT,
        ties=("created_at", "id"),
        never_null=("title", "state", "created_at"),
    )
    return jobs.order_by(*order)


def job_kinds(user: User | AnonymousUser) -> list[tuple[str, str]]:
    """Return the kinds of jobs that the user may see and their words, in order."""
    kinds = visible_jobs(user).order_by("kind").values_list("kind", flat=True)
    named = ((kind, words_of(kind)) for kind in kinds.distinct())
    return sorted(named, key=lambda kind: kind[1].casefold())
