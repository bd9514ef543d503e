"""Would this share be made? Asked by making it and taking it back."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import uuid4

from django.db import transaction

from apps.pages.actions import Actor
from apps.sharing.lifetimes import parse_lifetime
from apps.sharing.models import Recipient, Share
from apps.sharing.names import name_key
from apps.sharing.services.recipients import create_recipient
from apps.sharing.services.share_drafts import ShareDraft, add_drafted_table
from apps.sharing.services.shares import create_share
from apps.tables.errors import TableNotRegisteredError
from apps.tables.models import Table
from deltaweb.delta.errors import DeltaError


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFaults:
    """Why a share would not be made.

    Attributes:
        share: What is wrong with its name.
        tables: What is wrong with its tables, by their places.
        missing_recipients: Names that no recipient has.
        new_recipients: What is wrong with those to be made, by their places.
    """

    share: DeltaError | None = None
    tables: dict[int, DeltaError] = field(default_factory=dict)
    missing_recipients: list[str] = field(default_factory=list)
    new_recipients: dict[int, DeltaError] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether the share would be made."""
        return not (
            self.share or self.tables or self.missing_recipients or self.new_recipients
        )


def check_draft(draft: ShareDraft, *, actor: Actor, now: datetime) -> DraftFaults:
    """Return every fault of a draft, in the words of the services that would refuse it.

    Nothing stays of it, in the record neither.
    """
    with transaction.atomic():
        share, fault = _share(draft, actor, now)
        faults = DraftFaults(
            share=fault,
            tables=_table_faults(share, draft, actor, now),
            missing_recipients=_missing(draft),
            new_recipients=_recipient_faults(draft, actor, now),
        )
        transaction.set_rollback(True)
    return faults


def _share(
    draft: ShareDraft, actor: Actor, now: datetime
) -> tuple[Share, DeltaError | None]:
    try:
        with transaction.atomic():
            return create_share(name=draft.name, actor=actor, now=now), None
    except DeltaError as error:
        # Its tables can be looked at all the same, in a share of another name.
        return create_share(name=uuid4().hex, actor=actor, now=now), error


def _table_faults(
    share: Share, draft: ShareDraft, actor: Actor, now: datetime
) -> dict[int, DeltaError]:
    tables = Table.objects.in_bulk([wanted.table_id for wanted in draft.tables])
    faults: dict[int, DeltaError] = {}
    for place, wanted in enumerate(draft.tables):
        table = tables.get(wanted.table_id)
        if table is None:
            name = f"{wanted.schema}.{wanted.name}"
            faults[place] = TableNotRegisteredError(name=name)
            continue
        try:
            with transaction.atomic():
                add_drafted_table(share, wanted, table=table, actor=actor, now=now)
        except DeltaError as error:
            faults[place] = error
    return faults


def _recipient_faults(
    draft: ShareDraft, actor: Actor, now: datetime
) -> dict[int, DeltaError]:
    faults: dict[int, DeltaError] = {}
    for place, wanted in enumerate(draft.new_recipients):
        try:
            with transaction.atomic():
                create_recipient(
                    name=wanted.name, contact=wanted.contact, actor=actor, now=now
                )
                parse_lifetime(wanted.lifetime, now=now)
        except DeltaError as error:
            faults[place] = error
    return faults


def _missing(draft: ShareDraft) -> list[str]:
    wanted = {name_key(name): name for name in draft.recipient_names}
    known = Recipient.objects.filter(name_key__in=wanted).values_list(
        "name_key", flat=True
    )
    return [wanted[key] for key in sorted(wanted.keys() - set(known))]
