"""Listed tables and shares that a user cannot view, which the search finds by name."""

from itertools import chain, islice

from django.db.models import Q
from django.urls import reverse

from apps.accounts.models import User
from apps.pages.frame import AnyUser
from apps.tables.extension.requestables import found_requestables
from apps.tables.extension.search_kinds import Hit
from apps.tables.models import Table, name_holds

MAX_FOUND = 50


def found_listed(user: AnyUser, text: str) -> list[Hit]:
    """Return the listed tables and shares whose name or description holds a text."""
    if not isinstance(user, User):
        return []
    visible = Table.objects.visible_to(user).values("id")
    listed = Table.objects.filter(is_listed=True).exclude(id__in=visible)
    named = listed.filter(name_holds(text) | Q(description__icontains=text))
    tables = [
        (one.full_name, reverse("tables:request-table", args=[one.namespace, one.name]))
        for one in named.order_by("namespace", "name")[:MAX_FOUND]
    ]
    others = found_requestables(user, text)
    found = chain(tables, ((one.name, one.request_url) for one in others))
    return [
        Hit(name=name, about="you can request access", url=url)
        for name, url in islice(found, MAX_FOUND)
    ]
