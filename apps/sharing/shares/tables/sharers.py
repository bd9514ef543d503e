"""What people find of shares who share their tables without being administrators.

The right *share* on a table lets them put it into a share, change its terms and rules,
and take it out. For somebody who may share no table, no share exists. The tables of
others in a share do not exist for those who may not see them.
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
    """Refuse somebody who may share no table at all, whatever share they name.

    Raises:
        RoleRequiredError: If they may not.
    """
    if caller.is_admin:
        return
    mine = Grant.objects.of(caller).active(timezone.now())
    if not mine.filter(right__in=including(SHARE)).exists():
        raise RoleRequiredError(
            role="an administrator, or a person who may share a table,"
        )


def check_may_share(caller: User, shared: SharedTable) -> None:
    """Refuse somebody without the right to share a table of a share.

    Raises:
        SharedTableNotFoundError: If they may not see the table.
        RightRequiredError: If they see it.
    """
    own = rights(caller, [shared.table])[shared.table_id]
    if VIEW not in own:
        raise SharedTableNotFoundError(share=shared.share.name, name=shared.full_name)
    if SHARE not in own:
        raise RightRequiredError(name=shared.table.full_name, right=SHARE)


def check_may_share_whole(caller: User, schema: SharedSchema) -> None:
    """Refuse somebody without the right to share the namespace of a whole schema."""
    if not may_in(caller, SHARE, schema.namespace):
        raise SharedSchemaNotFoundError(share=schema.share.name, name=schema.schema)


# === What addresses name ===


def share_for(caller: User, name: str) -> Share:
    """Return a share for somebody who may share a table."""
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
    """Return a table of a share that somebody may share."""
    shared = shared_for(caller, name, table)
    check_may_share(caller, shared)
    return shared


def reader_for(caller: User, name: str, table: str, recipient: str) -> Reader:
    """Return a table of a share and a recipient by their names."""
    return reader_of(caller, readable_for(caller, name, table), recipient)


def reader_of(caller: User, shared: SharedTable, recipient: str) -> Reader:
    """Return a table of a share and a recipient.

    Who is not an administrator knows the recipients that read the share.
    """
    found = find_recipient(recipient)
    is_known = caller.is_admin or shared.share.recipients.filter(id=found.id).exists()
    if not is_known:
        raise RecipientNotFoundError(name=recipient)
    return Reader(shared, found)


# === What the tab of a table names ===


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


# === What a change names ===


def table_by(stamp: Stamp, name: str) -> Table:
    """Return a registered table that whoever makes a change may share."""
    caller = caller_of(stamp)
    if caller is None or (isinstance(caller, User) and caller.is_admin):
        return find_table(name)
    parsed = parse_table_name(name)
    table = get_table(caller, parsed.namespace, parsed.name)
    require(caller, SHARE, table, stamp.at)
    return table


def seen_by(stamp: Stamp, shared: SharedTable | None) -> SharedTable | None:
    """Return a table of a share, or None if whoever makes a change may not see it."""
    caller = caller_of(stamp)
    if shared is None or caller is None:
        return shared
    own = rights(caller, [shared.table], stamp.at)[shared.table_id]
    return shared if VIEW in own else None
