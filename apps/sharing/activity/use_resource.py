"""How much was read of a share, or by a recipient, as machine forms name it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from apps.audit.models import AuditEvent
from apps.sharing.activity.event_rows import EventResource, event_resource
from apps.sharing.activity.usage import (
    USE_DAYS,
    DailyUse,
    daily_use,
    last_days,
    last_use,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UseResource:
    """Requests and bytes of some days, and the newest request that was answered.

    Attributes:
        num_requests: The number of requests on these days, including refused ones.
        size_bytes: The bytes of the files whose URLs were issued.
    """

    last: EventResource | None
    num_days: int
    num_requests: int
    num_refused: int
    size_bytes: int
    days: Sequence[DailyUse]


def use_resource(events: QuerySet[AuditEvent], *, now: datetime) -> UseResource:
    """Count calls day by day up to today, by two queries."""
    days = daily_use(events, days=last_days(USE_DAYS, now=now))
    last = last_use(events)
    return UseResource(
        last=None if last is None else event_resource(last),
        num_days=len(days),
        num_requests=sum(day.num_requests for day in days),
        num_refused=sum(day.num_refused for day in days),
        size_bytes=sum(day.size_bytes for day in days),
        days=days,
    )
