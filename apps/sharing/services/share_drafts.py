"""A share that is made in one step: its tables, and who reads it, new or known."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from apps.pages.actions import Actor
from apps.sharing.errors import RecipientNotFoundError
from apps.sharing.lifetimes import parse_lifetime
from apps.sharing.models import Recipient, Share, SharedTable
from apps.sharing.names import name_key
from apps.sharing.services.handover import Handover, invite
from apps.sharing.services.recipients import grant
from apps.sharing.services.shares import add_table, create_share
from apps.tables.errors import TableNotRegisteredError
from apps.tables.models import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDraft:
    """A table of a share that is being made."""

    table_id: UUID
    schema: str
    name: str
    with_history: bool = True
    start_version: int | None = None
    partition_filter: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientDraft:
    """A recipient that is made together with a share.

    `lifetime` is that of its token, as `parse_lifetime` reads it.
    """

    name: str
    contact: str = ""
    lifetime: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareDraft:
    """A share that is being made: its tables and who may read it."""

    name: str
    comment: str = ""
    tables: tuple[TableDraft, ...] = ()
    recipient_names: tuple[str, ...] = ()
    new_recipients: tuple[RecipientDraft, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeShare:
    """A share, and the links of the recipients that were made with it."""

    share: Share
    handovers: tuple[Handover, ...]


@transaction.atomic
def create_from_draft(draft: ShareDraft, *, actor: Actor, now: datetime) -> MadeShare:
    """Make a share with its tables, grants and new recipients, all or nothing.

    Raises:
        NameInvalidError: If a name breaks the rules of names.
        NameTakenError: If a name is taken, or given twice.
        TableNotRegisteredError: If a table has gone meanwhile.
        RecipientNotFoundError: If a recipient has gone meanwhile.
        PartitionFilterError: If a filter does not fit its table.
        StartVersionError: If history cannot begin where it was asked to.
        ContactInvalidError: If a contact is no mail address.
        LifetimeInvalidError: If a token would live too long, or not at all.
    """
    share = create_share(name=draft.name, comment=draft.comment, actor=actor, now=now)
    tables = Table.objects.in_bulk([table.table_id for table in draft.tables])
    for wanted in draft.tables:
        table = tables.get(wanted.table_id)
        if table is None:
            raise TableNotRegisteredError(name=f"{wanted.schema}.{wanted.name}")
        add_drafted_table(share, wanted, table=table, actor=actor, now=now)
    for recipient in _recipients_named(draft.recipient_names):
        grant(share, recipient, actor=actor, now=now)
    handovers = tuple(
        _invite(share, new, actor=actor, now=now) for new in draft.new_recipients
    )
    return MadeShare(share=share, handovers=handovers)


def add_drafted_table(
    share: Share, wanted: TableDraft, *, table: Table, actor: Actor, now: datetime
) -> SharedTable:
    """Put a table into a share as a draft has it.

    Raises:
        SharingStateError: If the name, the start or the filter will not do.
    """
    return add_table(
        share,
        table=table,
        schema=wanted.schema,
        name=wanted.name,
        with_history=wanted.with_history,
        start_version=wanted.start_version,
        partition_filter=wanted.partition_filter,
        actor=actor,
        now=now,
    )


def _invite(
    share: Share, new: RecipientDraft, *, actor: Actor, now: datetime
) -> Handover:
    return invite(
        name=new.name,
        contact=new.contact,
        comment="",
        allowed_networks=(),
        shares=[share],
        lifetime=parse_lifetime(new.lifetime, now=now),
        actor=actor,
        now=now,
    )


def _recipients_named(names: Sequence[str]) -> list[Recipient]:
    keys = {name_key(name): name for name in names}
    found = list(Recipient.objects.filter(name_key__in=keys))
    missing = keys.keys() - {recipient.name_key for recipient in found}
    for key in sorted(missing):
        raise RecipientNotFoundError(name=keys[key])
    return found
