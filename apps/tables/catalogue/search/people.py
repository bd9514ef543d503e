"""People, which the search finds by name: accounts, and who wrote to tables."""

from urllib.parse import urlencode

from django.db.models import Count
from django.urls import reverse

from apps.accounts.models import User
from apps.pages.frame import AnyUser
from apps.tables.extension.search_kinds import Hit
from apps.tables.models import Table
from deltaweb.words import counted

MAX_FOUND = 50


def found_accounts(user: AnyUser, text: str) -> list[Hit]:
    """Return the accounts whose name holds a text; administrators see them."""
    del user
    named = User.objects.filter(username__icontains=text).order_by("username")
    return [
        Hit(
            name=one.username,
            about=one.get_role_display() + ("" if one.is_active else ", disabled"),
            url=f"{reverse('accounts:user-list')}?{urlencode({'q': one.username})}",
        )
        for one in named[:MAX_FOUND]
    ]


def found_writers(user: AnyUser, text: str) -> list[Hit]:
    """Return who made the newest versions of tables and whose name holds a text."""
    seen = Table.objects.visible_to(user)  # type: ignore[arg-type]  # of any request
    named = seen.filter(last_writer__icontains=text).order_by("last_writer")
    counts = named.values_list("last_writer").annotate(tables=Count("id"))
    return [
        Hit(
            name=writer,
            about=f"wrote the newest version of {counted(tables, 'table')}",
            url=f"{reverse('tables:table-list')}?{urlencode({'writer': writer})}",
        )
        for writer, tables in counts[:MAX_FOUND]
    ]
