"""The rights of a user on tables that were read."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.tables.models import Grant, Namespace, Table
from apps.tables.models.rights import (
    EVERY_RIGHT,
    NO_RIGHT,
    OF_GRANT,
    OF_ROLE,
    VIEW,
)
from apps.tables.permissions.refusals import RightRequiredError, unknown_table


def rights(
    user: User | AnonymousUser,
    tables: Iterable[Table],
    now: datetime | None = None,
    *,
    private: Collection[str] | None = None,
) -> Mapping[UUID, frozenset[str]]:
    """Return the rights of a user on each of some tables, by id.

    It takes two queries however many tables there are, and none for administrators.

    Args:
        user: The user.
        tables: The tables.
        now: The moment at which grants have to be in force; None is the present.
        private: The private ones of their namespaces; None reads them by a query.
    """
    rows = list(tables)
    if not isinstance(user, User) or not user.is_active:
        return {one.id: NO_RIGHT for one in rows}
    if user.is_admin:
        return {one.id: EVERY_RIGHT for one in rows}
    names = {one.namespace for one in rows}
    if private is None:
        private = set(Namespace.objects.private_names().filter(name__in=names))
    grants = Grant.objects.of(user).active(now or timezone.now())
    about = Q(table__in=[one.id for one in rows]) | Q(namespace__name__in=names)
    found = grants.filter(about).values_list("right", "table", "namespace__name")
    given: dict[UUID | str, frozenset[str]] = {}
    for right, table_id, namespace in found:
        for key in (table_id, namespace):
            if key is not None:
                given[key] = given.get(key, NO_RIGHT) | OF_GRANT[right]
    by_role = OF_ROLE.get(user.role, NO_RIGHT)
    return {
        one.id: (
            (NO_RIGHT if one.is_private or one.namespace in private else by_role)
            | given.get(one.id, NO_RIGHT)
            | given.get(one.namespace, NO_RIGHT)
        )
        for one in rows
    }


def note_rights(user: User | AnonymousUser, table: Table) -> frozenset[str]:
    """Set `may_edit`, `may_own`... of a user on a table that `with_privacy` read.

    Pages hide by these what would be refused; each change checks for itself.

    Returns:
        The rights; without `VIEW`, nothing of the table may be said.
    """
    private = [table.namespace] if table.is_in_private_namespace else []
    own = rights(user, [table], private=private)[table.id]
    for right in EVERY_RIGHT:
        setattr(table, f"may_{right}", right in own)
    return own


def may(
    user: User | AnonymousUser, right: str, table: Table, now: datetime | None = None
) -> bool:
    """Whether a user has a right on a table at a moment; None is the present."""
    return right in rights(user, [table], now)[table.id]


def require(
    user: User | AnonymousUser, right: str, table: Table, now: datetime | None = None
) -> None:
    """Refuse a user who lacks a right on a table.

    Raises:
        PageError: If the user may not see the table: as if there were none.
        RightRequiredError: If the user sees it, and lacks the right.
    """
    own = rights(user, [table], now)[table.id]
    if VIEW not in own:
        raise unknown_table(user, table.full_name)
    if right not in own:
        raise RightRequiredError(name=table.full_name, right=right)
