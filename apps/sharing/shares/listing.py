"""The list of shares: filter, order, pages, and how much each is read."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from deltaweb.web.audit.models import AuditEvent
from deltaweb.web.pages.lists.sorting import ordering
from deltaweb.web.pages.paging import Paged, paged
from deltaweb.web.sharing.activity.usage import (
    FIRST_FAILED_STATUS,
    USE_DAYS,
    daily_requests,
    last_days,
    reads,
)
from deltaweb.web.sharing.models import Share, SharedTable
from deltaweb.web.sharing.shares.forms import SHARE_COLUMNS

TABLES_NAMED = 3  # in a row of the list
CSV_HEADER = (
    "name",
    "comment",
    "tables",
    "recipients",
    "last_read_at",
    "created_at",
    "created_by",
)
DEFAULT_SORT = "name"
_SORT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "name": ("name_key",),
    "read": ("last_read_at",),
    "tables": ("num_tables",),
    "recipients": ("num_recipients",),
    "created": ("created_at",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRow:
    """One share of the list."""

    share: Share
    num_tables: int
    num_recipients: int
    table_names: list[str]
    last_read_at: datetime | None
    requests_30d: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharePage:
    """A page of the list of shares; `num_shares` counts them without a filter."""

    rows: list[ShareRow]
    paged: Paged
    num_shares: int


def share_page(*, q: str, sort: str, page: int, now: datetime) -> SharePage:
    """Return a page of the shares whose name, comment or tables hold `q`."""
    found = _search(q)
    place = paged(found.count(), page)
    ordered = _annotated(found).order_by(*_order(sort))
    shares: list[Any] = list(ordered[place.start : place.last])
    names = _table_names([share.id for share in shares])
    days = last_days(USE_DAYS, now=now)
    requests = daily_requests("share", [share.name for share in shares], days=days)
    return SharePage(
        rows=[
            ShareRow(
                share=share,
                num_tables=share.num_tables,
                num_recipients=share.num_recipients,
                table_names=names.get(share.id, []),
                last_read_at=share.last_read_at,
                requests_30d=requests[share.name],
            )
            for share in shares
        ],
        paged=place,
        num_shares=Share.objects.count() if q else place.count,
    )


def share_csv(*, q: str, sort: str) -> Iterator[tuple[object, ...]]:
    """Yield a header and every share of the filter."""
    yield CSV_HEADER
    ordered = _annotated(_search(q)).order_by(*_order(sort))
    for share in ordered.select_related("created_by").iterator(chunk_size=500):
        yield (
            share.name,
            share.comment,
            share.num_tables,
            share.num_recipients,
            share.last_read_at,
            share.created_at,
            share.created_by.username if share.created_by else "",
        )


def share_row_data(row: ShareRow) -> dict[str, Any]:
    """Return a share of the list as the JSON form shows it."""
    return {
        "name": row.share.name,
        "comment": row.share.comment,
        "created_at": row.share.created_at,
        "num_tables": row.num_tables,
        "num_recipients": row.num_recipients,
        "last_read_at": row.last_read_at,
        "requests_30d": row.requests_30d,
        "url": row.share.get_absolute_url(),
    }


def _order(sort: str) -> list[Any]:
    sort = sort or DEFAULT_SORT
    return ordering(SHARE_COLUMNS, _SORT_FIELDS, sort, ties=("name_key",))


def _search(q: str) -> QuerySet[Share]:
    if not q:
        return Share.objects.all()
    in_tables = SharedTable.objects.filter(
        Q(name__icontains=q) | Q(schema__icontains=q) | Q(table__name__icontains=q)
    )
    return Share.objects.filter(
        Q(name__icontains=q)
        | Q(comment__icontains=q)
        | Q(id__in=in_tables.values("share_id"))
    )


def _annotated(shares: QuerySet[Share]) -> Any:  # noqa: ANN401 (annotated rows)
    answered = AuditEvent.objects.filter(
        share=OuterRef("name"), status__lt=FIRST_FAILED_STATUS
    )
    tables = SharedTable.objects.filter(share=OuterRef("id")).order_by()
    grants = Share.recipients.through.objects.filter(share=OuterRef("id")).order_by()
    return shares.annotate(
        num_tables=_count_of(tables),
        num_recipients=_count_of(grants),
        last_read_at=Subquery(reads(answered).values("at")[:1]),
    )


def _count_of(rows: QuerySet[Any]) -> Any:  # noqa: ANN401 (an expression)
    counted = rows.values("share").annotate(rows=Count("id")).values("rows")
    return Coalesce(Subquery(counted), 0)


def _table_names(ids: Sequence[UUID]) -> dict[UUID, list[str]]:
    """Return the first tables of shares by their names there."""
    names: dict[UUID, list[str]] = defaultdict(list)
    tables = SharedTable.objects.filter(share__in=ids).order_by(
        "share", "schema_key", "name_key"
    )
    for share_id, schema, name in tables.values_list("share_id", "schema", "name"):
        if len(names[share_id]) < TABLES_NAMED:
            names[share_id].append(f"{schema}.{name}")
    return dict(names)
