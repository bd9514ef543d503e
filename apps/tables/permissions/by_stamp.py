"""The rights of whoever makes a change, by the stamp of the change.

Services check them as well as pages, so that no way to a change forgets it.
"""

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.pages.actions import Stamp
from apps.tables.models import Grant, Namespace, Table
from apps.tables.models.rights import OWN, namespaces_with
from apps.tables.permissions.checks import require
from apps.tables.permissions.spaces import require_in


def caller_of(stamp: Stamp) -> User | AnonymousUser | None:
    """Return who makes a change; None for a command and the server itself."""
    return None if stamp.actor.user_id is None else _user(stamp.actor.user_id)


def require_by(stamp: Stamp, right: str, table: Table) -> None:
    """Refuse a change by somebody who lacks a right on a table, as `require` does.

    A command and the server itself have every right.
    """
    if stamp.actor.user_id is not None:
        require(_user(stamp.actor.user_id), right, table, stamp.at)


def require_in_by(stamp: Stamp, right: str, namespace: str) -> None:
    """Refuse a change by somebody who lacks a right on a whole namespace."""
    if stamp.actor.user_id is not None:
        require_in(_user(stamp.actor.user_id), right, namespace, stamp.at)


def closed_namespaces(stamp: Stamp, right: str) -> frozenset[str]:
    """Return the private namespaces in which whoever makes a change lacks a right."""
    if stamp.actor.user_id is None:
        return frozenset()
    user = _user(stamp.actor.user_id)
    private = Namespace.objects.private_names()
    mine = namespaces_with(user, right, now=stamp.at)
    return frozenset(private) - frozenset(private.filter(mine))


def give_own(table: Table, stamp: Stamp) -> None:
    """Let whoever made a private table own it; an administrator needs no grant."""
    user_id = stamp.actor.user_id
    user = None if user_id is None else _user(user_id)
    if isinstance(user, User) and not user.is_admin:
        Grant.objects.create(
            user=user,
            table=table,
            right=OWN,
            reason="Made the table private when adding it.",
            given_by=stamp.actor.name,
            given_at=stamp.at,
        )


def _user(user_id: int) -> User | AnonymousUser:
    """Return a user; one who is gone has no right."""
    return User.objects.filter(id=user_id).first() or AnonymousUser()
