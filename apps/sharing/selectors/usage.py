"""How much is read: calls and bytes a day, and the last call.

Counts are made from indexes of the record alone, day by day, so they stay fast over a
million events. Days are those of UTC.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum

from apps.audit.models import AuditEvent

USE_DAYS: Final = 30
_FIRST_REFUSAL: Final = 400  # the HTTP status


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyUse:
    """What one day saw.

    Attributes:
        num_requests: Calls, refused ones included.
        num_refused: Calls that were answered with an error.
        size_bytes: Bytes of the files that were offered.
    """

    day: date
    num_requests: int
    num_refused: int
    size_bytes: int


def calls(
    *,
    recipient_id: UUID | None = None,
    token_id: UUID | None = None,
    table_id: UUID | None = None,
    share: str = "",
) -> QuerySet[AuditEvent]:
    """Return the calls of the protocol: all, or those of one of these."""
    wanted = {
        "recipient_id": recipient_id,
        "token_id": token_id,
        "table_id": table_id,
        "share": share,
    }
    named = {name: value for name, value in wanted.items() if value}
    return AuditEvent.objects.filter(kind=AuditEvent.Kind.CALL, **named)


def daily_use(
    events: QuerySet[AuditEvent], *, now: datetime, num_days: int = USE_DAYS
) -> list[DailyUse]:
    """Count events day by day, the oldest day first and today last."""
    today = now.astimezone(UTC).date()
    days = [today - timedelta(days=back) for back in reversed(range(num_days))]
    return [_use_of(events, day) for day in days]


def last_use(events: QuerySet[AuditEvent]) -> AuditEvent | None:
    """Return the newest event that was not refused."""
    return events.filter(status__lt=_FIRST_REFUSAL).order_by("-at").first()


def _use_of(events: QuerySet[AuditEvent], day: date) -> DailyUse:
    starts_at = datetime.combine(day, time.min, tzinfo=UTC)
    # A range is read in the order of its index; grouping by a date would sort.
    counted = events.filter(
        at__gte=starts_at, at__lt=starts_at + timedelta(days=1)
    ).aggregate(
        num_requests=Count("id"),
        num_refused=Count("id", filter=Q(status__gte=_FIRST_REFUSAL)),
        size_bytes=Sum("size_bytes", default=0),
    )
    return DailyUse(day=day, **counted)
