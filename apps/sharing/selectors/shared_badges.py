"""The badge of a table that is shared, as lists and heads of tables show it."""

from collections.abc import Collection
from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, QuerySet

from apps.sharing.models import SharedTable
from apps.tables.badges import Badge


def shared_badges(
    user: AbstractBaseUser | AnonymousUser, table_ids: Collection[UUID]
) -> dict[UUID, Badge]:
    """Return a badge for each table that is in a share; viewers do not see them."""
    if not getattr(user, "is_editor", False):
        return {}
    counts = (
        SharedTable.objects.filter(table__in=table_ids)
        .order_by()
        .values_list("table")
        .annotate(shares=Count("share", distinct=True))
    )
    return {
        table_id: Badge(
            label="shared",
            icon="share-3",
            title=f"in {shares} share{'s' * (shares != 1)}",
        )
        for table_id, shares in counts
    }


def shared_table_ids() -> QuerySet[SharedTable, UUID]:
    """Return the ids of the tables that are in a share."""
    return SharedTable.objects.order_by().values_list("table_id", flat=True)
