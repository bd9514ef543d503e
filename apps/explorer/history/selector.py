"""The commits of a table: pages of them, and their counts per day."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import groupby
from typing import Annotated, TypeAlias

from django.db.models import CharField, Count
from django.db.models.functions import Cast, Substr

from apps.explorer.history.form import HistoryFilter
from apps.explorer.history.operations import (
    FAMILIES,
    OperationFamily,
    operation_family,
)
from apps.pages.page_json import As, csv_rows
from apps.tables.models import Commit, CommitQuerySet, Table
from apps.tables.versions.resources import CommitResource, commit_resource

PAGE_LENGTH = 50
CHART_DAYS = 45
MAX_CHART_DAYS = 366
MAX_CHOICES = 40
CSV_CHUNK = 2000
_ISO_DAY_LENGTH = len("2026-11-21")
# Parameters and metrics may be long, and a list shows neither.
_LIST_DEFERS = ("parameters", "metrics")


CommitsOfPage: TypeAlias = Annotated[
    list[Commit], As(lambda commits: [*map(commit_resource, commits)])
]


def commits_until(table: Table, version: int | None) -> CommitQuerySet:
    """Return the commits up to a version, newest first; all of them for None."""
    commits = table.commits.order_by("-version")
    return commits if version is None else commits.filter(version__lte=version)


def matching_commits(commits: CommitQuerySet, wanted: HistoryFilter) -> CommitQuerySet:
    """Return those of some commits that pass a filter, of every page."""
    if wanted.operations:
        commits = commits.filter(operation__in=wanted.operations)
    if wanted.user_name:
        commits = commits.filter(user_name=wanted.user_name)
    if wanted.first_day:
        commits = commits.filter(committed_at__gte=_midnight(wanted.first_day))
    if wanted.last_day and wanted.last_day < date.max:
        following = wanted.last_day + timedelta(days=1)
        commits = commits.filter(committed_at__lt=_midnight(following))
    if wanted.text:
        commits = commits.filter(sentence__icontains=wanted.text)
    return commits


def commit_page(
    until: CommitQuerySet, wanted: HistoryFilter
) -> tuple[list[Commit], int | None]:
    """Return up to `PAGE_LENGTH` commits that pass a filter, and where others begin."""
    matching = matching_commits(until, wanted)
    older = matching.before(wanted.before).defer(*_LIST_DEFERS)
    commits = list(older[: PAGE_LENGTH + 1])
    more = len(commits) > PAGE_LENGTH
    commits = commits[:PAGE_LENGTH]
    return commits, commits[-1].version if more else None


def commits_by_day(
    commits: list[Commit], zone: tzinfo
) -> list[tuple[date, list[Commit]]]:
    """Group the commits of a page by the day they were made on in `zone`."""
    groups = groupby(
        commits, lambda commit: commit.committed_at.astimezone(zone).date()
    )
    return [(day, list(group)) for day, group in groups]


def newest_commits(table: Table, version: int, length: int) -> list[Commit]:
    """Return the last commits up to a version, newest first."""
    commits = table.commits.filter(version__lte=version).order_by("-version")
    return list(commits.defer(*_LIST_DEFERS)[:length])


def history_choices(commits: CommitQuerySet) -> dict[str, list[tuple[str, int]]]:
    """Return what the filters offer of commits, the most frequent first."""
    operations: Counter[str] = Counter()
    user_names: Counter[str] = Counter()
    groups = commits.order_by().values_list("operation", "user_name")
    for operation, user_name, count in groups.annotate(count=Count("id")):
        operations[operation] += count
        user_names[user_name] += count
    return {"operations": _frequent(operations), "user_names": _frequent(user_names)}


def daily_counts(
    table: Table,
    *,
    up_to: datetime,
    num_days: int = CHART_DAYS,
    wanted: HistoryFilter | None = None,
) -> tuple[list[date], dict[OperationFamily, tuple[int, ...]]]:
    """Count the commits of the last days up to a moment, by day and family.

    Returns:
        Every day of UTC from the first to the last, and for each family how many it
        had on each, also on one without commits.

    Args:
        num_days: How many days, with that of the moment, unless `wanted` says the
            first one.
        wanted: Which commits count, and from which day on; of a longer span, the last
            `MAX_CHART_DAYS` days.
    """
    wanted = wanted or HistoryFilter()
    last = up_to.astimezone(UTC).date()
    first = _day_before(last, num_days - 1)
    if wanted.first_day is not None:
        first = max(wanted.first_day, _day_before(last, MAX_CHART_DAYS - 1))
    rows = (
        matching_commits(table.commits.all(), wanted)
        .filter(committed_at__gte=_midnight(first), committed_at__lte=up_to)
        .order_by()
        .annotate(day=Substr(Cast("committed_at", CharField()), 1, _ISO_DAY_LENGTH))
        .values_list("day", "operation")
        .annotate(count=Count("id"))
    )
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    counts: Counter[tuple[date, str]] = Counter()
    for day, operation, count in rows:
        counts[date.fromisoformat(day), operation_family(operation).name] += count
    seen = {name for _, name in counts}
    return days, {
        family: tuple(counts[day, family.name] for day in days)
        for family in FAMILIES
        if family.name in seen
    }


def commit_rows(
    until: CommitQuerySet, wanted: HistoryFilter
) -> Iterator[tuple[object, ...]]:
    """Yield the header and every commit of a filter, as the CSV form shows them."""
    commits = matching_commits(until, wanted).defer(*_LIST_DEFERS)
    found = map(commit_resource, commits.iterator(chunk_size=CSV_CHUNK))
    yield from csv_rows(CommitResource, found)


def end_of(day: date) -> datetime:
    """Return the last moment of a day of UTC."""
    return datetime.combine(day, time.max, tzinfo=UTC)


def _frequent(counts: Counter[str]) -> list[tuple[str, int]]:
    named = [(name, count) for name, count in counts.items() if name]
    return sorted(named, key=lambda pair: (-pair[1], pair[0]))[:MAX_CHOICES]


def _day_before(day: date, num_days: int) -> date:
    return max(day, date.min + timedelta(days=num_days)) - timedelta(days=num_days)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


def _adds_again(commit: Commit) -> bool:
    """Whether the files that a commit adds are in the table, as they change no row."""
    return not commit.data_change and not commit.num_removed_files


def moves_files(commit: Commit) -> bool:
    """Whether a commit adds or removes files; any other has no rows to tell of."""
    return bool(commit.num_added_files or commit.num_removed_files)


def changed_parts(commit: Commit) -> list[str]:
    """Return what a commit changed beside files: `schema`, `protocol`; or nothing."""
    if commit.operation.startswith("CREATE"):
        return ["new table"]
    parts = {
        "clustering": commit.operation == "CLUSTER BY",
        "schema": commit.changes_schema,
        "properties": commit.changes_metadata and not commit.changes_schema,
        "protocol": commit.changes_protocol,
    }
    return [name for name, is_changed in parts.items() if is_changed]


def row_change(commit: Commit) -> int | None:
    """Return how many rows a commit added or took away; None when it does not tell."""
    if _adds_again(commit):
        return 0
    added = commit.added_rows if commit.num_added_files else commit.added_rows or 0
    removed = (
        commit.removed_rows if commit.num_removed_files else commit.removed_rows or 0
    )
    return None if added is None or removed is None else added - removed


def byte_change(commit: Commit) -> int | None:
    """Return how many bytes a commit added or took away; None when unknown."""
    if _adds_again(commit):
        return 0
    removed = (
        commit.removed_bytes if commit.num_removed_files else commit.removed_bytes or 0
    )
    return None if removed is None else commit.added_bytes - removed
