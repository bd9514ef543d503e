"""What a recipient was offered: requests, rows, bytes and price by table and month.

Offered is what files it was given URLs of; which of them a client opens is not seen.
Months are those of UTC.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import CharField, Count, Max, QuerySet, Sum
from django.db.models.functions import Cast

from apps.audit.models import AuditEvent
from apps.pages.page_json import OnPage, in_json
from apps.sharing.activity.budgets import last_months, midnight, next_month
from apps.sharing.activity.heavy_queries import HeavyQuery, heavy_queries
from apps.sharing.activity.usage import (
    FIRST_FAILED_STATUS,
    READ_ACTIONS,
    calls,
    sum_of_sizes,
)
from apps.sharing.models import Recipient
from apps.tables.models import Table
from deltaweb.storage.spellings import holds

ANY: Final = "*"
GIB: Final = 1 << 30


def price_of(size_bytes: int, location: str | None) -> float | None:
    """Return what it costs to read so many bytes; None where no price is set.

    `DELTAWEB_PRICES` names prefixes of locations, such as `s3://=0.09, s3://near/=0`;
    the longest that holds the location counts, and `*` any other.

    Args:
        location: Where the table is; None where that is not known any more.
    """
    prices: dict[str, float] = settings.PRICES
    held = [
        prefix
        for prefix in prices
        if prefix != ANY and location is not None and holds(prefix, location)
    ]
    price = prices.get(max(held, key=len, default=ANY))
    return None if price is None else size_bytes / GIB * price


NUM_MONTHS: Final = 6
FORETELLABLE_AFTER: Final = timedelta(days=1)  # before that, it says too little
CSV_HEADER: Final = (
    *("month", "share", "table", "requests", "files", "size_bytes"),
    *("rows", "price"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """What was offered of one table in one month.

    Attributes:
        month: The first day of the month.
        table: The table as `schema.table`, by its names in the share.
        num_requests: The number of queries and requests for changes that were answered.
        num_files: The number of file URLs that were issued.
        size_bytes: The bytes of these files.
        num_rows: The rows of these files; null if unknown for a request.
        price: The price of these bytes; null if none is set.
    """

    month: date
    share: str
    table: str
    num_requests: int
    num_files: int
    size_bytes: int
    num_rows: int | None
    price: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerMonth:
    """One month of a recipient.

    Attributes:
        price: The price of the bytes of the month; null if none is set.
        part: Of the largest month shown, from 0 to 1.
    """

    month: date
    num_requests: int
    size_bytes: int
    price: float | None
    part: OnPage[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOutlook:
    """A limit of a month, and when it is reached.

    Attributes:
        name: `soft` or `hard`.
        size_bytes: The limit in bytes.
        is_reached: Whether the limit is reached.
        reached_on: The day when the limit will be reached at the current rate; null if
            never, if it is reached already, or if unknown.
    """

    name: OnPage[str]
    size_bytes: int
    is_reached: bool
    reached_on: date | None

    @property
    def text(self) -> str:
        """What becomes of it this month, in a sentence."""
        refuses = self.name == "hard"
        if self.is_reached:
            end = ": reads are refused until the month ends" if refuses else ""
            return f"The {self.name} limit is reached{end}."
        if self.reached_on is not None:
            day = f"{self.reached_on.day} {self.reached_on:%B}"
            end = "; from then on reads are refused" if refuses else ""
            return f"At this rate, the {self.name} limit is reached on {day}{end}."
        return f"At this rate, the {self.name} limit is not reached this month."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The last months of a recipient, the newest first.

    Attributes:
        forecast_bytes: The expected bytes of the current month at the rate of its days
            so far; null on its first day.
        forecast_price: The expected price of the current month; null if unknown or no
            price is set.
        currency: The currency of the prices.
        soft_limit, hard_limit: The hard monthly limit; null without one.
        queries: The heaviest queries of the current month.
    """

    recipient: str
    months: Sequence[LedgerMonth]
    entries: Sequence[LedgerEntry]
    forecast_bytes: int | None
    forecast_price: float | None
    currency: str
    soft_limit: LimitOutlook | None
    hard_limit: LimitOutlook | None
    queries: Sequence[HeavyQuery]

    @in_json
    def size_bytes(self) -> int:
        """What was offered in the present month."""
        return self.months[0].size_bytes

    @property
    def newest(self) -> list[LedgerEntry]:
        """The tables of the present month, those of most bytes first."""
        month = self.months[0].month
        return [entry for entry in self.entries if entry.month == month]

    @property
    def limits(self) -> list[LimitOutlook]:
        """The limits that there are, the lower first."""
        return [one for one in (self.soft_limit, self.hard_limit) if one is not None]

    @property
    def limits_text(self) -> str:
        """What becomes of the limits this month, in sentences."""
        return " ".join(one.text for one in self.limits)

    @property
    def offered_percent(self) -> str:
        return self._percent(self.size_bytes)

    @property
    def forecast_percent(self) -> str:
        return self._percent(self.forecast_bytes or 0)

    @property
    def marks(self) -> list[tuple[LimitOutlook, str]]:
        """The limits with their places on the bar."""
        return [(one, self._percent(one.size_bytes)) for one in self.limits]

    def rows(self) -> Iterator[Sequence[object]]:
        """Yield the statement as rows, its header first."""
        yield CSV_HEADER
        for one in self.entries:
            yield (
                f"{one.month:%Y-%m}",
                *(one.share, one.table, one.num_requests, one.num_files),
                *(one.size_bytes, one.num_rows),
                None if one.price is None else f"{one.price:.4f}",
            )

    def _percent(self, size_bytes: int) -> str:
        most = max(
            self.size_bytes,
            self.forecast_bytes or 0,
            *(one.size_bytes for one in self.limits),
            1,
        )
        return f"{100 * size_bytes / (most * 1.1):.2f}%"


