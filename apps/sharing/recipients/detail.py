"""What the page of one recipient shows: rotation, tokens, grants, activity."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Annotated, Final

from django.shortcuts import resolve_url

from apps.audit.models import AuditEvent
from apps.pages.page_json import As, Named, OnPage, Spread, in_json
from apps.sharing.access.offered import OfferedPart, offered_part
from apps.sharing.activity.event_rows import EventRow, event_row
from apps.sharing.activity.usage import daily_requests, last_days
from apps.sharing.clients.preflight import Preflight, preflight_data, preflights_of
from apps.sharing.issuing.rotation import Rotation, rotation
from apps.sharing.issuing.rotation_chart import RequestsChart, requests_chart
from apps.sharing.issuing.token_rows import TokenRow, token_rows
from apps.sharing.models import Recipient, RecipientToken, Share, SharedTable
from apps.sharing.recipients.last_reads import LastReadResource, last_reads
from apps.sharing.recipients.listing import RecipientRow, recipient_rows
from apps.sharing.recipients.rehearsals.certificates import (
    CertificateResource,
    broken_for,
)
from apps.sharing.recipients.resource import RecipientResource
from apps.sharing.recipients.token_states import TokensState

CHART_DAYS: Final = 14
NUM_EVENTS: Final = 10
MAX_TOKENS: Final = 50
MAX_GRANTED_TABLES: Final = 100

State = RecipientToken.State


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantResource:
    """What of a table a recipient may read by a share; no table of an empty share."""

    share: str
    table: str | None
    part: Spread[OfferedPart | None]
    clients: Annotated[Preflight | None, As(preflight_data)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRow:
    """One table that the recipient may read; None for a share without tables.

    Attributes:
        preflight: Which clients read it; None beyond the first tables.
    """

    share: Share
    shared_table: SharedTable | None
    preflight: Preflight | None = None

    @property
    def ids_url(self) -> str:
        """The page with the setting of field ids."""
        page = resolve_url("sharing:share-settings", self.share.name)
        return f"{page}#field-ids"

    def describe(self) -> GrantResource:
        """Return it as machine forms name it."""
        shared = self.shared_table
        return GrantResource(
            share=self.share.name,
            table=shared.full_name if shared else None,
            part=offered_part(shared) if shared else None,
            clients=self.preflight,
        )


def _rotation_facts(under_way: Rotation) -> dict[str, object]:
    verdict, new = under_way.verdict, under_way.new
    return {
        "old": under_way.old.prefix,
        "new": None if new is None else new.prefix,
        "light": verdict.light,
        "cause": verdict.cause,
        "quiet_since": verdict.quiet_since,
        "green_at": verdict.green_at,
        "step": next(s.kind for s in under_way.steps if s.progress == "now"),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationPanel:
    """The safety light with what happened lately.

    Attributes:
        days: The days that are counted; the last one is today.
        old_requests, new_requests: Requests a day with each token, none without one.
    """

    rotation: Spread[Annotated[Rotation, As(_rotation_facts)]]
    chart: OnPage[RequestsChart]
    days: tuple[date, ...]
    old_requests: Annotated[tuple[int, ...], Named("requests_old")]
    new_requests: OnPage[tuple[int, ...]]

    @in_json
    def requests_new(self) -> tuple[int, ...]:
        """The requests with the new token; nothing without one."""
        return self.new_requests if self.rotation.new else ()

    @property
    def old_today(self) -> int:
        """How many requests were made today with the old token."""
        return self.old_requests[-1]

    @property
    def new_percent(self) -> int | None:
        """Percent of today's requests made with the new token; None without any."""
        requests = self.old_today + self.new_requests[-1]
        return round(100 * self.new_requests[-1] / requests) if requests else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientDetail:
    """Everything on the page of a recipient.

    Attributes:
        num_tables: The number of tables that it can read.
        num_tokens: The number of tokens; `tokens` has only the newest.
        grants: The first of the tables that it can read.
        reads: What each token read last, and what has changed since.
        broken: Clients that could read a table in a rehearsal, but not its newer
            version.
    """

    row: OnPage[RecipientRow]
    resource: Spread[RecipientResource]
    panel: Annotated[RotationPanel | None, Named("rotation")]
    tokens: list[TokenRow]
    num_tokens: int
    grants: list[GrantRow]
    num_tables: int
    reads: list[LastReadResource]
    events: list[EventRow]
    broken: list[CertificateResource]

    @property
    def state(self) -> TokensState:
        return self.row.state

    @property
    def num_shares(self) -> int:
        return self.row.num_shares

    @property
    def last_used_at(self) -> datetime | None:
        return self.row.last_used_at


def recipient_detail(recipient: Recipient, *, now: datetime) -> RecipientDetail:
    """Load the page of a recipient, by a handful of queries."""
    tokens = list(
        recipient.tokens.select_related("created_by", "recipient").order_by(
            "-created_at", "-id"
        )
    )
    tokens.sort(key=lambda token: not _is_live(token, now))
    shares = list(recipient.shares.prefetch_related("shared_tables__table"))
    grants = list(_grant_rows(shares))
    first = grants[:MAX_GRANTED_TABLES]
    shared = [row.shared_table for row in first if row.shared_table]
    found = preflights_of(shared, recipient)
    events = AuditEvent.objects.filter(recipient_id=recipient.id)
    (row,) = recipient_rows(Recipient.objects.filter(id=recipient.id), now=now)
    return RecipientDetail(
        row=row,
        resource=row.resource,
        panel=_panel(tokens, now),
        tokens=token_rows(tokens, num_shown=MAX_TOKENS, now=now),
        num_tokens=len(tokens),
        grants=[
            replace(row, preflight=found[row.shared_table.id])
            if row.shared_table
            else row
            for row in first
        ],
        num_tables=sum(row.shared_table is not None for row in grants),
        reads=last_reads(recipient, now=now),
        events=[event_row(e) for e in events.order_by("-at", "-id")[:NUM_EVENTS]],
        broken=broken_for(recipient),
    )


def all_shares() -> list[Share]:
    """Return every share, by name: what can be granted."""
    return list(Share.objects.all())


def _panel(tokens: Sequence[RecipientToken], now: datetime) -> RotationPanel | None:
    under_way = rotation(tokens, now=now)
    if under_way is None:
        return None
    old, new = under_way.old, under_way.new
    ids = [token.id for token in (old, new) if token is not None]
    days = last_days(CHART_DAYS, now=now)
    requests = daily_requests("token_id", ids, days=days)
    old_requests = requests[old.id]
    new_requests = requests[new.id] if new is not None else (0,) * len(days)
    return RotationPanel(
        rotation=under_way,
        chart=requests_chart(days, new_requests, old_requests),
        days=days,
        old_requests=old_requests,
        new_requests=new_requests,
    )


def _grant_rows(shares: Iterable[Share]) -> Iterable[GrantRow]:
    for share in shares:
        tables = list(share.shared_tables.all())
        for shared_table in tables:
            yield GrantRow(share=share, shared_table=shared_table)
        if not tables:
            yield GrantRow(share=share, shared_table=None)


def _is_live(token: RecipientToken, now: datetime) -> bool:
    return token.state(now) in {State.WAITING, State.ACTIVE, State.RETIRING}
