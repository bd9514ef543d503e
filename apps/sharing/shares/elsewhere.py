"""What pages of other apps show of sharing: badges and names of tables, search hits."""

from collections.abc import Collection
from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Q, QuerySet

from deltaweb.storage.location import RECEIVED
from deltaweb.web.sharing.models import Recipient, Share, SharedTable
from deltaweb.web.tables.extension.badges import Badge
from deltaweb.web.tables.extension.search_kinds import Hit
from deltaweb.web.tables.models import Table

# === Tables ===


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


# === The search ===


def find_shares(text: str) -> QuerySet[Share]:
    """Return the shares whose name or comment holds a text."""
    return Share.objects.filter(Q(name__icontains=text) | Q(comment__icontains=text))


def find_recipients(text: str) -> QuerySet[Recipient]:
    """Return the recipients whose name, contact or comment holds a text."""
    return Recipient.objects.filter(
        Q(name__icontains=text)
        | Q(contact__icontains=text)
        | Q(comment__icontains=text)
    )


def share_hit(share: Share) -> Hit:
    """Return a share as a list of what was found shows it."""
    return Hit(name=share.name, about=share.comment, url=share.get_absolute_url())


def recipient_hit(recipient: Recipient) -> Hit:
    """Return a recipient as a list of what was found shows it."""
    about = ", ".join(text for text in (recipient.contact, recipient.comment) if text)
    return Hit(name=recipient.name, about=about, url=recipient.get_absolute_url())
