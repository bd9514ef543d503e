"""The first page: how much there is, what happened last, what works or failed."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Q, Sum

from deltaweb.web.accounts.models import User
from deltaweb.web.explorer.dashboard.latest_commits import LatestCommits, latest_commits
from deltaweb.web.jobs.listing.failures import (
    Failures,
    grouped_failures,
    unmended_failures,
)
from deltaweb.web.jobs.listing.resource import PageJob
from deltaweb.web.jobs.listing.selectors import light, page_jobs
from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.visibility import visible_jobs
from deltaweb.web.pages.frame.front_page import (
    FirstStep,
    KeyNumber,
    numbers_for,
    steps_for,
)
from deltaweb.web.pages.page_json import As, Mark, Named, OnPage, shaped
from deltaweb.web.tables.models import IS_BEHIND, Table

NUM_JOBS = 6
FAILURES_SINCE = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedJobs(PageJob):
    """The newest failure about a subject, and how many there are."""

    count: int


def _failed(found: list[Failures]) -> list[FailedJobs]:
    return [
        shaped(
            FailedJobs,
            one.newest.describe(),
            subject=one.label,
            error_message=one.newest.short_error,
            count=one.count,
        )
        for one in found
    ]


def _by_key(numbers: list[KeyNumber]) -> dict[str, int]:
    return {number.key: number.value for number in numbers}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """What the first page shows; tables that the user may not see count nowhere.

    Attributes:
        num_tables: Registered tables.
        num_unindexed: Those of which nothing is indexed yet.
        num_failing: Those whose newest look at storage failed.
        num_behind: Those whose log does not read to its end.
        size_bytes: Bytes of the newest versions together.
        num_files: Files of the newest versions together.
        num_running: Jobs that wait or run.
        latest: The newest commit of each table that changed last.
        running: Jobs that wait or run, the oldest first.
        failures: What failed in the last week and still stands, by table.
        steps: What other apps propose to do in a new installation.
    """

    num_tables: Annotated[int, Named("tables")]
    num_unindexed: Annotated[int, Named("tables_not_indexed")]
    num_failing: Annotated[int, Named("tables_failing")]
    num_behind: Annotated[int, Named("tables_behind")]
    size_bytes: int
    num_files: int
    num_running: Annotated[int, Named("jobs_running")]
    num_failed: Annotated[int, Named("jobs_failed_7d")]
    latest: Annotated[list[LatestCommits], Named("latest_commits")]
    running: Annotated[list[Job], As(page_jobs)]
    failures: Annotated[
        list[Failures],
        Named("failed"),
        As(_failed),
    ]
    numbers: Annotated[list[KeyNumber], Mark.SPREAD, As(_by_key)]
    steps: OnPage[list[FirstStep]]

    @property
    def is_empty(self) -> bool:
        return not self.num_tables

    @property
    def seen(self) -> str:
        """Name what work changes by beginning or ending: all of the page then."""
        counts = (
            *(self.num_tables, self.num_unindexed, self.num_failing, self.num_behind),
            *(self.num_running, self.num_failed, self.num_files, self.size_bytes),
        )
        return "-".join(map(str, counts))


def dashboard(user: User | AnonymousUser, now: datetime) -> Dashboard:
    """Return the first page of a user."""
    tables = Table.objects.visible_to(user)
    totals = tables.aggregate(
        num_tables=Count("id"),
        num_unindexed=Count("id", filter=Q(version=None)),
        num_behind=Count("id", filter=IS_BEHIND),
        num_failing=Count("id", filter=~Q(error_code="") & ~IS_BEHIND),
        size_bytes=Sum("size_bytes"),
        num_files=Sum("num_files"),
    )
    failed = unmended_failures(user, since=now - FAILURES_SINCE)
    active = visible_jobs(user).active().order_by("created_at")
    return Dashboard(
        num_tables=totals["num_tables"],
        num_unindexed=totals["num_unindexed"],
        num_failing=totals["num_failing"],
        num_behind=totals["num_behind"],
        size_bytes=totals["size_bytes"] or 0,
        num_files=totals["num_files"] or 0,
        num_running=active.count(),
        num_failed=failed.count(),
        latest=latest_commits(user),
        running=list(light(active)[:NUM_JOBS]),
        failures=grouped_failures(failed, user=user, now=now, length=NUM_JOBS),
        numbers=numbers_for(user, now=now),
        steps=steps_for(user),
    )
