"""What a recipient was offered: requests and bytes by table and month.

Offered is what files it was given URLs of; which of them a client opens is not seen.
Months are those of UTC.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

from django.db.models import Count, Sum

from deltaweb.web.pages.page_json import OnPage, in_json
from deltaweb.web.sharing.activity.usage import (
    FIRST_FAILED_STATUS,
    READ_ACTIONS,
    calls,
    sum_of_sizes,
)
from deltaweb.web.sharing.models import Recipient

NUM_MONTHS: Final = 6
CSV_HEADER: Final = ("month", "share", "table", "requests", "files", "size_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """What was offered of one table in one month.

    Attributes:
        month: Its first day.
        table: `schema.table`, as the share names it.
        num_requests: Queries and requests for changes that were answered.
        num_files: Files that URLs were given of, as often as they were.
    """

    month: date
    share: str
    table: str
    num_requests: int
    num_files: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerMonth:
    """One month of a recipient.

    Attributes:
        part: Of the largest month shown, from 0 to 1.
    """

    month: date
    num_requests: int
    size_bytes: int
    part: OnPage[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The last months of a recipient, the newest first.

    Attributes:
        forecast_bytes: Of the present month, as its days so far go on; None on its
            first day, which says too little.
    """

    recipient: str
    months: Sequence[LedgerMonth]
    entries: Sequence[LedgerEntry]
    forecast_bytes: int | None

    @in_json
    def size_bytes(self) -> int:
        """What was offered in the present month."""
        return self.months[0].size_bytes

    @property
    def newest(self) -> list[LedgerEntry]:
        """The tables of the present month, those of most bytes first."""
        month = self.months[0].month
        return [entry for entry in self.entries if entry.month == month]

    def rows(self) -> Iterator[Sequence[object]]:
        """Yield the statement as rows, its header first."""
        yield CSV_HEADER
        for one in self.entries:
            yield (
                f"{one.month:%Y-%m}",
                *(one.share, one.table, one.num_requests, one.num_files),
                one.size_bytes,
            )


def ledger_of(
    recipient: Recipient, *, now: datetime, num_months: int = NUM_MONTHS
) -> Ledger:
    """Return what a recipient was offered, by as many queries as months."""
    starts = _months(now, num_months)
    entries = [
        entry
        for start, end in zip(starts, [None, *starts[:-1]], strict=True)
        for entry in _entries(recipient, start, end)
    ]
    sums = {start: _sum(entries, start) for start in starts}
    most = max((size for _, size in sums.values()), default=0) or 1
    return Ledger(
        recipient=recipient.name,
        months=[
            LedgerMonth(
                month=start, num_requests=requests, size_bytes=size, part=size / most
            )
            for start, (requests, size) in sums.items()
        ],
        entries=entries,
        forecast_bytes=_forecast(sums[starts[0]][1], now=now),
    )


def _months(now: datetime, count: int) -> list[date]:
    """Return the first days of months, the present one first."""
    first = now.astimezone(UTC).date().replace(day=1)
    months = [first]
    while len(months) < count:
        first = (
            first.replace(month=first.month - 1)
            if first.month > 1
            else first.replace(year=first.year - 1, month=12)
        )
        months.append(first)
    return months


def _entries(
    recipient: Recipient, start: date, end: date | None
) -> Iterator[LedgerEntry]:
    """Yield the tables of a month, those of most bytes first."""
    events = calls(recipient_id=recipient.id).filter(
        at__gte=_midnight(start),
        action__in=READ_ACTIONS,
        status__lt=FIRST_FAILED_STATUS,
    )
    if end is not None:
        events = events.filter(at__lt=_midnight(end))
    groups = (
        events.order_by()
        .values("share", "schema", "table")
        .annotate(requests=Count("*"), files=Sum("num_files"), size=sum_of_sizes())
        .order_by("-size", "share", "schema", "table")
    )
    for row in groups:
        yield LedgerEntry(
            month=start,
            share=row["share"],
            table=f"{row['schema']}.{row['table']}",
            num_requests=row["requests"],
            num_files=row["files"] or 0,
            size_bytes=int(row["size"] or 0),
        )


def _sum(entries: Sequence[LedgerEntry], month: date) -> tuple[int, int]:
    some = [entry for entry in entries if entry.month == month]
    return sum(one.num_requests for one in some), sum(one.size_bytes for one in some)


def _forecast(size_bytes: int, *, now: datetime) -> int | None:
    """Return what a month comes to that goes on as it began."""
    start = _midnight(_months(now, 1)[0])
    next_month = date(start.year + start.month // 12, start.month % 12 + 1, 1)
    passed_s = (now - start).total_seconds()
    whole_s = (_midnight(next_month) - start).total_seconds()
    return int(size_bytes * whole_s / passed_s) if passed_s >= 24 * 3600 else None


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
