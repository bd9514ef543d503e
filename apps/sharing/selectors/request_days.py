"""How many calls recipients and tokens made, day by day, from the record.

Days are those of UTC. Of those who are asked about only the newest `SCAN_LENGTH` events
are added up, so that a page stays fast over millions of them; days before that count as
unknown.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal
from uuid import UUID

from django.db.models import CharField, Count
from django.db.models.functions import Cast, Substr

from apps.audit.models import AuditEvent

SCAN_LENGTH: Final = 100_000
_ISO_DAY_LENGTH: Final = len("2026-11-21")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestDays:
    """Calls a day.

    Attributes:
        days: The days, ascending; the last one is today.
        counts: A number a day for each id that was asked for; None where unknown.
    """

    days: tuple[date, ...]
    counts: Mapping[UUID, tuple[int | None, ...]]

    @property
    def num_known_days(self) -> int:
        """How many of the days are counted: the newest ones."""
        columns = list(self.counts.values())
        if not columns:
            return len(self.days)
        return sum(count is not None for count in columns[0])

    @property
    def partly_since(self) -> date | None:
        """The first day that is counted, when the days before it are not."""
        num_known = self.num_known_days
        return self.days[-num_known] if 0 < num_known < len(self.days) else None

    def today(self, key: UUID) -> int | None:
        """How many calls were made today; None when there are too many to count."""
        return self.counts[key][-1]

    def total(self, key: UUID) -> int:
        """How many calls the known days saw."""
        return sum(count or 0 for count in self.counts[key])


def requests_by_day(
    field: Literal["recipient_id", "token_id"],
    ids: Collection[UUID],
    *,
    num_days: int,
    now: datetime,
    scan: int = SCAN_LENGTH,
) -> RequestDays:
    """Count the calls of recipients or tokens in the last `num_days`."""
    today = now.astimezone(UTC).date()
    days = tuple(today - timedelta(days=n) for n in reversed(range(num_days)))
    start = _start_of(days[0])
    events = AuditEvent.objects.filter(**{f"{field}__in": ids}, at__gte=start)
    newest = events.order_by("-at").values_list("at", flat=True)
    beyond = next(iter(newest[scan : scan + 1]), None)
    known_since = start if beyond is None else beyond
    groups = (
        events.filter(kind=AuditEvent.Kind.CALL, at__gte=known_since)
        .order_by()
        .annotate(day=Substr(Cast("at", CharField()), 1, _ISO_DAY_LENGTH))
        .values_list(field, "day")
        .annotate(calls=Count("id"))
    )
    found = {(key, day): calls for key, day, calls in groups}
    is_known = [beyond is None or _start_of(day) > beyond for day in days]
    counts = {
        key: tuple(
            found.get((key, day.isoformat()), 0) if known else None
            for day, known in zip(days, is_known, strict=True)
        )
        for key in ids
    }
    return RequestDays(days=days, counts=counts)


def _start_of(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)
