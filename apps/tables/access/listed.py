"""Tables and namespaces that a user cannot view, and can request access to."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Final

from django import forms
from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.pages.lists.paging import paged
from apps.pages.page_json import OnPage
from apps.pages.request.list_page import ListPage, ListQuery, PageOfRows
from apps.tables.access.place import Place, Where
from apps.tables.models import Namespace, Table, name_holds
from apps.tables.models.rights import VIEW, namespaces_with


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedResource:
    """What a person without access learns of a table or a namespace: nothing else.

    Attributes:
        name: The table, or the namespace such as `sales.*`.
        kind: `table` or `namespace`.
        owner: The account to ask about it; null without one.
    """

    name: str
    kind: str
    description: str
    owner: str | None
    url: OnPage[str]


def listed_resource(row: Where) -> ListedResource:
    """Return what may be known of a listed table or namespace."""
    place = Place(row)
    return ListedResource(
        name=place.name,
        kind=place.noun,
        description=place.about,
        owner=place.owner_name,
        url=place.request_url,
    )


def _found(
    user: User, query: ListQuery, now: datetime
) -> tuple[QuerySet[Namespace], QuerySet[Table]]:
    text = query["q"]
    seen = Namespace.objects.filter(namespaces_with(user, VIEW, now=now)).values("id")
    spaces = Namespace.objects.filter(is_listed=True).exclude(id__in=seen)
    visible = Table.objects.visible_to(user, now=now).values("id")
    tables = Table.objects.filter(is_listed=True).exclude(id__in=visible)
    if text:
        spaces = spaces.filter(Q(name__icontains=text) | Q(description__icontains=text))
        tables = tables.filter(name_holds(text) | Q(description__icontains=text))
    return (
        spaces.select_related("owned_by").order_by("name"),
        tables.select_related("owned_by")
        .defer("summary")
        .order_by("namespace", "name"),
    )


def _page(user: User, query: ListQuery, now: datetime) -> PageOfRows[ListedResource]:
    spaces, tables = _found(user, query, now)
    num_spaces = spaces.count()
    place = paged(num_spaces + tables.count(), query.page)
    begin, end = place.rows.start, place.rows.stop
    rows: list[Where] = [*spaces[begin:end]]
    rows += tables[max(0, begin - num_spaces) : max(0, end - num_spaces)]
    return PageOfRows(rows=list(map(listed_resource, rows)), paged=place)


def _every(user: User, query: ListQuery, now: datetime) -> Iterator[ListedResource]:
    spaces, tables = _found(user, query, now)
    rows: Iterator[Where] = chain(spaces.iterator(), tables.iterator())
    yield from map(listed_resource, rows)


LISTED: Final = ListPage(
    entries="listed",
    template="tables/access/listed_list.html",
    filters={"q": forms.CharField(max_length=200, required=False)},
    page=_page,
    entry=ListedResource,
    every=_every,
)
