"""A share that is made of its draft in one step, or tried and taken back."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from django.db import transaction

from apps.pages.actions import Stamp
from apps.sharing.access.grants.preparing import request_preparation
from apps.sharing.drafts.draft import Draft
from apps.sharing.issuing.tokens import Credentials
from apps.sharing.models import Recipient, Share
from apps.sharing.names import name_key
from apps.sharing.recipients.changes.settings import UPDATE, RecipientChange
from apps.sharing.recipients.resource import sent_values
from apps.sharing.recipients.services import grant, invite
from apps.sharing.shares.services import create_share
from apps.sharing.shares.terms import add_table
from apps.tables.errors import TableNotRegisteredError
from apps.tables.models import Table
from deltaweb.delta.errors import DeltaError


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFaults:
    """Why a share is not made."""

    share: DeltaError | None
    tables: dict[int, DeltaError] = field(default_factory=dict)
    missing_recipients: list[str] = field(default_factory=list)
    values: dict[int, DeltaError] = field(default_factory=dict)
    new_recipients: dict[int, DeltaError] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        faults = (self.tables, self.values, self.new_recipients)
        return not (self.share or self.missing_recipients or any(faults))


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeShare:
    """A share, the links of the recipients that were made with it, and its faults."""

    share: Share
    credentials: list[Credentials]
    faults: DraftFaults


@transaction.atomic
def make_share(draft: Draft, *, stamp: Stamp, is_trial: bool = False) -> MadeShare:
    """Make a share with its tables, grants and new recipients, all or nothing.

    Returns:
        The share with every fault of the draft, in the words of the services that
        refuse it. If there is one, or if this is a trial, nothing stays, not even in
        the record.
    """
    share, fault = _share(draft, stamp)
    faults = DraftFaults(share=fault)
    tables = Table.objects.in_bulk([UUID(table.table_id) for table in draft.tables])
    for place, wanted in enumerate(draft.tables):
        with _noted(faults.tables, place):
            table = tables.get(UUID(wanted.table_id))
            if table is None:
                raise TableNotRegisteredError(name=wanted.full_name)
            add_table(
                share,
                table=table,
                schema=wanted.schema,
                name=wanted.name,
                terms=wanted.terms(),
                stamp=stamp,
            )
    names = {name_key(name): name for name in draft.recipients}
    known = {one.name_key: one for one in Recipient.objects.filter(name_key__in=names)}
    faults.missing_recipients.extend(
        names[key] for key in sorted(names.keys() - known.keys())
    )
    for place, recipient in enumerate(known.values()):
        with _noted(faults.values, place):
            if (texts := draft.new_values.get(recipient.name)) is not None:
                change = RecipientChange(**sent_values(texts))
                UPDATE.carry_out(recipient, change, stamp)
        if not is_trial:
            grant(share, recipient, stamp=stamp)
    credentials: list[Credentials] = []
    for place, new in enumerate(draft.new_recipients):
        with _noted(faults.new_recipients, place):
            credentials.append(invite(new.to_be_made(share.name), stamp=stamp))
    if is_trial or not faults.is_empty:
        transaction.set_rollback(True)
    elif any(one.offered.plain or not one.offered.is_whole for one in draft.tables):
        request_preparation(share, proves=True, now=stamp.at)
    return MadeShare(share=share, credentials=credentials, faults=faults)


def _share(draft: Draft, stamp: Stamp) -> tuple[Share, DeltaError | None]:
    try:
        with transaction.atomic():
            share = create_share(name=draft.name, comment=draft.comment, stamp=stamp)
    except DeltaError as error:
        # Its tables can be looked at all the same, in a share of another name.
        return create_share(name=uuid4().hex, stamp=stamp), error
    return share, None


@contextmanager
def _noted(faults: dict[int, DeltaError], place: int) -> Iterator[None]:
    """Undo a part that is refused, and keep why by its place."""
    try:
        with transaction.atomic():
            yield
    except DeltaError as error:
        faults[place] = error
