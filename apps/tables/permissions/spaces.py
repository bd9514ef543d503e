"""The rights of a user on a whole namespace, such as to add a table to it."""

from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from apps.accounts.models import User
from apps.tables.models import Grant, Namespace
from apps.tables.models.rights import (
    EVERY_RIGHT,
    NO_RIGHT,
    OF_GRANT,
    OF_ROLE,
)
from apps.tables.permissions.refusals import RightRequiredError


def rights_in(
    user: User | AnonymousUser, namespace: str, now: datetime | None = None
) -> frozenset[str]:
    """Return the rights of a user on every table of a namespace that is not private.

    A namespace without a table is open: the role counts.

    Args:
        user: The user.
        namespace: The name of the namespace.
        now: The moment at which grants have to be in force; None is the present.
    """
    if not isinstance(user, User) or not user.is_active:
        return NO_RIGHT
    if user.is_admin:
        return EVERY_RIGHT
    is_private = Namespace.objects.filter(name=namespace, is_private=True).exists()
    grants = Grant.objects.of(user).active(now or timezone.now())
    given = grants.filter(namespace__name=namespace).values_list("right", flat=True)
    by_role = NO_RIGHT if is_private else OF_ROLE.get(user.role, NO_RIGHT)
    return by_role.union(*(OF_GRANT[one] for one in given))


def may_in(
    user: User | AnonymousUser,
    right: str,
    namespace: str,
    now: datetime | None = None,
) -> bool:
    """Whether a user has a right on a whole namespace at a moment."""
    return right in rights_in(user, namespace, now)


def require_in(
    user: User | AnonymousUser,
    right: str,
    namespace: str,
    now: datetime | None = None,
) -> None:
    """Refuse a user who lacks a right on a whole namespace.

    Raises:
        NamespaceUnknownError: If the user sees nothing of it: as if there were none.
        RightRequiredError: If the user sees it, and lacks the right.
    """
    own = rights_in(user, namespace, now)
    if right in own:
        return
    raise RightRequiredError(name=f"{namespace}.*", right=right)
