"""Listed tables that a user cannot view, which the search finds by name."""

from django.db.models import Q
from django.urls import reverse

from apps.pages.frame import AnyUser
from apps.tables.extension.search_kinds import Hit
from apps.tables.models import Table, name_holds

MAX_FOUND = 50


def found_listed(user: AnyUser, text: str) -> list[Hit]:
    """Return the listed tables whose name or description holds a text."""
    visible = Table.objects.visible_to(user).values("id")  # type: ignore[arg-type]  # of any request
    listed = Table.objects.filter(is_listed=True).exclude(id__in=visible)
    named = listed.filter(name_holds(text) | Q(description__icontains=text))
    return [
        Hit(
            name=one.full_name,
            about="you can request access",
            url=reverse("tables:request-table", args=[one.namespace, one.name]),
        )
        for one in named.order_by("namespace", "name")[:MAX_FOUND]
    ]
