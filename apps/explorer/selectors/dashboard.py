"""The first page: how much there is, what happened last, what works or failed."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Q, Sum

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.jobs.visibility import visible_jobs
from apps.pages.front_page import FirstStep, KeyNumber, numbers_for, steps_for
from apps.tables.models import Commit, Table

NUM_COMMITS = 8
NUM_JOBS = 6
FAILURES_SINCE = timedelta(days=7)
_LONG_JOB_FIELDS = ("log", "error_detail", "result", "parameters", "steps")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """What the first page shows; tables that the user may not see count nowhere.

    Attributes:
        num_tables: Registered tables.
        num_unindexed: Those of which nothing is indexed yet.
        num_failing: Those whose newest look at storage failed.
        size_bytes: Bytes of the newest versions together.
        num_files: Files of the newest versions together.
        num_running: Jobs that wait or run.
        num_failed: Jobs that failed in the last week.
        commits: The newest commits of all tables.
        running: Jobs that wait or run, the oldest first.
        failed: Jobs that failed in the last week, the newest first.
        numbers: What other apps count.
        steps: What other apps propose to do in a new installation.
    """

    num_tables: int
    num_unindexed: int
    num_failing: int
    size_bytes: int
    num_files: int
    num_running: int
    num_failed: int
    commits: list[Commit]
    running: list[Job]
    failed: list[Job]
    numbers: list[KeyNumber]
    steps: list[FirstStep]

    @property
    def is_empty(self) -> bool:
        """Whether there is no table to look at."""
        return not self.num_tables


def dashboard(user: User | AnonymousUser, now: datetime) -> Dashboard:
    """Return the first page of a user."""
    tables = Table.objects.visible_to(user)
    totals = tables.aggregate(
        num_tables=Count("id"),
        num_unindexed=Count("id", filter=Q(version=None)),
        num_failing=Count("id", filter=~Q(error_code="")),
        size_bytes=Sum("size_bytes"),
        num_files=Sum("num_files"),
    )
    jobs = visible_jobs(user)
    failed = jobs.filter(
        state=Job.State.FAILED, finished_at__gte=now - FAILURES_SINCE
    ).order_by("-finished_at")
    active = jobs.active().order_by("created_at")
    counts = jobs.aggregate(
        running=Count("id", filter=Q(state__in=Job.ACTIVE_STATES)),
        failed=Count(
            "id",
            filter=Q(state=Job.State.FAILED, finished_at__gte=now - FAILURES_SINCE),
        ),
    )
    # A table that is indexed for the first time has commits before it has a version.
    shown = Commit.objects.filter(table__version__isnull=False)
    commits = shown.order_by("-committed_at").select_related("table")
    if not (user.is_authenticated and user.is_editor):
        commits = commits.filter(table__restricted=False)
    return Dashboard(
        num_tables=totals["num_tables"],
        num_unindexed=totals["num_unindexed"],
        num_failing=totals["num_failing"],
        size_bytes=totals["size_bytes"] or 0,
        num_files=totals["num_files"] or 0,
        num_running=counts["running"],
        num_failed=counts["failed"],
        commits=list(
            commits.defer("parameters", "metrics", "table__summary")[:NUM_COMMITS]
        ),
        running=list(active.defer(*_LONG_JOB_FIELDS)[:NUM_JOBS]),
        failed=list(failed.defer(*_LONG_JOB_FIELDS)[:NUM_JOBS]),
        numbers=numbers_for(user, now=now),
        steps=steps_for(user),
    )
