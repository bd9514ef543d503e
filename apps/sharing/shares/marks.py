"""What pages of tables say of one that is shared, by us or with us: a badge, a name."""

from collections.abc import Collection
from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, QuerySet

from deltaweb.storage.location import RECEIVED
from deltaweb.web.sharing.models import Share, SharedTable
from deltaweb.web.tables.extension.badges import Badge
from deltaweb.web.tables.models import Table


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


def received_badges(
    _: AbstractBaseUser | AnonymousUser, table_ids: Collection[UUID]
) -> dict[UUID, Badge]:
    """Return a badge for each table that is somebody else's."""
    found = Table.objects.filter(id__in=table_ids, location__startswith=RECEIVED)
    return {
        table_id: Badge(
            label=f"received from {location.removeprefix(RECEIVED).partition('/')[0]}",
            icon="share-3",
            title="It belongs to its provider: it can be read, and not changed",
        )
        for table_id, location in found.values_list("id", "location")
    }


def shared_table_ids() -> QuerySet[SharedTable, UUID]:
    """Return the ids of the tables that are in a share."""
    return SharedTable.objects.order_by().values_list("table_id", flat=True)


def name_in_a_share(user: AbstractBaseUser | AnonymousUser, table_id: UUID) -> str:
    """Return what recipients call a table with its history; viewers do not see it."""
    from deltaweb.web.sharing.clients.snippets import TableName  # noqa: PLC0415 (every command loads this module)

    if not getattr(user, "is_editor", False):
        return ""
    shared = SharedTable.objects.filter(table=table_id, with_history=True)
    names = (
        TableName(share=share, schema=schema, name=name)
        for share, schema, name in shared.order_by(
            "share__name", "schema", "name"
        ).values_list("share__name", "schema", "name")
    )
    return next((name.full_name for name in names if name.is_addressable), "")


def shares_in_words(table: Table) -> list[str]:
    """Return the shares that hold a table, each as "the share sales"."""
    shares = Share.objects.filter(shared_tables__table=table).distinct()
    return [f"the share {share.name}" for share in shares]
