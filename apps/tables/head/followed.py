"""Tables and namespaces as subjects that people follow."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from apps.accounts.models import User
from apps.notices.events.kind import EventSubject
from apps.notices.following.subjects import (
    OWNED,
    FollowedSubjects,
    register,
)
from apps.tables.head.finding import get_table
from apps.tables.models import Table
from apps.tables.permissions import unknown_table

NAMESPACE: Final = "namespace"
ALL: Final = ".*"


def found_table(user: User, name: str) -> EventSubject:
    """Return a table that a user may see, as a subject.

    Raises:
        PageError: If there is none, or the user may not see it.
    """
    namespace, _, table_name = name.rpartition(".")
    table = get_table(user, namespace or "default", table_name)
    return EventSubject("table", str(table.id), table.full_name)


def found_namespace(user: User, name: str) -> EventSubject:
    """Return a namespace in which a user may see a table, as a subject.

    Args:
        name: With or without `.*`.

    Raises:
        PageError: If there is none.
    """
    name = name.removesuffix(ALL)
    seen = Table.objects.visible_to(user).filter(namespace=name)
    if "\0" in name or not seen.exists():
        raise unknown_table(user, f"{name}{ALL}")
    return EventSubject(NAMESPACE, name, f"{name}{ALL}")


def named_tables(ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return the names and pages of tables."""
    tables = Table.objects.filter(id__in=ids).only("namespace", "name")
    return {str(one.id): (one.full_name, one.get_absolute_url()) for one in tables}


def named_namespaces(ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return the names and lists of namespaces."""
    page = reverse("tables:table-list")
    return {
        one: (f"{one}{ALL}", f"{page}?{urlencode({'namespace': one})}") for one in ids
    }


def above_tables(ids: Collection[str]) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the namespace and the owner of tables."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    tables = Table.objects.filter(id__in=ids)
    for table_id, namespace, owner in tables.values_list("id", "namespace", "owned_by"):
        found[str(table_id)].append((NAMESPACE, namespace))
        if owner is not None:
            found[str(table_id)].append((OWNED, str(owner)))
    return found


register(
    FollowedSubjects(
        kind="table",
        words="table",
        icon="table",
        hears=("table", "job"),
        find=found_table,
        named=named_tables,
    ),
    FollowedSubjects(
        kind=NAMESPACE,
        words="namespace",
        icon="folder",
        hears=("table", "job"),
        find=found_namespace,
        named=named_namespaces,
    ),
    parents_of=above_tables,
)
