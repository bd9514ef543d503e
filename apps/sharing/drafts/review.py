"""What a share would show to whom, before it is made."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Q

from apps.pages.lists.paging import Paged, paged
from apps.sharing.access.grants.rules import rule_of
from apps.sharing.clients.preflight import Preflight, preflights
from apps.sharing.drafts.draft import Draft, DraftTable
from apps.sharing.models import Grant, Recipient, SharedTable
from apps.sharing.recipients.listing import RecipientRow, recipient_rows
from apps.sharing.shares.detail import CHOICES_LENGTH
from apps.tables.models import Table
from deltaweb.delta.errors import DeltaError

MAX_NAMESPACES = 500
UNKNOWN = Preflight(note="This table is no longer registered.", is_known=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTable:
    """A table of a draft with what is known of it.

    Attributes:
        table: The registered table; None when it has gone meanwhile.
    """

    draft: DraftTable
    table: Table | None
    preflight: Preflight

    @property
    def offered(self) -> SharedTable:
        """The draft as a shared table has it."""
        return self.draft.offered

    @property
    def versions(self) -> str:
        return self.offered.versions

    @property
    def rows(self) -> str:
        condition = self.offered.condition
        return f"rows where {condition}" if condition else "all rows"

    @property
    def columns(self) -> str:
        return ", ".join(self.offered.columns) or "all columns"


def chosen_tables(draft: Draft) -> list[ChosenTable]:
    """Return the tables of a draft with what clients make of them."""
    ids = {UUID(table.table_id) for table in draft.tables}
    tables = {
        table.id: table for table in Table.objects.filter(id__in=ids).defer("summary")
    }
    found = preflights(ids)
    return [
        ChosenTable(
            draft=wanted,
            table=tables.get(UUID(wanted.table_id)),
            preflight=found.get(UUID(wanted.table_id), UNKNOWN),
        )
        for wanted in draft.tables
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewlySeen:
    """A table of a draft for one recipient.

    Attributes:
        names: Under which the recipient reads the same table already.
        missing: Properties that its condition asks for and the recipient lacks.
    """

    table: ChosenTable
    names: list[str]
    missing: list[str]


def newly_seen(
    draft: Draft, tables: list[ChosenTable], *, now: datetime
) -> list[tuple[RecipientRow, list[NewlySeen]]]:
    """Return what each chosen recipient would newly see: the tables of the draft."""
    recipients = Recipient.objects.filter(name__in=draft.recipients)
    rows = recipient_rows(recipients, now=now)
    seen = _seen_already(
        {row.recipient.id for row in rows}, {UUID(t.draft.table_id) for t in tables}
    )
    return [
        (
            row,
            [
                NewlySeen(
                    table=table,
                    names=seen[row.recipient.id, UUID(table.draft.table_id)],
                    missing=missing_properties(table, row.recipient),
                )
                for table in tables
            ],
        )
        for row in rows
    ]


def seen_by_new(draft: Draft, tables: list[ChosenTable]) -> list[NewlySeen]:
    """Return what a recipient of the draft would see; it has no property yet."""
    new = Recipient(name="")
    return [
        NewlySeen(table=table, names=[], missing=missing_properties(table, new))
        for table in tables
        if draft.new_recipients
    ]


def missing_properties(chosen: ChosenTable, recipient: Recipient) -> list[str]:
    """Return the properties that a table's condition asks for and a recipient lacks."""
    try:
        return rule_of([chosen.offered], recipient).missing
    except DeltaError:
        return []  # the draft's faults say what is wrong with the condition


def namespace_choices() -> list[tuple[str, int]]:
    """Return the first namespaces of the catalogue by name, with how many tables."""
    counted = Table.objects.order_by("namespace").values_list("namespace")
    return list(counted.annotate(number=Count("id"))[:MAX_NAMESPACES])


def recipient_choices(
    *, q: str, page: int, now: datetime
) -> tuple[list[RecipientRow], Paged]:
    """Return a page of the recipients whose name or contact holds `q`."""
    recipients = Recipient.objects.order_by("name_key")
    if q:
        recipients = recipients.filter(Q(name__icontains=q) | Q(contact__icontains=q))
    place = paged(recipients.count(), page, length=CHOICES_LENGTH)
    ids = list(recipients.values_list("id", flat=True)[place.start : place.last])
    return recipient_rows(Recipient.objects.filter(id__in=ids), now=now), place


def _seen_already(
    recipient_ids: Collection[UUID], table_ids: Collection[UUID]
) -> dict[tuple[UUID, UUID], list[str]]:
    """Return by which names recipients read tables now."""
    shared: dict[UUID, list[tuple[UUID, str]]] = defaultdict(list)
    for one in SharedTable.objects.filter(table__in=table_ids).select_related("share"):
        name = f"{one.share.name}.{one.full_name}"
        shared[one.share_id].append((one.table_id, name))
    names: dict[tuple[UUID, UUID], list[str]] = defaultdict(list)
    grants = Grant.objects.filter(share__in=shared, recipient__in=recipient_ids)
    for share_id, recipient_id in grants.order_by().values_list("share", "recipient"):
        for table_id, name in shared[share_id]:
            names[recipient_id, table_id].append(name)
    return names
