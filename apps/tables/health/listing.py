"""The page of findings: its filters, its order, its counts, and what it shows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, cast

from django import forms
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, F, Max, Q, Sum, Value
from django.db.models.expressions import OrderBy
from django.db.models.functions import Concat
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.pages.frame import AnyUser, KeyNumber
from apps.pages.lists.fields import WordField
from apps.pages.lists.paging import paged
from apps.pages.lists.sorting import DESCENDING, Column, ordering
from apps.pages.page_json import OnPage
from apps.pages.request.list_page import ListPage, ListQuery, PageOfRows
from apps.tables.health.history import DayBars, DayCounts, daily_counts, history_chart
from apps.tables.health.resources import (
    FindingGroup,
    FindingRow,
    all_rules,
    finding_row,
)
from apps.tables.health.storing import KEEP_CLOSED
from apps.tables.models import StoredFinding, Table
from apps.tables.models.health import StoredFindingQuerySet
from deltaweb.health.finding import about_length

OPEN: Final = "open"
MINE: Final = "mine"
MUTED: Final = "muted"
CLOSED: Final = "closed"
STATES: Final = [(one, one) for one in (OPEN, MINE, MUTED, CLOSED)]
SEVERITIES: Final = [
    (str(label).replace(" ", "-"), label) for _, label in StoredFinding.Severity.choices
]
RANKS: Final = {
    str(label).replace(" ", "-"): rank for rank, label in StoredFinding.Severity.choices
}
CSV_CHUNK: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCounts:
    """How many findings there are, and when the tables were examined.

    Attributes:
        num_open: Findings that hold and are not muted.
        num_mine: Those of them that are assigned to the user.
        freed_bytes: Sum of the costs that are bytes in storage.
        num_rules: The rules that there are.
        num_found: Rules with an open finding.
        checked_at: When a table was examined last; None before.
    """

    num_open: int
    num_mine: int
    num_muted: int
    num_act_now: int
    num_costs: int
    num_to_know: int
    freed_bytes: int
    num_tables: int
    num_rules: int
    num_found: int
    checked_at: datetime | None


def health_counts(user: User | AnonymousUser, now: datetime) -> HealthCounts:
    """Return the counts of what a user may see."""
    ranks = StoredFinding.Severity
    is_muted = Q(muted_until__gt=now)
    counts = (
        StoredFinding.objects.visible_to(user)
        .open()
        .aggregate(
            num_open=Count("id", filter=~is_muted | Q(muted_until=None)),
            num_muted=Count("id", filter=is_muted),
            num_mine=Count("id", filter=_not_muted(now) & Q(assignee=user.pk)),
            num_act_now=Count("id", filter=_not_muted(now) & Q(severity=ranks.ACT_NOW)),
            num_costs=Count("id", filter=_not_muted(now) & Q(severity=ranks.COSTS)),
            num_to_know=Count("id", filter=_not_muted(now) & Q(severity=ranks.TO_KNOW)),
            num_found=Count("rule", filter=_not_muted(now), distinct=True),
            freed_bytes=Sum("cost_bytes", filter=_not_muted(now)),
        )
    )
    tables = Table.objects.visible_to(user)
    examined = tables.aggregate(
        num_tables=Count("id"), checked_at=Max("health_checked_at")
    )
    counts["freed_bytes"] = counts["freed_bytes"] or 0
    return HealthCounts(num_rules=len(all_rules()), **counts, **examined)


def _not_muted(now: datetime) -> Q:
    return Q(muted_until=None) | Q(muted_until__lte=now)


def findings_number(user: AnyUser, now: datetime) -> KeyNumber:
    """Return the number of the dashboard."""
    found = StoredFinding.objects.visible_to(cast("User", user)).listed(now)
    counts = found.aggregate(
        num_open=Count("id"),
        num_urgent=Count("id", filter=Q(severity=StoredFinding.Severity.ACT_NOW)),
    )
    num_urgent = counts["num_urgent"]
    return KeyNumber(
        key="findings_open",
        label="Health findings",
        value=counts["num_open"],
        note=f"{num_urgent:,} to act on now" if num_urgent else "none is urgent",
        url=reverse("tables:finding-list"),
    )


def _page(
    user: User | AnonymousUser, query: ListQuery, now: datetime
) -> PageOfRows[FindingRow]:
    found = _filtered(user, query, now)
    place = paged(found.count(), query.page)
    ordered = findings_loaded(found.order_by(*_order(query)))
    shown, rules = list(ordered[place.rows]), all_rules()
    rows = [finding_row(one, rules, now) for one in shown]
    if (by := query.sort.removeprefix(DESCENDING)) in GROUPED:
        counts = _group_counts(found, shown, by)
        # A look that ends meanwhile may close the last finding of a group.
        groups = (counts.get(_group_of(one, by), 1) for one in shown)
        rows = [
            replace(row, group=_group(row, by, count))
            for row, count in zip(rows, groups, strict=True)
        ]
    return PageOfRows(rows=rows, paged=place)


def _group(row: FindingRow, by: str, count: int) -> FindingGroup:
    if by == BY_TABLE:
        return FindingGroup(title=row.subject, about="", count=count)
    return FindingGroup(title=row.title, about=row.about, count=count)


def _every(
    user: User | AnonymousUser, query: ListQuery, now: datetime
) -> Iterator[FindingRow]:
    ordered = findings_loaded(_filtered(user, query, now).order_by(*_order(query)))
    rules = all_rules()
    for one in ordered.iterator(chunk_size=CSV_CHUNK):
        yield finding_row(one, rules, now)


def findings_loaded(found: StoredFindingQuerySet) -> StoredFindingQuerySet:
    """Load what a row shows; not the summaries of the tables."""
    related = found.select_related("table", "assignee")
    return related.only(
        *(one.name for one in StoredFinding._meta.concrete_fields),  # noqa: SLF001 (Django documents it)
        *("table__namespace", "table__name", "assignee__username"),
    )


def _filtered(
    user: User | AnonymousUser, query: ListQuery, now: datetime
) -> StoredFindingQuerySet:
    found = StoredFinding.objects.visible_to(user)
    state = query["state"] or OPEN
    if state == MUTED:
        found = found.muted(now)
    elif state == CLOSED:
        found = found.filter(closed_at__isnull=False)
    else:
        found = found.listed(now)
    if state == MINE:
        found = found.filter(assignee=user.pk)
    if query["severity"]:
        found = found.filter(severity=RANKS[query["severity"]])
    for name, field in (("rule", "rule"), ("namespace", "table__namespace")):
        if query[name]:
            found = found.filter(**{field: query[name]})
    if text := query["q"]:
        found = found.annotate(
            full_name=Concat("table__namespace", Value("."), "table__name")
        ).filter(
            Q(full_name__icontains=text)
            | Q(subject__icontains=text)
            | Q(sentence__icontains=text)
            | Q(rule__icontains=text.replace(" ", "-"))
            | Q(assignee__username__icontains=text)
        )
    return found


def _order(query: ListQuery) -> list[OrderBy]:
    return ordering(COLUMNS, query.sort, ties=("severity", "rule", "id"))


def _group_of(one: StoredFinding, by: str) -> tuple[object, ...]:
    """Return the values that a finding has in common with its group."""
    return tuple(getattr(one, name) for name in GROUPED[by])


def _group_counts(
    found: StoredFindingQuerySet, shown: list[StoredFinding], by: str
) -> dict[tuple[object, ...], int]:
    """Return the number of findings on all pages, by the groups of one page."""
    if not shown:
        return {}
    if by == BY_TABLE:
        tables = {one.table_id for one in shown if one.table_id}
        subjects = {one.subject for one in shown if not one.table_id}
        wanted = Q(table__in=tables) | Q(table=None, subject__in=subjects)
    else:
        wanted = Q(rule__in={one.rule for one in shown})
    counts = found.filter(wanted).order_by().values_list(*GROUPED[by])
    return {tuple(key): count for *key, count in counts.annotate(Count("id"))}


def _more(request: HttpRequest, _: PageOfRows[FindingRow]) -> Mapping[str, object]:
    user, now = request.user, timezone.now()
    wanted = request.GET.get("open", "")
    is_number = wanted.isascii() and wanted.isdigit() and len(wanted) < MAX_DIGITS
    sort = request.GET.get("sort", "").removeprefix(DESCENDING)
    return {
        "counts": health_counts(user, now),
        "chart": history_chart(daily_counts(user, now)),
        "opened": int(wanted) if is_number else None,
        "by_table": sort == BY_TABLE,
        "keeps_closed_for": about_length(KEEP_CLOSED.total_seconds()),
        "state": cleaned_state(request),
    }


def cleaned_state(request: HttpRequest) -> str:
    """Return which findings a request lists."""
    field = FINDINGS.filters["state"]
    return str(field.clean(request.GET.get("state", ""))) or OPEN


MAX_DIGITS: Final = 19  # an id with fewer digits fits into a bigint
BY_TABLE: Final = "table"
GROUPED: Final[Mapping[str, tuple[str, ...]]] = {
    "rule": ("rule",),
    BY_TABLE: ("table_id", "subject"),
}
"""The orders that show groups, each with the fields that a group has in common."""
NUM_SHOWN: Final = 5
COLUMNS: Final = (
    Column("rule", "Finding", "severity rule", word="By rule", never_null=True),
    Column(
        *(BY_TABLE, "Table", "table__namespace table__name subject"), word="By table"
    ),
    Column("since", "Open", "since", word="Oldest first", never_null=True),
    Column("cost", "What it costs", "cost_bytes", begins_descending=True),
)
FINDINGS: Final = ListPage(
    entries="findings",
    template="tables/health/finding_list.html",
    fragment="finding-rows",
    columns=COLUMNS,
    default_sort="rule",
    filters={
        "q": forms.CharField(max_length=200, required=False),
        "state": WordField(STATES),
        "severity": WordField(SEVERITIES),
        "rule": forms.CharField(max_length=64, required=False),
        "namespace": forms.CharField(max_length=200, required=False),
    },
    page=_page,
    entry=FindingRow,
    every=_every,
    more=_more,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHealth:
    """The findings of one table, as its overview shows them.

    Attributes:
        findings: The open ones, the worst first; muted ones at the end.
        num_rules: The rules that were run.
        checked_at: When they were run last; None before.
        closed_at: When the last finding was closed; None without one.
    """

    findings: list[FindingRow]
    num_rules: int
    checked_at: datetime | None
    closed_at: datetime | None
    days: OnPage[list[DayCounts]]

    @property
    def worst(self) -> FindingRow | None:
        """The finding of the banner: the worst one that is not muted."""
        return next((one for one in self.findings if one.muted_until is None), None)

    @property
    def num_open(self) -> int:
        return sum(one.muted_until is None for one in self.findings)

    @property
    def num_quiet(self) -> int:
        """Rules that found nothing."""
        return self.num_rules - len({one.resource.rule for one in self.findings})

    @property
    def strip(self) -> list[DayBars]:
        """The last thirty days, one place each."""
        return history_chart(self.days).bars

    @property
    def shown(self) -> list[FindingRow]:
        """Those of them that the card shows."""
        return self.findings[:NUM_SHOWN]


def table_health(
    user: User | AnonymousUser, table: Table, now: datetime
) -> TableHealth:
    """Return the findings of a table that a user may see."""
    own = StoredFinding.objects.visible_to(user).filter(table=table)
    rules = all_rules()
    ordered = own.open().order_by(F("muted_until").asc(nulls_first=True), "severity")
    rows = [finding_row(one, rules, now) for one in findings_loaded(ordered)]
    return TableHealth(
        findings=rows,
        num_rules=len(rules),
        checked_at=table.health_checked_at,
        closed_at=own.aggregate(at=Max("closed_at"))["at"],
        days=daily_counts(user, now, table=table),
    )
