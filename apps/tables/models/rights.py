"""The rights on tables, and the one rule of who has them, as conditions of a query.

A table is private if it says so, or its namespace does. On an open table the role of a
user counts, and grants add to it. On a private table only grants count, and those are
on the table or on its namespace. Administrators have every right. Each condition is a
subquery that does not depend on the row, so the database evaluates it once.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Q
from django.db.models.expressions import BaseExpression, RawSQL
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone

from apps.accounts.models import User
from apps.tables.models.grants import Grant

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

VIEW: Final = Grant.Right.VIEW.value
"""Read rows, schema, history and files."""
EDIT: Final = Grant.Right.EDIT.value
"""View, and change the table."""
SHARE: Final = Grant.Right.SHARE.value
"""View, and add the table to shares or give it to recipients."""
MANAGE: Final = "manage"
"""Rename or remove. Not granted by itself: `own` and the role of editors include it."""
OWN: Final = Grant.Right.OWN.value
"""All of these, and make it private, and grant."""
EVERY_RIGHT: Final = frozenset({VIEW, EDIT, SHARE, MANAGE, OWN})
NO_RIGHT: Final[frozenset[str]] = frozenset()

OF_GRANT: Final = {
    VIEW: frozenset({VIEW}),
    EDIT: frozenset({VIEW, EDIT}),
    SHARE: frozenset({VIEW, SHARE}),
    OWN: EVERY_RIGHT,
}
"""The rights that a grant includes, by the right that it names."""
OF_ROLE: Final = {
    User.Role.VIEWER.value: frozenset({VIEW}),
    User.Role.EDITOR.value: frozenset({VIEW, EDIT, MANAGE}),
    User.Role.ADMIN.value: EVERY_RIGHT,
}
"""The rights on open tables, by role."""

# The same rule as `Grant.objects.of(user).active(now)`; a test compares the two.
GRANTS_IN_FORCE: Final = """
    SELECT held.{subject}_id FROM tables_grant held
    WHERE held.{subject}_id IS NOT NULL AND held."right" IN ({rights})
    AND held.ended_at IS NULL AND (held.until IS NULL OR held.until > %s)
    AND (held.user_id = %s OR held.group_id IN
        (SELECT group_id FROM accounts_membership WHERE user_id = %s))
"""
NAMES: Final = "SELECT name FROM tables_namespace WHERE id IN ({ids})"
PRIVATE_NAMES: Final = "SELECT name FROM tables_namespace WHERE is_private"
_NOTHING: Final = Q(pk__in=[])
_EVERYTHING: Final = ~_NOTHING  # unlike `Q()`, it stays everything in `a | b`


class RowlessQuery(RawSQL):
    """A subquery in SQL that does not depend on the row of the outer query.

    Django takes several milliseconds to generate one from a queryset, and each page
    needs several.
    """

    def __init__(self, sql: str, params: Sequence[object] = ()) -> None:
        super().__init__(" ".join(sql.split()), params)

    def as_sql(
        self, _compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[str | int, ...]]:
        """Return the SQL, with moments in the form of the database."""
        written = connection.ops.adapt_datetimefield_value
        params = (written(x) if isinstance(x, datetime) else x for x in self.params)
        return f"({self.sql})", cast("tuple[str | int, ...]", tuple(params))

    def get_group_by_cols(self) -> list[BaseExpression]:
        """Return an empty list, because the value is the same for all rows."""
        return []


def including(right: str) -> list[str]:
    """Return the rights of grants that include a right."""
    return [name for name, included in OF_GRANT.items() if right in included]


def is_open(path: str = "") -> Q:
    """Match tables for which roles count.

    Args:
        path: The way to the table from another model, such as `table__`.
    """
    private = RowlessQuery(PRIVATE_NAMES)
    return Q(**{f"{path}is_private": False}) & ~Q(**{f"{path}namespace__in": private})


def allowed(
    user: "User | AnonymousUser",
    right: str,
    path: str = "",
    *,
    now: datetime | None = None,
) -> Q:
    """Match tables on which a user has a right.

    Args:
        user: The user. One who is not signed in, or is disabled, has no right.
        right: One of `EVERY_RIGHT`.
        path: The way to the table from another model, such as `table__`.
        now: The moment at which grants have to be in force; None is the present.
    """
    if not user.is_authenticated or not user.is_active:
        return _NOTHING
    if user.is_admin:
        return _EVERYTHING
    by_grant = _granted_to(user, right, now or timezone.now(), path)
    if right in OF_ROLE.get(user.role, NO_RIGHT):
        return is_open(path) | by_grant
    return by_grant


def _granted_to(user: User, right: str, now: datetime, path: str) -> Q:
    """Match tables on which, or on whose namespace, a user has a right by a grant."""
    names = including(right)
    rights = ", ".join(["%s"] * len(names))
    tables, spaces = (
        GRANTS_IN_FORCE.format(subject=subject, rights=rights)
        for subject in ("table", "namespace")
    )
    params = (*names, now, user.pk, user.pk)
    return Q(**{f"{path}id__in": RowlessQuery(tables, params)}) | Q(
        **{f"{path}namespace__in": RowlessQuery(NAMES.format(ids=spaces), params)}
    )


def namespaces_with(
    user: "User | AnonymousUser", right: str, *, now: datetime | None = None
) -> Q:
    """Match namespaces (`Namespace`) on the whole of which a user has a right.

    The arguments are those of `allowed`.
    """
    if not user.is_authenticated or not user.is_active:
        return _NOTHING
    if user.is_admin:
        return _EVERYTHING
    active = Grant.objects.of(user).active(now or timezone.now())
    by_grant = Q(
        id__in=active.filter(right__in=including(right))
        .exclude(namespace=None)
        .values("namespace")
    )
    if right in OF_ROLE.get(user.role, NO_RIGHT):
        return Q(is_private=False) | by_grant
    return by_grant
