"""What a span of days saw: use day by day, the tables and recipients that stand out.

What an index holds is counted whole. Of other filters, and for who stands out, only the
newest events are looked at, and what is shown says since when.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from django.db.models import CharField, Count
from django.db.models.functions import Cast, Substr

from apps.audit.models import AuditEvent, AuditEventQuerySet
from apps.sharing.activity.forms import ActivityFilter
from apps.sharing.activity.selectors import matching_events, oldest_in_reach
from apps.sharing.activity.usage import (
    FIRST_FAILED_STATUS,
    USE_DAYS,
    DailyUse,
    daily_use,
    sum_of_sizes,
)
from apps.sharing.models import Recipient

COUNTED_LENGTH: Final = 20_000  # of the newest events, where no index answers
TOP_LENGTH: Final = 8
_ISO_DAY_LENGTH: Final = len("2026-11-21")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A table or recipient with what it was asked for or asked."""

    name: str
    share: str
    requests: int
    size_bytes: int
    percent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What a span of days saw, of the events of a filter.

    Attributes:
        days: Every day of the span, ascending.
        days_since: The first moment that `days` count, when not the span's first.
        top_since: The first moment that the tables and recipients are ordered by,
            when not the span's first.
    """

    days: list[DailyUse]
    tables: list[Reader]
    recipients: list[Reader]
    days_since: datetime | None
    top_since: datetime | None

    @property
    def note(self) -> str:
        """What of the days was counted, when that is not all of them."""
        return _note(self.days_since)

    @property
    def top_note(self) -> str:
        """What the tables and recipients are ordered by, when not by all."""
        return _note(self.top_since)

    @property
    def size_bytes(self) -> int:
        return sum(day.size_bytes for day in self.days)

    @property
    def is_empty(self) -> bool:
        return not any(day.num_requests or day.num_others for day in self.days)


def use_of(wanted: ActivityFilter, *, now: datetime, scan: int = COUNTED_LENGTH) -> Use:
    """Count the events of a filter by day, table and recipient.

    Args:
        wanted: The filter; its days bound the span, which is `USE_DAYS` at most.
        scan: How many of the newest events are looked at where no index answers.
    """
    days = _span(wanted, now)
    start = datetime.combine(days[0], time.min, tzinfo=UTC)
    end = datetime.combine(days[-1], time.min, tzinfo=UTC) + timedelta(days=1)
    indexed = _by_index(wanted)
    if indexed is None:
        events = matching_events(wanted)
        floor = oldest_in_reach(AuditEvent.objects.order_by("-id"), scan)
        reach = floor.at if floor else None
    else:
        events = indexed.filter(at__lt=end)
        newest = events.order_by("-at").values_list("at", flat=True)
        reach = next(iter(newest[scan : scan + 1]), None)
    since = reach if reach and reach > start else None
    groups = list(_groups(events.filter(at__gte=since or start)))
    return Use(
        days=_days_of(groups, days)
        if indexed is None
        else daily_use(indexed, days=days),
        tables=_top(groups, _table_of),
        recipients=_top(groups, lambda group: (group.recipient, "")),
        days_since=since if indexed is None else None,
        top_since=since,
    )


def _by_index(wanted: ActivityFilter) -> AuditEventQuerySet | None:
    """Return the events of a filter as an index holds them, by time; None if none does.

    Whom a name belongs to now is found by its id, unless others had the name before.
    """
    if wanted.text or wanted.table or wanted.action or wanted.who:
        return None
    if not wanted.recipient:
        return matching_events(wanted)
    recipient = Recipient.objects.filter(name=wanted.recipient).only("id").first()
    former = AuditEvent.objects.filter(
        action="recipient.delete", recipient=wanted.recipient
    )
    if wanted.share or recipient is None or former.exists():
        return None
    others = ActivityFilter(kind=wanted.kind, status=wanted.status)
    return matching_events(others).filter(recipient_id=recipient.id)


def _span(wanted: ActivityFilter, now: datetime) -> list[date]:
    today = now.astimezone(UTC).date()
    last = min(wanted.last_day or today, today)
    earliest = last - timedelta(days=USE_DAYS - 1)
    first = min(max(wanted.first_day or earliest, earliest), last)
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


@dataclass(frozen=True, slots=True)
class _Group:
    """Events that are alike, in the order of the query's columns."""

    day: str
    kind: str
    recipient: str
    share: str
    schema: str
    table: str
    status: int
    num_events: int
    size_bytes: float | None


def _groups(events: AuditEventQuerySet) -> Iterable[_Group]:
    found = (
        events.order_by()
        .annotate(day=Substr(Cast("at", CharField()), 1, _ISO_DAY_LENGTH))
        .values_list("day", "kind", "recipient", "share", "schema", "table", "status")
        .annotate(num_events=Count("id"), size_bytes=sum_of_sizes())
    )
    return (_Group(*row) for row in found)


def _days_of(groups: Iterable[_Group], days: Iterable[date]) -> list[DailyUse]:
    by_day: dict[str, list[_Group]] = defaultdict(list)
    for group in groups:
        by_day[group.day].append(group)
    return [_day_of(day, by_day[day.isoformat()]) for day in days]


def _day_of(day: date, groups: Sequence[_Group]) -> DailyUse:
    calls = [group for group in groups if group.kind == AuditEvent.Kind.CALL]
    rehearsed = [one for one in groups if one.kind == AuditEvent.Kind.REHEARSAL]
    refused = (group for group in calls if group.status >= FIRST_FAILED_STATUS)
    num_requests = sum(group.num_events for group in calls)
    return DailyUse(
        day=day,
        num_requests=num_requests,
        num_refused=sum(group.num_events for group in refused),
        num_others=sum(group.num_events for group in groups)
        - num_requests
        - sum(group.num_events for group in rehearsed),
        size_bytes=sum(int(group.size_bytes or 0) for group in calls),
    )


def _table_of(group: _Group) -> tuple[str, str]:
    name = ".".join(part for part in (group.schema, group.table) if part)
    return (name, group.share) if group.table and group.share else ("", "")


def _top(
    groups: Iterable[_Group], name_of: Callable[[_Group], tuple[str, str]]
) -> list[Reader]:
    """Return the names, with their shares, that most requests are about."""
    totals: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for group in groups:
        name = name_of(group)
        if group.kind == AuditEvent.Kind.CALL and name[0]:
            totals[name][0] += group.num_events
            totals[name][1] += int(group.size_bytes or 0)
    ordered = sorted(totals.items(), key=lambda item: (-item[1][0], item[0]))
    highest = ordered[0][1][0] if ordered else 1
    return [
        Reader(
            name=name,
            share=share,
            requests=requests,
            size_bytes=size,
            percent=max(1, round(100 * requests / highest)),
        )
        for (name, share), (requests, size) in ordered[:TOP_LENGTH]
    ]


def _note(since: datetime | None) -> str:
    if since is None:
        return ""
    return f"since {since:%-d %b %H:%M} UTC: the newest {COUNTED_LENGTH:,}"
