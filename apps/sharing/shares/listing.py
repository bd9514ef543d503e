"""The list of shares: its columns, filter and pages, and how much each is read."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django import forms
from django.db.models import Q, QuerySet

from apps.pages.lists.paging import paged
from apps.pages.lists.sorting import Column, ordering
from apps.pages.page_json import OnPage, Spread
from apps.pages.request.list_page import ListPage, ListQuery, PageOfRows
from apps.sharing.activity.usage import USE_DAYS, daily_requests, last_days
from apps.sharing.models import Share, SharedTable
from apps.sharing.shares.resources import (
    CHUNK,
    ShareResource,
    share_resource,
    with_numbers,
)

TABLES_NAMED: Final = 3  # in a row of the list


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRow:
    """One share of the list."""

    resource: Spread[ShareResource]
    table_names: OnPage[list[str]]
    requests_30d: tuple[int, ...]


def _page(_user: object, query: ListQuery, now: datetime) -> PageOfRows[ShareRow]:
    found = _search(query["q"])
    place = paged(found.count(), query.page)
    shares = list(_ordered(found, query)[place.rows])
    names = _table_names([share.id for share in shares])
    days = last_days(USE_DAYS, now=now)
    requests = daily_requests("share", [share.name for share in shares], days=days)
    return PageOfRows(
        rows=[
            ShareRow(
                resource=share_resource(share),
                table_names=names.get(share.id, []),
                requests_30d=requests[share.name],
            )
            for share in shares
        ],
        paged=place,
        more={"num_shares": Share.objects.count() if query["q"] else place.count},
    )


def _every(_user: object, query: ListQuery, _now: datetime) -> Iterator[ShareResource]:
    found = _ordered(_search(query["q"]), query)
    yield from map(share_resource, found.iterator(chunk_size=CHUNK))


def _ordered(found: QuerySet[Share], query: ListQuery) -> Any:  # noqa: ANN401 (annotated rows)
    order = ordering(COLUMNS, query.sort, ties=("name_key",))
    return with_numbers(found).order_by(*order)


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


COLUMNS: Final = (
    Column("name", "Share", "name_key", word="Name"),
    Column("tables", "Tables", "num_tables", begins_descending=True),
    Column(
        "recipients", "Recipients", "num_recipients", begins_descending=True, css="dw-r"
    ),
    Column("read", "Last read", "last_read_at", begins_descending=True),
    Column("created", "Newest", "created_at", begins_descending=True, is_shown=False),
    Column("", "Activity, 30 days", css="dw-only-w"),
)
SHARES: Final = ListPage(
    entries="shares",
    template="sharing/shares/share_list.html",
    fragment="share-rows",
    columns=COLUMNS,
    default_sort="name",
    filters={"q": forms.CharField(max_length=200, required=False)},
    page=_page,
    entry=ShareResource,
    every=_every,
)
