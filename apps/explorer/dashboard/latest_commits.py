"""What was committed last, a table at a time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Annotated

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Min, OuterRef, Q, Subquery

from deltaweb.web.accounts.models import User
from deltaweb.web.pages.page_json import Named, OnPage, Spread
from deltaweb.web.tables.models import Commit, Table
from deltaweb.web.tables.versions.resources import (
    CommitResource,
    commit_resource,
)

NUM_TABLES = 8
BURST = timedelta(days=1)  # before a table's newest commit


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestCommits:
    """The newest commit of a table, and how many came shortly before it.

    Attributes:
        namespace, table: The table, by its bare name.
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
