"""The list of jobs: its columns, filters, order and pages."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Final

from django import forms
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import User
from apps.jobs.kinds import kind_of, words_of
from apps.jobs.listing.resource import JobResource
from apps.jobs.listing.selectors import JobView, job_views, light, worker_state
from apps.jobs.models import Job, JobQuerySet
from apps.jobs.visibility import jobs_about, visible_jobs
from apps.pages.lists.fields import WordField
from apps.pages.lists.paging import paged
from apps.pages.lists.sorting import Column, ordering
from apps.pages.request.list_page import ListPage, ListQuery, PageOfRows

ACTIVE: Final = "ACTIVE"
STATES: Final = [(ACTIVE, "active"), *Job.State.choices]
CSV_CHUNK: Final = 500


def _page(
    user: User | AnonymousUser, query: ListQuery, now: datetime
) -> PageOfRows[JobView]:
    jobs = _listed(user, query)
    place = paged(jobs.count(), query.page)
    rows = list(light(jobs)[place.rows])
    return PageOfRows(rows=job_views(rows, user=user, now=now), paged=place)


def _every(
    user: User | AnonymousUser, query: ListQuery, now: datetime
) -> Iterator[JobResource]:
    jobs = _listed(user, query).iterator(chunk_size=CSV_CHUNK)
    while chunk := list(islice(jobs, CSV_CHUNK)):
        for view in job_views(chunk, user=user, now=now):
            yield view.describe()


def _listed(user: User | AnonymousUser, query: ListQuery) -> JobQuerySet:
    jobs = visible_jobs(user).select_related("requested_by")
    if query["state"] == ACTIVE:
        jobs = jobs.active()
    elif query["state"]:
        jobs = jobs.filter(state=query["state"])
    if query["kind"]:
        jobs = jobs.filter(kind=kind_of(query["kind"]))
    if query["q"]:
        jobs = jobs_about(jobs, query["q"])
    return jobs.order_by(*ordering(COLUMNS, query.sort, ties=("created_at", "id")))


def _more(request: HttpRequest, page: PageOfRows[JobView]) -> Mapping[str, object]:
    return {
        "has_active": any(view.job.is_active for view in page.rows),
        "states": STATES,
        "kinds": _kinds(request.user),
        "workers": worker_state(now=timezone.now()),
    }


def _kinds(user: User | AnonymousUser) -> list[tuple[str, str]]:
    """Return the kinds of jobs that the user may see and their words, in order."""
    kinds = visible_jobs(user).order_by("kind").values_list("kind", flat=True)
    named = ((kind, words_of(kind)) for kind in kinds.distinct())
    return sorted(named, key=lambda kind: kind[1].casefold())


COLUMNS: Final = (
    Column("job", "Job", "title", never_null=True),
    Column("state", "State", "state", never_null=True),
    Column("by", "By", "requested_by__username", css="dw-only-w"),
    Column("asked", "Requested", "created_at", begins_descending=True, never_null=True),
    Column("finished", "Finished", "finished_at", begins_descending=True),
)
JOBS: Final = ListPage(
    entries="jobs",
    template="jobs/job_list.html",
    fragment="job-rows",
    columns=COLUMNS,
    default_sort="-asked",
    filters={
        "q": forms.CharField(max_length=200, required=False),
        "state": WordField(STATES),
        # The name of a task, or what its jobs do, in words.
        "kind": forms.CharField(max_length=64, required=False),
    },
    page=_page,
    entry=JobResource,
    every=_every,
    more=_more,
)
