"""The people who have a right on a table."""

from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import Membership, User
from apps.tables.models import Grant, Table
from apps.tables.models.rights import OF_GRANT, OF_ROLE


def people_with(right: str, table: Table, now: datetime | None = None) -> Q:
    """Match active users (`User`) who have a right on a table at a moment.

    It is the same rule as that of `may`, from the side of the table.
    """
    names = [name for name, included in OF_GRANT.items() if right in included]
    about = Q(table=table.pk) | Q(namespace__name=table.namespace)
    active = Grant.objects.active(now or timezone.now())
    grants = active.filter(about, right__in=names).order_by()
    members = Membership.objects.filter(
        group__in=grants.exclude(group=None).values("group")
    )
    roles = {User.Role.ADMIN.value}
    if not table.is_hidden:
        roles |= {role for role, included in OF_ROLE.items() if right in included}
    return Q(is_active=True) & (
        Q(role__in=sorted(roles))
        | Q(id__in=grants.exclude(user=None).values("user"))
        | Q(id__in=members.values("user"))
    )
