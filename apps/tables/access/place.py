"""A table or a namespace, as far as access to it is concerned."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TypeAlias

from django.db.models import Q
from django.shortcuts import resolve_url

from apps.accounts.models import User
from apps.tables.catalogue.names import find_table, parse_namespace
from apps.tables.errors import NamespaceNotFoundError
from apps.tables.extension.requestables import Requestable
from apps.tables.models import Grant, Namespace, Table
from apps.tables.models.grants import GrantQuerySet
from apps.tables.models.rights import EDIT, OWN, SHARE, VIEW, namespaces_with
from apps.tables.permissions.checks import rights
from apps.tables.permissions.refusals import unknown_table
from apps.tables.permissions.spaces import rights_in

Where: TypeAlias = Table | Namespace
ALL: str = ".*"
"""The end of the name of a whole namespace: a bare name is a table of `default`."""


@dataclass(frozen=True)
class Place:
    """A table, or a namespace with all its tables.

    Attributes:
        row: The table or the namespace.
    """

    row: Where

    @property
    def table(self) -> Table | None:
        """The table; None for a namespace."""
        return self.row if isinstance(self.row, Table) else None

    @cached_property
    def namespace(self) -> Namespace:
        """The namespace, or that of the table. One without a row is open."""
        if isinstance(self.row, Namespace):
            return self.row
        name = self.row.namespace
        found = Namespace.objects.select_related("owned_by").filter(name=name).first()
        return found or Namespace(name=name)

    @property
    def name(self) -> str:
        """The name, as commands take it."""
        if isinstance(self.row, Table):
            return self.row.full_name
        return f"{self.row.name}{ALL}"

    @property
    def noun(self) -> str:
        """`table` or `namespace`."""
        return "namespace" if self.table is None else "table"

    @property
    def is_private(self) -> bool:
        """Whether only grants and administrators count."""
        return self.row.is_private or self.namespace.is_private

    @property
    def is_listed(self) -> bool:
        """Whether people who cannot view it find it and can request access."""
        return self.row.is_listed

    @property
    def about(self) -> str:
        """The description that people wrote in the catalog."""
        return self.row.description

    @property
    def owner_name(self) -> str | None:
        """The account to ask about it; None without one."""
        return self.row.owner_name

    @property
    def grants(self) -> GrantQuerySet:
        """All grants that count for it, also those that have ended."""
        about = Q(namespace__name=self.namespace.name)
        if self.table is not None:
            about |= Q(table=self.table.id)
        return Grant.objects.filter(about)

    @property
    def requestable_rights(self) -> tuple[str, ...]:
        """The rights that can be requested. An owner gives `own` without a request."""
        return (VIEW, EDIT, SHARE)

    @property
    def own_namespace(self) -> Namespace | None:
        """The namespace if it is one; None for a table."""
        return self.row if isinstance(self.row, Namespace) else None

    @property
    def key(self) -> str:
        """Empty, because a request refers to the row itself."""
        return ""

    @property
    def share(self) -> str:
        """Empty, because the audit record names no share."""
        return ""

    def rights_of(self, user: User, now: datetime) -> frozenset[str]:
        """Return the rights of a user at a moment."""
        if self.table is not None:
            return rights(user, [self.table], now)[self.table.id]
        return rights_in(user, self.namespace.name, now)

    # === Addresses ===

    @property
    def access_url(self) -> str:
        """The address of its page *Access*."""
        if isinstance(self.row, Table):
            return resolve_url("tables:table-access", self.row.namespace, self.row.name)
        return resolve_url("tables:namespace-access", self.row.name)

    @property
    def request_url(self) -> str:
        """The address of the page that requests access to it."""
        if isinstance(self.row, Table):
            names = (self.row.namespace, self.row.name)
            return resolve_url("tables:request-table", *names)
        return resolve_url("tables:request-namespace", self.row.name)


Target: TypeAlias = Place | Requestable
"""The subject of a request."""


def place_named(name: str) -> Where:
    """Return the table or the namespace that a command names: `sales.*` or a table."""
    if not name.endswith(ALL):
        return find_table(name)
    namespace = parse_namespace(name.removesuffix(ALL))
    found = Namespace.objects.filter(name=namespace).first()
    if found is None:
        raise NamespaceNotFoundError(name=namespace)
    return found


def requestable_table(caller: User, namespace: str, name: str) -> Table:
    """Return a table that a user sees, or finds because it is listed.

    Raises:
        PageError: For any other, as if there were none.
    """
    is_text = "\x00" not in namespace + name
    tables = Table.objects.filter(namespace=namespace, name=name) if is_text else ()
    for table in tables:
        if table.is_listed or VIEW in rights(caller, [table])[table.id]:
            return table
    raise unknown_table(caller, Table(namespace=namespace, name=name).full_name)


def requestable_namespace(caller: User, namespace: str) -> Namespace:
    """Return a namespace that a user sees, or finds because it is listed.

    Raises:
        NamespaceNotFoundError: For any other, as if there were none.
    """
    is_text = "\x00" not in namespace
    found = Namespace.objects.filter(name=namespace) if is_text else ()
    for one in found:
        if one.is_listed or is_seen(caller, one):
            return one
    raise NamespaceNotFoundError(name=namespace)


def is_seen(user: User, namespace: Namespace) -> bool:
    """Whether a user has a right on a namespace, or sees a table of it."""
    if Namespace.objects.filter(namespaces_with(user, VIEW), pk=namespace.pk).exists():
        return True
    return Table.objects.visible_to(user).filter(namespace=namespace.name).exists()


def owns(user: User, place: Place, now: datetime) -> bool:
    """Whether a user decides about requests, and sees who has access."""
    return OWN in place.rights_of(user, now)
