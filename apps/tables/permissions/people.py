"""The people who have a right on a table."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import Membership, User
from apps.tables.models import Grant, Table
from apps.tables.models.rights import NO_RIGHT, OF_ROLE, VIEW, including


def people_with(right: str, table: Table, now: datetime | None = None) -> Q:
    """Match active users (`User`) who have a right on a table at a moment.

    It is the same rule as that of `may`, from the side of the table.
    """
    about = Q(table=table.pk) | Q(namespace__name=table.namespace)
    active = Grant.objects.active(now or timezone.now())
    grants = active.filter(about, right__in=including(right)).order_by()
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


def viewers_of_tables(
    users: Collection[User], table_ids: Collection[str], now: datetime | None = None
) -> dict[str, set[int]]:
    """Return the ids of those of some users who may see tables, by the tables' ids.

    It is the same rule as that of `Table.objects.visible_to`, by three queries for all.
    """
    active = [user for user in users if user.is_active]
    everybody = {user.pk for user in active}
    admins = {user.pk for user in active if user.is_admin}
    by_role = {one.pk for one in active if VIEW in OF_ROLE.get(one.role, NO_RIGHT)}
    tables = Table.objects.filter(id__in=table_ids).with_privacy()
    found: dict[str, set[int]] = {}
    of_namespace: dict[str, list[str]] = defaultdict(list)
    for table in tables.only("namespace", "is_private"):
        found[str(table.id)] = set(admins if table.is_hidden else by_role | admins)
        of_namespace[table.namespace].append(str(table.id))
    about = Q(table__in=found) | Q(namespace__name__in=of_namespace)
    grants = Grant.objects.active(now or timezone.now()).filter(
        about, right__in=including(VIEW)
    )
    members: dict[int, set[int]] = defaultdict(set)
    groups = grants.order_by().exclude(group=None).values("group")
    in_groups = Membership.objects.filter(group__in=groups)
    for group_id, user_id in in_groups.values_list("group", "user"):
        members[group_id].add(user_id)
    for grant in grants.select_related("namespace"):
        holding = {grant.user_id} if grant.group_id is None else members[grant.group_id]
        given_on = (
            [str(grant.table_id)]
            if grant.namespace is None
            else of_namespace[grant.namespace.name]
        )
        for one in given_on:
            found[one] |= {pk for pk in holding if pk in everybody}
    return found
