"""The first page: how much there is, what happened last, what works or failed."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Annotated

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Min, OuterRef, Q, Subquery, Sum
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django_htmx.http import trigger_client_event

from apps.accounts.models import User
from apps.explorer.what_changed.selector import DaySummary, day_summaries
from apps.jobs.listing.failures import (
    Failures,
    grouped_failures,
    unmended_failures,
)
from apps.jobs.listing.resource import PageJob
from apps.jobs.listing.selectors import light, page_jobs
from apps.jobs.models import Job
from apps.jobs.visibility import visible_jobs
from apps.pages.changes.change import VIEWER
from apps.pages.changes.read import Read, reads
from apps.pages.frame import (
    FirstStep,
    KeyNumber,
    numbers_for,
    steps_for,
)
from apps.pages.page_json import As, Mark, Named, OnPage, Spread, shaped
from apps.pages.responses import respond_page
from apps.tables.catalogue.organizing.pins import (
    TableAtHand,
    pinned_tables,
    recent_tables,
)
from apps.tables.models import IS_BEHIND, Commit, Table
from apps.tables.versions.resources import CommitResource, commit_resource

NUM_TABLES = 8
BURST = timedelta(days=1)  # before a table's newest commit


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestCommits:
    """The newest commit of a table, and how many came shortly before it.

    Attributes:
        namespace, table: The namespace and the name of the table.
        num_commits: Commits of the day up to it, itself included.
        span_s: Seconds from the first of these to it.
    """

    commit: OnPage[Commit]
    namespace: str
    table: str
    resource: Spread[CommitResource]
    num_commits: Annotated[int, Named("num_commits_24h")]
    span_s: OnPage[float]


def latest_commits(user: User | AnonymousUser) -> list[LatestCommits]:
    """Return the tables that `user` may see and that changed last, by three queries."""
    newest = Commit.objects.filter(table=OuterRef("pk")).order_by("-version")
    # A table that is indexed for the first time has commits before it has a version.
    tables = (
        Table.objects.visible_to(user)
        .filter(version__isnull=False, committed_at__isnull=False)
        .order_by("-committed_at", "namespace", "name")
        .annotate(newest_version=Subquery(newest.values("version")[:1]))
        .values_list("id", "newest_version")
    )
    pairs = [Q(table=key, version=version) for key, version in tables[:NUM_TABLES]]
    if not pairs:
        return []
    found = Commit.objects.filter(reduce(or_, pairs)).select_related("table")
    commits = list(
        found.order_by("-committed_at").defer("parameters", "metrics", "table__summary")
    )
    bursts = _bursts(commits)
    return [
        LatestCommits(
            commit=commit,
            namespace=commit.table.namespace,
            table=commit.table.name,
            resource=commit_resource(commit),
            num_commits=bursts[commit.table_id][0],
            span_s=(commit.committed_at - bursts[commit.table_id][1]).total_seconds(),
        )
        for commit in commits
    ]


def _bursts(commits: list[Commit]) -> dict[object, tuple[int, datetime]]:
    """Return how many commits each table had in the day up to one, and the first's."""
    spans = [
        Q(
            table=commit.table_id,
            committed_at__gte=commit.committed_at - BURST,
            committed_at__lte=commit.committed_at,
        )
        for commit in commits
    ]
    if not spans:
        return {}
    rows = (
        Commit.objects.filter(reduce(or_, spans))
        .order_by()
        .values_list("table")
        .annotate(commits=Count("id"), first=Min("committed_at"))
    )
    return {table_id: (count, first) for table_id, count, first in rows}


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
        size_bytes: The total bytes of the newest versions.
        num_files: The total number of files of the newest versions.
        num_running: Jobs that wait or run.
        days: The commits of today and yesterday in numbers.
        latest: The newest commit of each table that changed last.
        running: The waiting and running jobs, the oldest first.
        failures: What failed in the last week and still stands, by table.
        pinned: The tables that the user pinned, by name.
        recent: The tables that the user viewed last, without pinned ones.
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
    days: list[DaySummary]
    latest: Annotated[list[LatestCommits], Named("latest_commits")]
    running: Annotated[list[Job], As(page_jobs)]
    failures: Annotated[
        list[Failures],
        Named("failed"),
        As(_failed),
    ]
    numbers: Annotated[list[KeyNumber], Mark.SPREAD, As(_by_key)]
    pinned: list[TableAtHand]
    recent: list[TableAtHand]
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


def dashboard_of(user: User | AnonymousUser, now: datetime) -> Dashboard:
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
    num_running, num_failed = active.count(), failed.count()
    return Dashboard(
        num_tables=totals["num_tables"],
        num_unindexed=totals["num_unindexed"],
        num_failing=totals["num_failing"],
        num_behind=totals["num_behind"],
        size_bytes=totals["size_bytes"] or 0,
        num_files=totals["num_files"] or 0,
        num_running=num_running,
        num_failed=num_failed,
        days=day_summaries(user, now),
        latest=latest_commits(user),
        running=list(light(active)[:NUM_JOBS]) if num_running else [],
        failures=grouped_failures(failed, user=user, now=now, length=NUM_JOBS)
        if num_failed
        else [],
        numbers=numbers_for(user, now=now),
        pinned=pinned_tables(user),
        recent=recent_tables(user),
        steps=steps_for(user),
    )


def dashboard(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show what happened last; an empty install is shown how to begin.

    The page asks how far its jobs are, and tells what it has `seen`: where that is no
    longer so, it fetches all of itself.
    """
    page = dashboard_of(request.user, timezone.now())
    is_other = request.GET.get("seen", page.seen) != page.seen
    if is_other and "HX-Request" in request.headers:
        response = HttpResponse(status=204)
        trigger_client_event(response, "page-moved-on", {})
        return response
    return respond_page(
        request,
        fmt,
        page,
        template="explorer/dashboard/dashboard.html",
        fragment="running",
    )


reads.register(
    Read(
        route="dashboard",
        view="Overview",
        page="explorer:dashboard",
        shows=Dashboard,
        help="Get the latest commits, jobs and totals.",
        without="seen",
        role=VIEWER,
    )
)
