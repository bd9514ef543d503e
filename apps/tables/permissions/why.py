"""The reasons why a user has rights on a table, one by one."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.tables.models import Grant, Table
from apps.tables.models.rights import EVERY_RIGHT, NO_RIGHT, OF_GRANT, OF_ROLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A reason for rights on a table.

    Attributes:
        rights: The rights that it gives.
        role: The role that counts, because the user is an administrator or the table
            is open; "" if it is a grant.
        grant: The grant, with its person or group and its table or namespace.
    """

    rights: frozenset[str]
    role: str = ""
    grant: Grant | None = None


def why(user: User, table: Table, now: datetime | None = None) -> tuple[Reason, ...]:
    """Return each reason why a user has rights on a table; none if there is no right.

    Grants that count for nothing more, as those of an administrator, are named too:
    they are what is left if the role changes.

    Args:
        user: The user.
        table: The table.
        now: The moment at which grants have to be in force; None is the present.
    """
    if not user.is_active:
        return ()
    found: list[Reason] = []
    if user.is_admin:
        found.append(Reason(rights=EVERY_RIGHT, role=user.role))
    elif not table.is_hidden:
        by_role = OF_ROLE.get(user.role, NO_RIGHT)
        found.append(Reason(rights=by_role, role=user.role))
    grants = Grant.objects.of(user).active(now or timezone.now())
    about = Q(table=table.pk) | Q(namespace__name=table.namespace)
    rows = grants.filter(about).select_related("user", "group", "table", "namespace")
    found += [Reason(rights=OF_GRANT[one.right], grant=one) for one in rows]
    return tuple(found)
