"""Tables, namespaces and shares that a user cannot view, and can request."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django import forms
from django.db.models import Model, Q, QuerySet

from apps.accounts.models import User
from apps.pages.lists.paging import paged
from apps.pages.page_json import OnPage
from apps.pages.request.list_page import ListPage, ListQuery, PageOfRows
from apps.tables.access.place import Place, Target
from apps.tables.extension.requestables import kinds
from apps.tables.models import Namespace, Table, name_holds
from apps.tables.models.rights import VIEW, namespaces_with


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedResource:
    """All facts that a person without access learns of something listed.

    Attributes:
        name: The table, the namespace such as `sales.*`, or the share such as
            `share:retail`.
        kind: `table`, `namespace` or `share`.
        owner: The account to ask about it; null without one.
    """

    name: str
    kind: str
    description: str
    owner: str | None
    url: OnPage[str]


def listed_resource(place: Target) -> ListedResource:
    """Return the facts that everybody may know of something listed."""
    return ListedResource(
        name=place.name,
        kind=place.noun,
        description=place.about,
        owner=place.owner_name,
        url=place.request_url,
    )


def _found(
    user: User, query: ListQuery, now: datetime
) -> list[tuple[QuerySet[Model], Callable[[Iterable[Model]], Iterator[Target]]]]:
    """Return the rows of each kind, with the function that makes targets of them."""
    text = query["q"]
    seen = Namespace.objects.filter(namespaces_with(user, VIEW, now=now)).values("id")
    spaces = Namespace.objects.filter(is_listed=True).exclude(id__in=seen)
    visible = Table.objects.visible_to(user, now=now).values("id")
    tables = Table.objects.filter(is_listed=True).exclude(id__in=visible)
    if text:
        spaces = spaces.filter(Q(name__icontains=text) | Q(description__icontains=text))
        tables = tables.filter(name_holds(text) | Q(description__icontains=text))
    of_tables = tables.select_related("owned_by").defer("summary")
    return [
        (spaces.select_related("owned_by").order_by("name"), _places),
        (of_tables.order_by("namespace", "name"), _places),
        *((kind.listed(user, text), kind.of_rows) for kind in kinds),
    ]


def _page(user: User, query: ListQuery, now: datetime) -> PageOfRows[ListedResource]:
    found = [(rows, rows.count(), of) for rows, of in _found(user, query, now)]
    place = paged(sum(count for _, count, _ in found), query.page)
    begin, end = place.rows.start, place.rows.stop
    shown: list[ListedResource] = []
    for rows, count, of_rows in found:
        part = rows[max(0, begin) : max(0, end)]
        shown += map(listed_resource, of_rows(part))
        begin, end = begin - count, end - count
    return PageOfRows(rows=shown, paged=place)


def _every(user: User, query: ListQuery, now: datetime) -> Iterator[ListedResource]:
    for rows, of_rows in _found(user, query, now):
        yield from map(listed_resource, of_rows(rows.iterator()))


def _places(rows: Iterable[Model]) -> Iterator[Target]:
    yield from (Place(row) for row in rows if isinstance(row, Namespace | Table))


LISTED: Final = ListPage(
    entries="listed",
    template="tables/access/listed_list.html",
    filters={"q": forms.CharField(max_length=200, required=False)},
    page=_page,
    entry=ListedResource,
    every=_every,
)
