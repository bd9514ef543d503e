"""How much a recipient may be offered in a month, and how much of it is spent.

A hard limit refuses further reads until the month of UTC is over; a soft one is only
said. What was offered is counted from the record, at most every `RECOUNT_INTERVAL` in
a process, which adds what it offers itself in between: a request costs no query, and
other processes are one interval behind at most.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final
from uuid import UUID

from apps.audit.models import AuditEvent
from apps.sharing.activity.usage import (
    FIRST_FAILED_STATUS,
    IS_REQUEST,
    calls,
    sum_of_sizes,
)
from apps.sharing.errors import LimitInvalidError
from apps.sharing.models import Recipient
from deltaweb.sharing.errors import BudgetSpentError


def first_of_month(now: datetime) -> date:
    """Return the first day of the month that a moment is in."""
    return now.astimezone(UTC).date().replace(day=1)


def next_month(first: date) -> date:
    """Return the first day of the month after one, by its own first day."""
    return date(first.year + first.month // 12, first.month % 12 + 1, 1)


def last_months(now: datetime, count: int) -> list[date]:
    """Return the first days of months, the present one first."""
    index = now.astimezone(UTC).year * 12 + now.astimezone(UTC).month - 1
    return [date(*_year_and_month(index - back), 1) for back in range(count)]


def midnight(day: date) -> datetime:
    """Return when a day begins."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _year_and_month(index: int) -> tuple[int, int]:
    return index // 12, index % 12 + 1


RECOUNT_INTERVAL: Final = timedelta(seconds=10)
MAX_LIMIT_BYTES: Final = 1 << 60
_MAX_COUNTED: Final = 10_000  # recipients that this process remembers
_SIZE: Final = re.compile(r"(\d{1,19}(?:\.\d{1,6})?)\s*(?:([kmgtp])i?)?b?")
_UNITS: Final = "kmgtp"


@dataclass(slots=True)
class _Count:
    """What a recipient was offered since a month began, as far as is known here."""

    since: datetime
    counted_at: datetime
    size_bytes: int


_counts: dict[UUID, _Count] = {}


def parse_limit(text: str) -> int | None:
    """Return a limit in bytes, such as `3.5 TiB`; None for an empty text."""
    if not text.strip():
        return None
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None:
        raise LimitInvalidError(text=text, reason="it is not a size")
    shift = 10 * (_UNITS.index(match[2]) + 1) if match[2] else 0
    size_bytes = round(float(match[1]) * (1 << shift))
    if size_bytes > MAX_LIMIT_BYTES:
        raise LimitInvalidError(text=text, reason="it is too large")
    return size_bytes


def limit_text(size_bytes: int | None) -> str:
    """Return a limit as `parse_limit` reads it, exactly; "" for none."""
    if size_bytes is None:
        return ""
    for shift in range(10 * len(_UNITS), 0, -10):
        whole, rest = divmod(size_bytes * 1000, 1 << shift)
        if whole >= 1000 and not rest:  # noqa: PLR2004 (one, in thousandths)
            unit = _UNITS[shift // 10 - 1].upper()
            return f"{whole / 1000:g} {unit}iB"
    return f"{size_bytes} B"


def check_budget(recipient: Recipient, *, now: datetime) -> None:
    """Refuse a recipient to read whose hard limit of the month is reached."""
    limit = recipient.hard_limit_bytes
    if limit is None:
        return
    offered = _offered(recipient, now)
    if offered >= limit:
        until = midnight(next_month(first_of_month(now)))
        wait_s = (until - now).total_seconds()
        raise BudgetSpentError(
            limit_bytes=limit, offered_bytes=offered, until=until, wait_s=wait_s
        )


def over_limit(recipients: Sequence[Recipient], *, now: datetime) -> set[UUID]:
    """Return which of some recipients have reached their hard limit of the month."""
    limits = {
        one.id: one.hard_limit_bytes
        for one in recipients
        if one.hard_limit_bytes is not None
    }
    if not limits:
        return set()
    events = AuditEvent.objects.filter(
        IS_REQUEST,
        recipient_id__in=limits,
        at__gte=midnight(first_of_month(now)),
        status__lt=FIRST_FAILED_STATUS,
    )
    sizes = events.order_by().values_list("recipient_id").annotate(size=sum_of_sizes())
    offered = dict(sizes)
    return {key for key, limit in limits.items() if (offered.get(key) or 0) >= limit}


def note_offered(recipient_id: UUID, size_bytes: int) -> None:
    """Count what was just offered, where a limit is counted for."""
    count = _counts.get(recipient_id)
    if count is not None:
        count.size_bytes += size_bytes


def offered_since(recipient: Recipient, since: datetime) -> int:
    """Return the bytes that a recipient was offered since a moment, by one query."""
    events = calls(recipient_id=recipient.id).filter(
        at__gte=since, status__lt=FIRST_FAILED_STATUS
    )
    return int(events.order_by().aggregate(size=sum_of_sizes())["size"] or 0)


def _offered(recipient: Recipient, now: datetime) -> int:
    since = midnight(first_of_month(now))
    count = _counts.get(recipient.id)
    if (
        count is None
        or count.since != since
        or not count.counted_at <= now < count.counted_at + RECOUNT_INTERVAL
    ):
        if len(_counts) >= _MAX_COUNTED:
            _counts.clear()
        count = _Count(since, now, offered_since(recipient, since))
        _counts[recipient.id] = count
    return count.size_bytes
