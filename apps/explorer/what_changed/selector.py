"""The commits of all tables that a user may see, the newest first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import reduce
from itertools import groupby, islice
from operator import or_
from typing import Final
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Case, Count, F, JSONField, Q, When

from apps.accounts.models import User
from apps.accounts.zones import user_zone
from apps.explorer.history import selector as history
from apps.explorer.what_changed.usual import (
    BytesOutlier,
    MeasuredCommit,
    Outlier,
    bytes_outliers,
    outliers,
)
from apps.pages.lists.paging import Keyset
from apps.pages.page_json import OnPage, Spread
from apps.pages.request.list_page import ListQuery
from apps.tables.models import (
    REMOVES_ROWS,
    Commit,
    CommitQuerySet,
    Table,
)
from apps.tables.models.rights import VIEW, allowed
from apps.tables.versions.resources import CommitResource, commit_resource

PAGE_LENGTH: Final = 50
MAX_COUNT: Final = 10_000
FEW_TABLES: Final = 100  # whose commits are found by the tables' own index
CHUNK: Final = 500  # commits that one query compares with earlier ones
VERSIONS_BEFORE: Final = 80
"""Versions of a table before a page, which its commits are compared with."""
COUNTED_BY_METRICS: Final = ("DELETE", "UPDATE")
"""Operations whose rows their metrics count, and files do not."""

UNUSUAL: Final = "unusual"
KINDS: Final = {
    "deletes": "deletes",
    "schema": "schema changes",
    UNUSUAL: "unusual only",
}
MAX_COMPARED: Final = 2_000  # commits of one page that looks for unusual ones
DAYS: Final = {"today": "today", "yesterday": "yesterday", "week": "last 7 days"}
ME: Final = "me"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTable:
    """A commit in the list of all tables.

    Attributes:
        namespace, table: The namespace and the name of the table.
        rows_changed: The rows that the table has more or fewer since; null if unknown.
        bytes_changed: Likewise for the bytes of its files.
        outlier: Why its rows are unusual for this table; null if they are not.
        bytes_outlier: Why its bytes are unusual; likewise.
    """

    commit: OnPage[Commit]
    namespace: str
    table: str
    resource: Spread[CommitResource]
    rows_changed: int | None
    bytes_changed: int | None
    outlier: Outlier | None
    bytes_outlier: BytesOutlier | None

    @property
    def is_unusual(self) -> bool:
        return bool(self.outlier or self.bytes_outlier)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesPage:
    """Some commits of all tables.

    Attributes:
        days: The rows by the day on which they were made, in the user's zone.
        after: The day that the page before ended with; None on the first page.
    """

    rows: Sequence[ChangedTable]
    paged: Keyset
    days: Sequence[tuple[date, list[ChangedTable]]]
    zone: tzinfo
    after: date | None = None


def changes_page(
    user: User | AnonymousUser, query: ListQuery, now: datetime
) -> ChangesPage:
    """Return one page of the commits that pass the filters."""
    matching = matching_commits(user, query, now)
    zone = user_zone(user)
    start = _start(user, query.before)
    commits = matching
    if start is not None:
        older = Q(committed_at__lt=start.committed_at) | Q(id__lt=start.id)
        commits = commits.filter(older, committed_at__lte=start.committed_at)
    rows, paged = (
        _unusual_page(commits, is_first=start is None)
        if query["kind"] == UNUSUAL
        else _page(commits, matching, is_first=start is None)
    )
    return ChangesPage(
        rows=rows,
        paged=paged,
        days=by_day(rows, zone),
        zone=zone,
        after=start.committed_at.astimezone(zone).date() if start else None,
    )


def _page(
    commits: CommitQuerySet, matching: CommitQuerySet, *, is_first: bool
) -> tuple[list[ChangedTable], Keyset]:
    """Return the first commits, and where the next ones are.

    Args:
        matching: The commits of all pages.
    """
    found = _first(commits, PAGE_LENGTH + 1)
    more = len(found) > PAGE_LENGTH
    found = found[:PAGE_LENGTH]
    count = len(found)
    if more or not is_first:
        count = matching.order_by().values("id")[: MAX_COUNT + 1].count()
    return with_outliers(found), Keyset(
        count=min(count, MAX_COUNT),
        is_exact=count <= MAX_COUNT,
        next_key=found[-1].id if more else None,
    )


def _first(commits: CommitQuerySet, count: int) -> list[Commit]:
    """Load the first commits; only their keys are sorted, because rows are wide."""
    keys = list(commits.values_list("id", flat=True)[:count])
    found = commits.in_bulk(keys)
    return [found[key] for key in keys if key in found]


def _unusual_page(
    commits: CommitQuerySet, *, is_first: bool
) -> tuple[list[ChangedTable], Keyset]:
    """Return the unusual ones of the first commits, and where the next ones are.

    A page may have none of them, and be followed by others.
    """
    found = _first(commits, MAX_COMPARED + 1)
    more = len(found) > MAX_COMPARED
    compared = iter(found[:MAX_COMPARED])
    chunks = iter(lambda: [*islice(compared, CHUNK)], [])
    unusual = (row for some in chunks for row in with_outliers(some) if row.is_unusual)
    rows = [*islice(unusual, PAGE_LENGTH + 1)]
    next_key = found[MAX_COMPARED - 1].id if more else None
    if len(rows) > PAGE_LENGTH:
        rows = rows[:PAGE_LENGTH]
        next_key = rows[-1].commit.id
    is_exact = is_first and next_key is None
    return rows, Keyset(count=len(rows), is_exact=is_exact, next_key=next_key)


def every_change(
    user: User | AnonymousUser, query: ListQuery, now: datetime
) -> Iterator[ChangedTable]:
    """Yield all commits that pass the filters."""
    commits = matching_commits(user, query, now).iterator(chunk_size=CHUNK)
    is_any = query["kind"] != UNUSUAL
    while chunk := list(islice(commits, CHUNK)):
        yield from (row for row in with_outliers(chunk) if is_any or row.is_unusual)


def matching_commits(
    user: User | AnonymousUser, query: ListQuery, now: datetime
) -> CommitQuerySet:
    """Return the commits of the tables that a user may see, by the filters."""
    commits = Commit.objects.order_by("-committed_at", "-id").select_related("table")
    commits = commits.defer("parameters", "metrics", "table__summary")
    commits = _visible(commits, user)
    if query["namespace"]:
        commits = _of_namespace(commits, query["namespace"])
    first, last = _span(query, now, user_zone(user))
    if first is not None:
        commits = commits.filter(committed_at__gte=first)
    if last is not None:
        commits = commits.filter(committed_at__lt=last)
    if query["by"]:
        name = user.get_username() if query["by"] == ME else query["by"]
        commits = commits.filter(user_name=name)
    if query["kind"] == "schema":
        commits = commits.filter(changes_schema=True)
    elif query["kind"] == "deletes":
        commits = commits.filter(REMOVES_ROWS)
    elif query["kind"] == UNUSUAL:
        commits = commits.filter(data_change=True)
    return commits


def _visible(commits: CommitQuerySet, user: User | AnonymousUser) -> CommitQuerySet:
    """Leave out the commits of tables that a user may not see."""
    return commits.filter(allowed(user, VIEW, "table__"))


def _of_namespace(commits: CommitQuerySet, namespace: str) -> CommitQuerySet:
    inside = Q(namespace=namespace) | Q(namespace__startswith=f"{namespace}.")
    found = Table.objects.filter(inside).values_list("id", flat=True)
    few = list(found[: FEW_TABLES + 1])
    return commits.filter(table__in=few if len(few) <= FEW_TABLES else found)


def _span(
    query: ListQuery, now: datetime, zone: tzinfo
) -> tuple[datetime | None, datetime | None]:
    """Return the first moment of a filter, and the first one after it."""
    today = now.astimezone(zone).date()
    day, one = query["when"], timedelta(days=1)
    first, last = query["from"] or None, query["to"] or None
    if day == "today":
        first, last = today, today
    elif day == "yesterday":
        first, last = today - one, today - one
    elif day == "week":
        first, last = today - 6 * one, None
    return (
        None if first is None else _midnight(first, zone),
        None if last is None or last == date.max else _midnight(last + one, zone),
    )


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC)


def _start(user: User | AnonymousUser, before: int | None) -> Commit | None:
    """Return the commit that a page comes after."""
    if before is None:
        return None
    commits = _visible(Commit.objects.filter(id=before), user)
    return commits.only("id", "committed_at").first()


def by_day(
    rows: Sequence[ChangedTable], zone: tzinfo
) -> list[tuple[date, list[ChangedTable]]]:
    """Group commits by the day on which they were made in a zone."""
    groups = groupby(rows, lambda row: row.commit.committed_at.astimezone(zone).date())
    return [(day, list(group)) for day, group in groups]


# === Outliers ===


def with_outliers(commits: Sequence[Commit]) -> list[ChangedTable]:
    """Compare commits with earlier ones of their tables, by one query."""
    unusual, by_bytes = _outliers(commits)
    return [
        ChangedTable(
            commit=commit,
            namespace=commit.table.namespace,
            table=commit.table.name,
            resource=commit_resource(commit),
            rows_changed=history.row_change(commit),
            bytes_changed=history.byte_change(commit),
            outlier=unusual.get((commit.table_id, commit.version)),
            bytes_outlier=by_bytes.get((commit.table_id, commit.version)),
        )
        for commit in commits
    ]


def _outliers(
    commits: Sequence[Commit],
) -> tuple[dict[tuple[UUID, int], Outlier], dict[tuple[UUID, int], BytesOutlier]]:
    """Return the commits with unusual rows, and those with unusual bytes."""
    shown: dict[UUID, list[int]] = {}
    for commit in commits:
        shown.setdefault(commit.table_id, []).append(commit.version)
    if not shown:
        return {}, {}
    spans = [
        Q(
            table=table,
            version__gte=min(versions) - VERSIONS_BEFORE,
            version__lte=max(versions),
        )
        for table, versions in shown.items()
    ]
    measured = (
        Commit.objects.filter(reduce(or_, spans))
        .order_by("table", "version")
        .annotate(
            counts=Case(
                When(operation__in=COUNTED_BY_METRICS, then=F("metrics")),
                output_field=JSONField(),
            )
        )
        .values_list(
            *("table", "version", "operation", "data_change", "changes_schema"),
            *("num_added_files", "num_removed_files", "added_rows", "removed_rows"),
            *("added_bytes", "removed_bytes", "counts"),
        )
    )
    by_rows: dict[tuple[UUID, int], Outlier] = {}
    by_bytes: dict[tuple[UUID, int], BytesOutlier] = {}
    for table, rows in groupby(measured.iterator(), lambda row: row[0]):
        compared = [
            MeasuredCommit(
                version=row[1],
                operation=row[2],
                data_change=row[3],
                changes_schema=row[4],
                num_added_files=row[5],
                num_removed_files=row[6],
                added_rows=row[7],
                removed_rows=row[8],
                added_bytes=row[9],
                removed_bytes=row[10],
                metrics=row[11] or {},
            )
            for row in rows
        ]
        by_rows |= {(table, at): one for at, one in outliers(compared).items()}
        by_bytes |= {(table, at): one for at, one in bytes_outliers(compared).items()}
    return by_rows, by_bytes


# === On the dashboard ===


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySummary:
    """The commits of a day, of all tables that the user may see.

    Attributes:
        day: `today` or `yesterday`, in the user's zone.
        num_tables: The tables that changed.
        num_deletes: The commits after which a table has fewer rows.
    """

    day: str
    num_commits: int
    num_tables: int
    num_deletes: int
    num_schema_changes: int


def day_summaries(user: User | AnonymousUser, now: datetime) -> list[DaySummary]:
    """Return the summaries of today and yesterday."""
    zone = user_zone(user)
    today = now.astimezone(zone).date()
    commits = _visible(Commit.objects.order_by(), user)
    found = []
    for name, day in (("today", today), ("yesterday", today - timedelta(days=1))):
        following = _midnight(day + timedelta(days=1), zone)
        made = Q(committed_at__gte=_midnight(day, zone), committed_at__lt=following)
        counts = commits.filter(made).aggregate(
            num_commits=Count("id"),
            num_tables=Count("table", distinct=True),
            num_deletes=Count("id", filter=REMOVES_ROWS),
            num_schema_changes=Count("id", filter=Q(changes_schema=True)),
        )
        found.append(DaySummary(day=name, **counts))
    return found
