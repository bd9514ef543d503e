"""What a share would show to whom, before it is made."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Count, Q

from apps.accounts.models import User
from apps.pages.lists.paging import Paged, paged
from apps.sharing.access.grants.plain_cost import plain_cost
from apps.sharing.access.grants.rule_preview import ReadBudget
from apps.sharing.clients.preflight import (
    IndexedTable,
    Preflight,
    Served,
    indexed_tables,
)
from apps.sharing.drafts.draft import Draft, DraftTable
from apps.sharing.models import Grant, Recipient, SharedTable
from apps.sharing.recipients.listing import RecipientRow, recipient_rows
from apps.sharing.recipients.properties import parse_properties
from apps.sharing.recipients.resource import with_values
from apps.sharing.shares.detail import CHOICES_LENGTH
from apps.sharing.shares.parts.form import NewPart
from apps.sharing.shares.parts.shown import (
    ReaderLine,
    ShownPart,
    Viewed,
    shown_part,
)
from apps.tables.models import Table

MAX_NAMESPACES: Final = 500
MAX_COUNTED: Final = 12
"""Tables shared in part whose rows are counted for the last step."""
UNKNOWN: Final = Preflight(note="This table is no longer registered.", is_known=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTable:
    """A table of a draft with what is known of it.

    Attributes:
        table: The registered table; None when it has gone meanwhile.
        part: Who sees which rows of it; None if that is not counted.
    """

    draft: DraftTable
    table: Table | None
    preflight: Preflight
    part: ShownPart | None = None

    @property
    def offered(self) -> SharedTable:
        """The draft as a shared table has it."""
        return self.draft.offered

    @property
    def typed(self) -> NewPart:
        """Its rule in the draft."""
        offered = self.offered
        return NewPart(condition=offered.condition, columns=offered.columns)

    @property
    def rule(self) -> str:
        """The versions, rows and columns that are shared, in words."""
        offered = self.offered
        condition = offered.condition
        rows = f"rows where {condition}" if condition else "all rows"
        columns = ", ".join(offered.columns) or "all columns"
        form = "; as plain files" if offered.plain else ""
        return f"{offered.versions}; {rows}; {columns}{form}"

    @property
    def plain_cost(self) -> str:
        """The cost of plain files, in sentences."""
        return plain_cost([self.table]).text if self.table else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewlySeen:
    """A table of a draft for one recipient.

    Attributes:
        names: Under which the recipient reads the same table already.
        line: Its rows and properties; None if they are not counted.
    """

    table: ChosenTable
    names: list[str]
    line: ReaderLine | None


def chosen_tables(draft: Draft) -> list[ChosenTable]:
    """Return the tables of a draft with what clients make of them."""
    ids = {UUID(table.table_id) for table in draft.tables}
    tables = {
        table.id: table for table in Table.objects.filter(id__in=ids).defer("summary")
    }
    indexed = indexed_tables(ids)
    return [_chosen(wanted, tables, indexed) for wanted in draft.tables]


def _chosen(
    wanted: DraftTable,
    tables: Mapping[UUID, Table],
    indexed: Mapping[UUID, IndexedTable],
) -> ChosenTable:
    table_id = UUID(wanted.table_id)
    known, how = indexed.get(table_id), Served(is_plain=wanted.offered.plain)
    return ChosenTable(
        draft=wanted,
        table=tables.get(table_id),
        preflight=known.preflight(how) if known else UNKNOWN,
    )


def readers_of(draft: Draft) -> list[Viewed]:
    """Return the recipients of a draft, the new ones last, with their properties."""
    known = Recipient.objects.filter(name__in=draft.recipients).order_by("name_key")
    readers = []
    for stored in known:
        texts = draft.new_values.get(stored.name)
        if texts is None:
            readers.append(Viewed(recipient=stored))
        else:
            changed = with_values(stored, parse_properties(texts))
            readers.append(Viewed(recipient=changed))
    for one in draft.new_recipients:
        made = with_values(Recipient(name=one.name), one.values)
        readers.append(Viewed(recipient=made, is_new=True))
    return readers


def counted_tables(
    tables: Sequence[ChosenTable],
    readers: Sequence[Viewed],
    *,
    user: User,
    now: datetime,
) -> list[ChosenTable]:
    """Return tables with the rows that each recipient sees of those shared in part."""
    budget, room, found = ReadBudget(), MAX_COUNTED, []
    for one in tables:
        if room > 0 and one.table and not one.offered.is_whole:
            room -= 1
            part = shown_part(
                one.table,
                one.typed,
                readers,
                viewed="",
                is_plain=one.offered.plain,
                budget=budget,
                user=user,
                now=now,
            )
            found.append(replace(one, part=part))
        else:
            found.append(one)
    return found


def newly_seen(
    readers: Sequence[Viewed], tables: Sequence[ChosenTable], *, now: datetime
) -> list[tuple[str, RecipientRow | None, list[NewlySeen]]]:
    """Return what each recipient would newly see, by its name; no row for a new one."""
    stored = [one.recipient.id for one in readers if not one.is_new]
    rows = recipient_rows(Recipient.objects.filter(id__in=stored), now=now)
    by_name = {row.recipient.name: row for row in rows}
    seen = _seen_already(stored, {UUID(table.draft.table_id) for table in tables})
    found = []
    for one in readers:
        name = one.recipient.name
        lines = [
            NewlySeen(
                table=table,
                names=seen.get((one.recipient.id, UUID(table.draft.table_id)), []),
                line=table.part.line_of(name) if table.part else None,
            )
            for table in tables
        ]
        found.append((name, by_name.get(name), lines))
    return found


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
