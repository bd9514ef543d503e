"""How many findings were open on each of the last thirty days."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

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
    """The findings that were open at the end of a day of UTC."""

    day: date
    act_now: int = 0
    costs: int = 0
    to_know: int = 0

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
    groups = (
        found.order_by()
        .annotate(
            found_on=TruncDate("found_at", tzinfo=UTC),
            closed_on=TruncDate("closed_at", tzinfo=UTC),
        )
        .values_list("severity", "found_on", "closed_on")
        .annotate(Count("id"))
    )
    return _by_day(groups, first)


def _by_day(
    groups: Iterable[tuple[int, date, date | None, int]], first: date
) -> list[DayCounts]:
    """Add up what came and what went on each day."""
    changes: dict[int, Counter[date]] = {
        rank: Counter() for rank in StoredFinding.Severity.values
    }
    for severity, found_on, closed_on, count in groups:
        changes[severity][max(found_on, first)] += count
        if closed_on is not None:
            changes[severity][max(closed_on, first)] -= count
    ranks, open_now = StoredFinding.Severity, Counter[int]()
    days = []
    for number in range(NUM_DAYS):
        day = first + timedelta(days=number)
        for rank, by_day in changes.items():
            open_now[rank] += by_day[day]
        days.append(
            DayCounts(
                day=day,
                act_now=open_now[ranks.ACT_NOW],
                costs=open_now[ranks.COSTS],
                to_know=open_now[ranks.TO_KNOW],
            )
        )
    return days


def history_chart(days: list[DayCounts]) -> HistoryChart:
    """Draw the last thirty days."""
    most = max((day.total for day in days), default=0)
    step = 100 / NUM_DAYS
    bars = []
    for number, day in enumerate(days):
        parts, top = [], BASE
        for css, count in (("n", day.to_know), ("c", day.costs), ("a", day.act_now)):
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
