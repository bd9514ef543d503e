"""The private tables whose files another table must not show.

A log can name files by absolute paths, and a folder can be replaced by a link. So a
person who can write to storage could show a private table through one that more people
may view. The rule: a file of a table is read only if each person and group that may
view the table may also view every private table that the file belongs to.
"""

import os
from collections.abc import Sequence
from typing import TypeAlias
from uuid import UUID

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.tables.models import Grant, Table
from apps.tables.models.grants import GrantQuerySet
from apps.tables.models.rights import is_open
from apps.tables.storage.locations import is_remote
from deltaweb.delta.errors import LocationNotFoundError
from deltaweb.storage.spellings import HiddenPlaces

Subject: TypeAlias = UUID | str
"""The id of a table, or the name of a namespace."""


def locations_closed_to(table: Table) -> Sequence[str]:
    """Return the locations of the private tables that a table must not show.

    A private table is left out if this one is registered at, in, or above its folder,
    because that took the right to decide who sees the private table.

    A thread without a database connection may call it. The connection that it opens is
    closed here, because nothing else would close it.
    """
    is_new = connection.connection is None
    try:
        return _closed_to(table)
    finally:
        if is_new:
            connection.close()


def check_not_moved(table: Table) -> None:
    """Refuse a table whose folder has become a link to a private table.

    Raises:
        LocationNotFoundError: As if nothing were there.
    """
    location = table.location
    if is_remote(location) or (real := os.path.realpath(location)) == location:
        return
    if HiddenPlaces.of(locations_closed_to(table)).contains(real):
        raise LocationNotFoundError(location=location)


def _closed_to(table: Table) -> Sequence[str]:
    others = Table.objects.exclude(is_open()).exclude(id=table.id).order_by()
    rows = [
        row
        for row in others.values_list("id", "namespace", "location").iterator()
        if not _is_one_place(row[2], table.location)
    ]
    if not rows:
        return ()
    viewable: list[set[Subject]] | None = None
    if not Table.objects.filter(is_open(), id=table.id).exists():
        viewable = _viewable(table)
    return [
        location
        for id_, namespace, location in rows
        if viewable is None
        or not all(id_ in one or namespace in one for one in viewable)
    ]


def _viewable(table: Table) -> list[set[Subject]]:
    """Return, for each holder of a right on a table, all that the holder may view."""
    now = timezone.now()
    active = Grant.objects.active(now)
    on_it = active.filter(
        Q(table=table.id) | Q(namespace__name=table.namespace)
    ).order_by()
    people = User.objects.filter(id__in=on_it.exclude(user=None).values("user"))
    groups = on_it.exclude(group=None).values_list("group", flat=True).distinct()
    return [
        *(_subjects(Grant.objects.of(one).active(now)) for one in people),
        *(_subjects(active.filter(group=one)) for one in groups),
    ]


def _subjects(grants: GrantQuerySet) -> set[Subject]:
    tables = grants.exclude(table=None).values_list("table", flat=True)
    spaces = grants.exclude(namespace=None)
    return {*tables, *spaces.values_list("namespace__name", flat=True)}


def _is_one_place(location: str, other: str) -> bool:
    """Whether one of two locations, as they are spelt, is or holds the other."""
    one, two = f"{location.rstrip('/')}/", f"{other.rstrip('/')}/"
    return one.startswith(two) or two.startswith(one)
