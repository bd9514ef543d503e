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
    user_id = stamp.actor.user_id
    if user_id is None:
        return None
    # A user who is gone has no right.
    return User.objects.filter(id=user_id).first() or AnonymousUser()


def require_by(stamp: Stamp, right: str, table: Table) -> None:
    """Refuse a change by somebody who lacks a right on a table, as `require` does.

    A command and the server itself have every right.
    """
    if (caller := caller_of(stamp)) is not None:
        require(caller, right, table, stamp.at)


def require_in_by(stamp: Stamp, right: str, namespace: str) -> None:
    """Refuse a change by somebody who lacks a right on a whole namespace."""
    if (caller := caller_of(stamp)) is not None:
        require_in(caller, right, namespace, stamp.at)


def closed_namespaces(stamp: Stamp, right: str) -> frozenset[str]:
    """Return the private namespaces in which whoever makes a change lacks a right."""
    caller = caller_of(stamp)
    if caller is None:
        return frozenset()
    private = Namespace.objects.private_names()
    mine = namespaces_with(caller, right, now=stamp.at)
    return frozenset(private) - frozenset(private.filter(mine))


def give_own(table: Table, stamp: Stamp) -> None:
    """Let whoever made a private table own it; an administrator needs no grant."""
    caller = caller_of(stamp)
    if isinstance(caller, User) and not caller.is_admin:
        Grant.objects.create(
            user=caller,
            table=table,
            right=OWN,
            reason="Made the table private when adding it.",
            given_by=stamp.actor.name,
            given_at=stamp.at,
        )
