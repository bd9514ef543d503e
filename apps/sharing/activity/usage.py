"""How much is read: requests and bytes a day, and the last request.

A request is a call of the protocol by a recipient; one by a stand-in is a rehearsal,
and counts nowhere. Every page, chart and command counts by this
module: ranges of the record's indexes alone, day by day, so that it stays fast over a
million events. Days are those of UTC.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, Literal, TypeVar
from uuid import UUID

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    Count,
    FloatField,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.functions import Cast, Coalesce

from apps.audit.models import AuditEvent
from apps.pages.page_json import OnPage, in_json
from apps.sharing.models import Recipient, RecipientToken, Share

USE_DAYS: Final = 30
FIRST_FAILED_STATUS: Final = 400  # of HTTP
# A day that nobody asks for: no other parameter of a query is like those of it.
_NO_DAY: Final = date(9999, 12, 30)
READ_ACTIONS: Final = (
    "table.query",
    "table.changes",
    "table.credentials",
    "iceberg.table",
    "portal.rows",
    "portal.changes",
    "portal.download",
)
IS_REQUEST: Final = Q(kind=AuditEvent.Kind.CALL)
IS_NO_REHEARSAL: Final = ~Q(kind=AuditEvent.Kind.REHEARSAL)
# Whose events a column of the record holds, and by what of them.
_OWNERS: Final[Mapping[str, tuple[type[Model], str]]] = {
    "recipient_id": (Recipient, "id"),
    "token_id": (RecipientToken, "id"),
    "share": (Share, "name"),
}

Key = TypeVar("Key", UUID, str)


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyUse:
    """What one day saw.

    Attributes:
        num_requests: The number of requests, including refused ones.
        num_refused: The number of requests that were answered with an error.
        size_bytes: The bytes of the files whose URLs were issued.
    """

    day: date
    num_requests: int = 0
    num_refused: int = 0
    num_others: OnPage[int] = 0
    size_bytes: int = 0

    @in_json
    def num_answered(self) -> int:
        """How many requests were answered as they were meant."""
        return self.num_requests - self.num_refused


def calls(**wanted: UUID | str) -> QuerySet[AuditEvent]:
    """Return the calls of the protocol, of a `recipient_id`, `table_id`, `share`."""
    return AuditEvent.objects.filter(IS_REQUEST, **wanted)


def last_days(num_days: int, *, now: datetime) -> tuple[date, ...]:
    """Return the days up to today, the oldest first."""
    today = now.astimezone(UTC).date()
    return tuple(today - timedelta(days=back) for back in reversed(range(num_days)))


def daily_use(events: QuerySet[AuditEvent], *, days: Sequence[date]) -> list[DailyUse]:
    """Count events day by day, by one query.

    An index answers it for all events, and for those of one recipient, token, table or
    share, if need be of a kind or status.
    """
    if not days:
        return []
    connection = connections[events.db]
    # Django takes longer to make a query than a database to answer it: so that of one
    # day is made, and repeated with the parameters of each.
    of_one, params = _counts_of(events, _NO_DAY).query.get_compiler(events.db).as_sql()
    places = _params_of(_NO_DAY, connection)
    all_params: list[Any] = []
    for day in days:
        of_day = dict(zip(places, _params_of(day, connection), strict=True))
        all_params += [of_day.get(param, param) for param in params]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join([of_one] * len(days)), all_params)
        found = {row[0]: row[1:] for row in cursor.fetchall()}
    return [_use_of(day, *found[str(day)]) for day in days]


def daily_requests(
    column: Literal["recipient_id", "token_id", "share"],
    keys: Collection[Key],
    *,
    days: Sequence[date],
) -> dict[Key, tuple[int, ...]]:
    """Count the requests of each of some recipients, tokens or shares, by one query."""
    model, name = _OWNERS[column]
    requests = AuditEvent.objects.filter(IS_REQUEST, **{column: OuterRef(name)})
    counted = {
        f"day_{place}": Coalesce(
            Subquery(
                on_day(requests, day)
                .order_by()
                .values(column)
                .annotate(requests=Count("*"))
                .values("requests")
            ),
            0,
        )
        for place, day in enumerate(days)
    }
    owners = model._default_manager.filter(**{f"{name}__in": list(keys)}).order_by()  # noqa: SLF001 (Django's way to any model)
    rows = owners.annotate(**counted).values_list(name, *counted)
    return {row[0]: tuple(row[1:]) for row in rows}


def reads(events: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
    """Return the requests for rows among events, newest first.

    They are found along the index of whom or what `events` is about. By the bare column
    SQLite would take that of the actions and pass by what everybody read, all of it
    where nobody read this.
    """
    asked = (
        events.filter(IS_REQUEST)
        .alias(asked=Coalesce("action", Value("")))
        .filter(asked__in=READ_ACTIONS)
    )
    return asked.order_by("-at", "-id")


def last_use(events: QuerySet[AuditEvent]) -> AuditEvent | None:
    """Return the newest event that was not refused."""
    answered = events.filter(status__lt=FIRST_FAILED_STATUS)
    return answered.order_by("-at").first()


def on_day(events: QuerySet[AuditEvent], day: date) -> QuerySet[AuditEvent]:
    """Return the events of one day, as the range of time that an index holds."""
    starts_at, ends_at = _ends_of(day)
    return events.filter(at__gte=starts_at, at__lt=ends_at)


def sum_of_sizes(column: str = "size_bytes", *, filter: Q | None = None) -> Sum:  # noqa: A002 (Django's own name for it)
    """Return the sum of what was offered, as a number with a fraction.

    Sizes are what logs claim: SQLite fails where whole numbers of that kind overflow.
    """
    return Sum(Cast(column, FloatField()), filter=filter)


def _counts_of(events: QuerySet[AuditEvent], day: date) -> QuerySet[Any]:
    """Return one row of counts; grouping all days by their date would sort."""
    of_day = on_day(events, day).order_by().annotate(day=Value(str(day)))
    return of_day.values("day").annotate(
        num_events=Count(Value(1), filter=IS_NO_REHEARSAL),
        num_requests=Count(Value(1), filter=IS_REQUEST),
        num_refused=Count(
            Value(1), filter=IS_REQUEST & Q(status__gte=FIRST_FAILED_STATUS)
        ),
        size_bytes=sum_of_sizes(filter=IS_REQUEST),
    )


def _ends_of(day: date) -> tuple[datetime, datetime]:
    starts_at = datetime.combine(day, time.min, tzinfo=UTC)
    return starts_at, starts_at + timedelta(days=1)


def _params_of(day: date, connection: BaseDatabaseWrapper) -> tuple[object, ...]:
    """Return what stands for a day among the parameters of `_counts_of`."""
    adapted = connection.ops.adapt_datetimefield_value
    return (str(day), *map(adapted, _ends_of(day)))


def _use_of(
    day: date,
    num_events: int,
    num_requests: int,
    num_refused: int,
    size_bytes: float | None,
) -> DailyUse:
    return DailyUse(
        day=day,
        num_requests=num_requests,
        num_refused=num_refused,
        num_others=num_events - num_requests,
        size_bytes=int(size_bytes or 0),
    )
