"""How many findings were open on each of the last thirty days."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Q
from django.db.models.functions import TruncDate

from apps.accounts.models import User
from apps.tables.models import StoredFinding, Table

NUM_DAYS: Final = 30
HEIGHT: Final = 45.0  # pixels of the highest bar
BASE: Final = 61.2
GAP: Final = 0.7  # percent of the width between two bars


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCounts:
    """The findings that were open at the end of a day of UTC.

    Attributes:
        set_aside: Those that were muted or acknowledged. No severity counts them.
    """

    day: date
    act_now: int = 0
    costs: int = 0
    to_know: int = 0
    set_aside: int = 0

    @property
    def total(self) -> int:
        return self.act_now + self.costs + self.to_know

    @property
    def worst(self) -> str:
        """The class of the worst severity of the day; "" for a quiet one."""
        counts = ((self.act_now, "a"), (self.costs, "c"), (self.to_know, "n"))
        return next((css for count, css in counts if count), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A part of a day's bar, in percent of the width and pixels of the height."""

    css: str
    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DayBars:
    """The bar of a day.

    Attributes:
        x: Percent of the width.
    """

    day: DayCounts
    x: float
    width: float
    parts: tuple[Bar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryChart:
    """The picture of the last thirty days.

    Attributes:
        most: The largest count, which the axis shows.
    """

    bars: list[DayBars]
    most: int
    first: DayCounts
    last: DayCounts


def daily_counts(
    user: User | AnonymousUser, now: datetime, *, table: Table | None = None
) -> list[DayCounts]:
    """Return the counts of what a user may see, the oldest day first."""
    today = now.astimezone(UTC).date()
    first = today - timedelta(days=NUM_DAYS - 1)
    begins = datetime(first.year, first.month, first.day, tzinfo=UTC)
    found = StoredFinding.objects.visible_to(user).filter(
        Q(closed_at=None) | Q(closed_at__gte=begins)
    )
    if table is not None:
        found = found.filter(table=table)
    days = [first + timedelta(days=number) for number in range(NUM_DAYS)]
    groups = (
        found.order_by()
        .annotate(
            found_on=TruncDate("found_at", tzinfo=UTC),
            closed_on=TruncDate("closed_at", tzinfo=UTC),
        )
        .values_list(*_Group._fields[:-1])
        .annotate(Count("id"))
    )
    return _by_day(map(_Group._make, groups), days, now)


class _Group(NamedTuple):
    """Findings that were found, closed and set aside at the same time."""

    severity: int
    found_on: date
    closed_on: date | None
    acknowledged_at: datetime | None
    muted_at: datetime | None
    muted_until: datetime | None
    number: int

    def is_aside(self, moment: datetime) -> bool:
        """Whether they are muted or acknowledged at a moment."""
        if self.acknowledged_at is not None and self.acknowledged_at <= moment:
            return True
        if self.muted_until is None or self.muted_until <= moment:
            return False
        return self.muted_at is None or self.muted_at <= moment


def _by_day(
    groups: Iterable[_Group], days: list[date], now: datetime
) -> list[DayCounts]:
    """Add up what was opened, closed and set aside until the end of each day."""
    changes: dict[int, Counter[date]] = {
        rank: Counter() for rank in StoredFinding.Severity.values
    }
    aside: dict[int, Counter[date]] = {rank: Counter() for rank in changes}
    ends = {
        day: min(datetime.combine(day + timedelta(days=1), time(), tzinfo=UTC), now)
        for day in days
    }
    for one in groups:
        begin, end = max(one.found_on, days[0]), one.closed_on
        changes[one.severity][begin] += one.number
        if end is not None:
            changes[one.severity][max(end, days[0])] -= one.number
        if one.acknowledged_at is None and one.muted_until is None:
            continue
        for day in days:
            is_open = begin <= day and (end is None or day < end)
            if is_open and one.is_aside(ends[day]):
                aside[one.severity][day] += one.number
    ranks, open_now = StoredFinding.Severity, Counter[int]()
    counts = []
    for day in days:
        for rank, by_day in changes.items():
            open_now[rank] += by_day[day]
        counted = {rank: open_now[rank] - aside[rank][day] for rank in changes}
        counts.append(
            DayCounts(
                day=day,
                act_now=counted[ranks.ACT_NOW],
                costs=counted[ranks.COSTS],
                to_know=counted[ranks.TO_KNOW],
                set_aside=sum(by_day[day] for by_day in aside.values()),
            )
        )
    return counts


def history_chart(days: list[DayCounts]) -> HistoryChart:
    """Draw the last thirty days."""
    most = max((day.total + day.set_aside for day in days), default=0)
    step = 100 / NUM_DAYS
    bars = []
    for number, day in enumerate(days):
        parts, top = [], BASE
        for css, count in (
            *(("x", day.set_aside), ("n", day.to_know)),
            *(("c", day.costs), ("a", day.act_now)),
        ):
            if count:
                height = HEIGHT * count / most
                top -= height
                shown = max(height - 0.8, 0.8)
                parts.append(Bar(css=css, y=round(top, 1), height=round(shown, 1)))
        bars.append(
            DayBars(
                day=day,
                x=round(number * step + GAP / 2, 2),
                width=round(step - GAP, 2),
                parts=tuple(parts),
            )
        )
    return HistoryChart(bars=bars, most=most, first=days[0], last=days[-1])