def ledger_of(
    recipient: Recipient, *, now: datetime, num_months: int = NUM_MONTHS
) -> Ledger:
    """Return what a recipient was offered, by a query a month and few more."""
    starts = last_months(now, num_months)
    entries = [entry for start in starts for entry in _entries(recipient, start)]
    of_month = {start: [e for e in entries if e.month == start] for start in starts}
    sizes = [sum(one.size_bytes for one in some) for some in of_month.values()]
    most = max(sizes) or 1
    months = [
        LedgerMonth(
            month=start,
            num_requests=sum(one.num_requests for one in some),
            size_bytes=size_bytes,
            price=_sum_of_prices(some),
            part=size_bytes / most,
        )
        for (start, some), size_bytes in zip(of_month.items(), sizes, strict=True)
    ]
    outlook = _Outlook(months[0], now)
    pace = outlook.pace
    return Ledger(
        recipient=recipient.name,
        months=months,
        entries=entries,
        forecast_bytes=None if pace is None else int(sizes[0] * pace),
        forecast_price=None if pace is None else _times(months[0].price, pace),
        currency=settings.CURRENCY,
        soft_limit=outlook.of("soft", recipient.soft_limit_bytes),
        hard_limit=outlook.of("hard", recipient.hard_limit_bytes),
        queries=heavy_queries(recipient, _reads_of(recipient, starts[0])),
    )


def _reads_of(recipient: Recipient, start: date) -> QuerySet[AuditEvent]:
    """Return the answered reads of a month."""
    return calls(recipient_id=recipient.id).filter(
        at__gte=midnight(start),
        at__lt=midnight(next_month(start)),
        action__in=READ_ACTIONS,
        status__lt=FIRST_FAILED_STATUS,
    )


def _entries(recipient: Recipient, start: date) -> Iterator[LedgerEntry]:
    """Yield the tables of a month, those of most bytes first."""
    groups = list(
        _reads_of(recipient, start)
        .order_by()
        .values("share", "schema", "table")
        .annotate(
            table_id=Max(Cast("table_id", CharField())),
            requests=Count("*"),
            files=Sum("num_files"),
            size=sum_of_sizes(),
            rows=sum_of_sizes("num_rows"),
            with_rows=Count("num_rows"),
        )
        .order_by("-size", "share", "schema", "table")
    )
    ids = [UUID(row["table_id"]) for row in groups if row["table_id"]]
    located = Table.objects.filter(id__in=ids).values_list("id", "location")
    places = {key.hex: place for key, place in located}
    for row in groups:
        size_bytes = int(row["size"] or 0)
        yield LedgerEntry(
            month=start,
            share=row["share"],
            table=f"{row['schema']}.{row['table']}",
            num_requests=row["requests"],
            num_files=row["files"] or 0,
            size_bytes=size_bytes,
            num_rows=int(row["rows"]) if row["with_rows"] == row["requests"] else None,
            price=price_of(
                size_bytes, places.get((row["table_id"] or "").replace("-", ""))
            ),
        )


def _sum_of_prices(entries: Sequence[LedgerEntry]) -> float | None:
    prices = [one.price for one in entries if one.price is not None]
    return sum(prices) if prices else None


def _times(price: float | None, pace: float) -> float | None:
    return None if price is None else price * pace


class _Outlook:
    """How a month goes on that goes on as it began.

    Attributes:
        pace: How many times what was offered so far the whole month is; None where the
            month says too little yet.
    """

    def __init__(self, month: LedgerMonth, now: datetime) -> None:
        self._offered = month.size_bytes
        self._start = midnight(month.month)
        self._end = midnight(next_month(month.month))
        self._passed = now - self._start
        is_known = self._passed >= FORETELLABLE_AFTER
        self.pace = (self._end - self._start) / self._passed if is_known else None

    def of(self, name: str, limit_bytes: int | None) -> LimitOutlook | None:
        """Return when a limit is reached; None without one."""
        if limit_bytes is None:
            return None
        is_reached = self._offered >= limit_bytes
        reached_on = None
        if not is_reached and self.pace is not None and self._offered:
            # Divided first: a limit may be very far away.
            times = min(limit_bytes / self._offered, 2 * self.pace)
            reached_at = self._start + self._passed * times
            reached_on = reached_at.date() if reached_at < self._end else None
        return LimitOutlook(
            name=name,
            size_bytes=limit_bytes,
            is_reached=is_reached,
            reached_on=reached_on,
        )
