"""The first page of a recipient: tables, budget, and what each client reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Count
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse

from apps.pages.snippets import Snippet
from apps.sharing.access.browser import open_shares
from apps.sharing.access.schemas import resolve_schemas
from apps.sharing.activity.budgets import (
    first_of_month,
    midnight,
    next_month,
    offered_since,
)
from apps.sharing.clients.snippets import snippets
from apps.sharing.issuing.activation_page import (
    OfferedTable,
    offered_tables,
    to_read_first,
)
from apps.sharing.issuing.profile import profile_file_name
from apps.sharing.models import Recipient, Share
from apps.sharing.portal.visit import Visit, shown, visitors_page
from apps.tables.models import Commit, Table

MAX_SEARCH_LENGTH: Final = 200
MAX_TABLES: Final = 500  # of one page; others are found by the search


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTable:
    """A table of the list.

    Attributes:
        size_bytes: Of all its files; None if the recipient sees a part of them.
        changed_at: When its newest version was made; likewise.
        num_changes: The number of versions since the last visit that changed what the
            recipient sees; None if changes are not shared, or without a visit.
    """

    offered: OfferedTable
    url: str
    size_bytes: int | None
    changed_at: datetime | None
    changes_url: str
    num_changes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientVerdict:
    """How many of some tables a client reads.

    Attributes:
        trouble: Which table it cannot read, and why; "" for none.
    """

    client: str
    num_read: int
    num_known: int
    trouble: str

    @property
    def reads_all(self) -> bool:
        return self.num_read == self.num_known


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much of its monthly limit a recipient has used.

    Attributes:
        limit_bytes: None without a hard limit.
    """

    month: date
    until: date
    used_bytes: int
    limit_bytes: int | None

    @property
    def left_bytes(self) -> int | None:
        if self.limit_bytes is None:
            return None
        return max(0, self.limit_bytes - self.used_bytes)

    @property
    def percent(self) -> float:
        if not self.limit_bytes:
            return 0.0
        return round(min(100.0, 100 * self.used_bytes / self.limit_bytes), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a recipient may read in the browser."""

    shares: list[Share]
    tables: list[OfferedTable]


def offer_of(recipient: Recipient) -> Offer:
    """Return the shares and tables that a recipient may read in the browser."""
    shares = list(open_shares(recipient))
    for share in shares:
        resolve_schemas(share)
    names = {share.name for share in shares}
    tables = [one for one in offered_tables(recipient) if one.name.share in names]
    return Offer(shares=shares, tables=tables)


def listed_tables(
    offer: Offer, text: str = "", *, since: datetime | None
) -> list[ListedTable]:
    """Return the tables whose name or description has a text.

    Args:
        since: The last visit of the recipient; None if this is the first.
    """
    needle = text.casefold()
    found = [
        one
        for one in offer.tables
        if needle in one.short_name.casefold() or needle in one.comment.casefold()
    ][:MAX_TABLES]
    # Of a part, neither the size nor the time of the whole table is told.
    whole = [one.table_id for one in found if not one.is_part]
    known = Table.objects.in_bulk(whole)
    changes = {} if since is None else _changes_since(whole, since)
    return [
        _listed(one, None if one.is_part else known.get(one.table_id), changes)
        for one in found
    ]


def verdicts_of(tables: Sequence[OfferedTable]) -> list[ClientVerdict]:
    """Return how many of some tables each known client reads."""
    readings: dict[str, list[tuple[OfferedTable, bool, str]]] = {}
    for table in tables:
        for one in table.preflight.clients if table.preflight else ():
            facts = (table, one.can_read, one.reason)
            readings.setdefault(one.name, []).append(facts)
    found = []
    for client, tried in readings.items():
        unread = [(table, reason) for table, can_read, reason in tried if not can_read]
        trouble = f"not {unread[0][0].short_name}: {unread[0][1]}" if unread else ""
        found.append(
            ClientVerdict(
                client=client,
                num_read=len(tried) - len(unread),
                num_known=len(tried),
                trouble=trouble,
            )
        )
    return found


def code_for(recipient: Recipient, tables: Sequence[OfferedTable]) -> list[Snippet]:
    """Return the code for each client; it reads the first table that all can read."""
    return snippets(
        endpoint=f"{settings.PUBLIC_URL}/delta-sharing/",
        profile_file_name=profile_file_name(recipient.name),
        tables=to_read_first(tables),
    )


def budget_of(recipient: Recipient, *, now: datetime) -> Budget:
    """Return how much a recipient has used of this month's limit."""
    month = first_of_month(now)
    return Budget(
        month=month,
        until=next_month(month),
        used_bytes=offered_since(recipient, midnight(month)),
        limit_bytes=recipient.hard_limit_bytes,
    )


def _changes_since(table_ids: list[UUID], since: datetime) -> dict[UUID, int]:
    """Return the number of versions of each table that were made since a moment."""
    newer = Commit.objects.filter(table__in=table_ids, committed_at__gte=since)
    counts = newer.order_by().values_list("table").annotate(count=Count("id"))
    return {**dict.fromkeys(table_ids, 0), **dict(counts)}


def _listed(
    one: OfferedTable, table: Table | None, changes: dict[UUID, int]
) -> ListedTable:
    names = (one.name.share, one.name.schema, one.name.name)
    return ListedTable(
        offered=one,
        url=reverse("portal:table", args=names),
        size_bytes=None if table is None else table.size_bytes,
        changed_at=None if table is None else table.committed_at,
        changes_url=reverse("portal:changes", args=names),
        num_changes=(
            changes.get(one.table_id) if table is not None and one.has_changes else None
        ),
    )


@visitors_page("portal.tables")
def tables(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """List the tables, what was used of the budget, and the code for each client."""
    recipient = visit.recipient
    offer = offer_of(recipient)
    text = request.GET.get("q", "").strip()[:MAX_SEARCH_LENGTH]
    context = {
        "offer": offer,
        "search": text,
        "tables": listed_tables(offer, text, since=visit.session.previous_visit_at),
        "verdicts": verdicts_of(offer.tables),
        "snippets": code_for(recipient, offer.tables),
        "budget": budget_of(recipient, now=visit.now),
    }
    return shown(request, "tables.html", context, visit=visit)
