"""Look-ups in shares for callers with the right *share* on a table.

The right lets them put the table into a share, change its terms and rules, and take it
out. A caller without the right on any table is refused before a share is looked up.
Tables in a share that a caller may not see do not exist for the caller.
"""

from typing import NamedTuple
from uuid import UUID

from django.db.models import Manager, QuerySet
from django.utils import timezone

from apps.accounts.errors import RoleRequiredError
from apps.accounts.models import User
from apps.pages.actions import Stamp
from apps.sharing.access.errors import SharedSchemaNotFoundError
from apps.sharing.errors import (
    RecipientNotFoundError,
    SharedTableGoneError,
    SharedTableNotFoundError,
)
from apps.sharing.models import Recipient, Share, SharedSchema, SharedTable
from apps.sharing.names import find_recipient, find_share, find_shared_table
from apps.tables.catalogue.names import find_table, parse_table_name
from apps.tables.head.finding import get_own_table, get_table
from apps.tables.models import Grant, Table
from apps.tables.models.rights import SHARE, VIEW, including
from apps.tables.permissions import (
    RightRequiredError,
    caller_of,
    may_in,
    require,
    rights,
)


class Offer(NamedTuple):
    """A table, and a share that it may be put into."""

    table: Table
    share: Share


class Reader(NamedTuple):
    """A table of a share and a recipient."""

    shared: SharedTable
    recipient: Recipient


def check_sharer(caller: User) -> None:
    """Refuse a caller without the right to share any table.

    Raises:
        RoleRequiredError: If the caller is refused, by the same text for each share.
    """
    if caller.is_admin:
        return
    mine = Grant.objects.of(caller).active(timezone.now())
    if not mine.filter(right__in=including(SHARE)).exists():
        raise RoleRequiredError(
            role="an administrator, or a person who may share a table,"
        )


def check_may_share(caller: User, shared: SharedTable) -> None:
    """Refuse a caller without the right to share a table of a share.

    Raises:
        SharedTableNotFoundError: If the caller may not see the table.
        RightRequiredError: If the caller sees it.
    """
    own = rights(caller, [shared.table])[shared.table_id]
    if VIEW not in own:
        raise SharedTableNotFoundError(share=shared.share.name, name=shared.full_name)
    if SHARE not in own:
        raise RightRequiredError(name=shared.table.full_name, right=SHARE)


def check_may_share_whole(caller: User, schema: SharedSchema) -> None:
    """Refuse a caller without the right to share the namespace of a whole schema."""
    if not may_in(caller, SHARE, schema.namespace):
        raise SharedSchemaNotFoundError(share=schema.share.name, name=schema.schema)


# === By the names in addresses ===


def share_for(caller: User, name: str) -> Share:
    """Return a share, to a caller who may share a table."""
    check_sharer(caller)
    return find_share(name)


def shared_for(caller: User, name: str, table: str) -> SharedTable:
    """Return a table of a share by its names."""
    return find_shared_table(share_for(caller, name), table)


def shared_by_id(caller: User, name: str, table_id: UUID) -> SharedTable:
    """Return a table of a share by its id."""
    return find_by_id(share_for(caller, name), table_id)


def find_by_id(share: Share, table_id: UUID) -> SharedTable:
    """Return a table of a share by its id."""
    return _by_id(share.shared_tables, table_id, of=f"The share {share.name}")


def _by_id(
    tables: Manager[SharedTable] | QuerySet[SharedTable], table_id: UUID, *, of: str
) -> SharedTable:
    related = tables.select_related("share", "table", "from_schema")
    found = related.filter(id=table_id).first()
    if found is None:
        raise SharedTableGoneError(of=of)
    return found


def readable_for(caller: User, name: str, table: str) -> SharedTable:
    """Return a table of a share, to a caller who may share it."""
    shared = shared_for(caller, name, table)
    check_may_share(caller, shared)
    return shared


def reader_for(caller: User, name: str, table: str, recipient: str) -> Reader:
    """Return a table of a share and a recipient by their names."""
    return reader_of(caller, readable_for(caller, name, table), recipient)


def reader_of(caller: User, shared: SharedTable, recipient: str) -> Reader:
    """Return a table of a share and a recipient.

    Callers who are not administrators know the recipients of the share only.
    """
    found = find_recipient(recipient)
    is_known = caller.is_admin or shared.share.recipients.filter(id=found.id).exists()
    if not is_known:
        raise RecipientNotFoundError(name=recipient)
    return Reader(shared, found)


# === By the tab of a table ===


def offer_for(caller: User, namespace: str, name: str, share: str) -> Offer:
    """Return a table that may be shared, and a share."""
    return Offer(get_own_table(caller, namespace, name, SHARE), find_share(share))


def shared_of_table(
    caller: User, namespace: str, name: str, table_id: UUID
) -> SharedTable:
    """Return the place of a table in a share by its id."""
    table = get_own_table(caller, namespace, name, SHARE)
    places = SharedTable.objects.filter(table=table)
    return _by_id(places, table_id, of=table.full_name)


def reader_of_table(
    caller: User, namespace: str, name: str, table_id: UUID, recipient: str
) -> Reader:
    """Return the place of a table in a share, and a recipient of the share."""
    return reader_of(
        caller, shared_of_table(caller, namespace, name, table_id), recipient
    )


# === In changes ===


def table_by(stamp: Stamp, name: str) -> Table:
    """Return a registered table, which the maker of a change must be able to share."""
    caller = caller_of(stamp)
    if caller is None or (isinstance(caller, User) and caller.is_admin):
        return find_table(name)
    parsed = parse_table_name(name)
    table = get_table(caller, parsed.namespace, parsed.name)
    require(caller, SHARE, table, stamp.at)
    return table


def seen_by(stamp: Stamp, shared: SharedTable | None) -> SharedTable | None:
    """Return a table of a share; None if the maker of a change may not see it."""
    caller = caller_of(stamp)
    if shared is None or caller is None:
        return shared
    own = rights(caller, [shared.table], stamp.at)[shared.table_id]
    return shared if VIEW in own else None
