"""The activation page, and what it offers: public, without a login, one time.

GET and HEAD look and never spend the link, so that scanners of mail cannot burn it;
POST downloads the profile and closes it, from a browser without cookies and from curl
too: a caller that knows the secret of the address needs no other proof, and one that
could make another browser send it could send it as well.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.accounts.permissions import public
from apps.pages.request.addresses import client_address
from apps.sharing.access.browser_requests import set_cookie
from apps.sharing.access.grants.rules import TableRule, rule_of
from apps.sharing.access.withdrawals import LISTED
from apps.sharing.clients.preflight import Preflight, indexed_tables, served
from apps.sharing.clients.snippets import TableName, snippets
from apps.sharing.errors import FormRefusedError, SharingStateError
from apps.sharing.issuing.activation import (
    Activation,
    Caller,
    activate,
    look_up,
    open_in_browser,
    opens_in_browser,
    view_activation,
)
from apps.sharing.issuing.token_result import profile_response
from apps.sharing.models import PreparedVersion, Recipient, SharedTable
from deltaweb.delta.errors import PredicateError

LOOKED_AT: Final = 50  # whose clients are looked up; a share may hold thousands
_RANKS: Final = {"clean": 1, "unknown": 2, "partly": 3, "refused": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTable:
    """One table that a recipient may read.

    Attributes:
        table_id: Which table of the catalogue it is.
        num_rows: How many of its rows the recipient reads; None if that is not known.
        is_part: Whether the recipient reads a part of its rows and columns.
        has_changes: Whether its history is shared, and its newest version keeps
            changes; False beyond the first `LOOKED_AT`.
        comment: What the provider has written about it for recipients.
        preflight: Which clients read it; None beyond the first `LOOKED_AT`.
    """

    name: TableName
    table_id: UUID
    num_rows: int | None
    is_part: bool = False
    has_changes: bool = False
    comment: str = ""
    preflight: Preflight | None = None

    @property
    def short_name(self) -> str:
        """`schema.table`: what distinguishes the tables of a share."""
        return f"{self.name.schema}.{self.name.name}"

    @property
    def trouble(self) -> str:
        """By which clients it cannot be read, and why; empty where none is known."""
        unable = [
            one for one in (self.preflight or Preflight()).clients if not one.can_read
        ]
        if not unable:
            return ""
        if self.preflight is not None and self.preflight.state == "refused":
            who = "Queries are refused for every client."
        else:
            who = f"Cannot be read by {', '.join(one.name for one in unable)}."
        return f"{who} {unable[0].reason}"


def offered_tables(recipient: Recipient) -> list[OfferedTable]:
    """Return the tables that a recipient lists, by share and name.

    Rules are not shown: a condition may name hidden columns and other recipients. What
    clients make of the tables is looked up for the first `LOOKED_AT`, and how many rows
    of a part the recipient reads.
    """
    tables = list(
        SharedTable.objects.filter(
            LISTED, share__grants__recipient=recipient, share__off_since__isnull=True
        )
        .select_related("share", "table")
        .order_by("share__name_key", "schema_key", "name_key")
    )
    own = {rule.shared_table_id: rule for rule in recipient.rules.all()}
    rules = {
        table.id: rule_of(
            [table, own[table.id]] if table.id in own else [table],
            recipient,
            is_plain=table.is_plain,
        )
        for table in tables
    }
    first = tables[:LOOKED_AT]
    known = indexed_tables({table.table_id for table in first})
    preflights = {
        table.id: known[table.table_id].preflight(
            replace(served(table, recipient), columns=rules[table.id].columns)
        )
        for table in first
    }
    num_rows = _rows_of_parts(first, rules)
    return [
        OfferedTable(
            name=TableName(
                share=table.share.name, schema=table.schema, name=table.name
            ),
            table_id=table.table_id,
            num_rows=(
                table.table.num_records
                if rules[table.id].is_whole
                else num_rows.get(table.id)
            ),
            is_part=not rules[table.id].is_whole,
            has_changes=(
                table.history_start is not None
                and table.table_id in known
                and known[table.table_id].has_feed
            ),
            comment=table.comment,
            preflight=preflights.get(table.id),
        )
        for table in tables
    ]


def _rows_of_parts(
    tables: Sequence[SharedTable], rules: Mapping[UUID, TableRule]
) -> dict[UUID, int | None]:
    """Return the rows of the newest version that is ready of each part."""
    digests = {}
    for table in tables:
        with suppress(PredicateError):  # a rule that cannot be read leaves nothing
            if not rules[table.id].is_whole:
                digests[table.id] = rules[table.id].digest
    ready = PreparedVersion.objects.filter(
        shared_table__in=digests, rule__in=digests.values()
    ).order_by("version")
    return {
        one.shared_table_id: one.num_rows
        for one in ready
        if digests[one.shared_table_id] == one.rule
    }


def to_read_first(tables: Sequence[OfferedTable]) -> list[TableName]:
    """Return the names of tables, those first that a first try would succeed with.

    Tables that are known to have rows come before others; of each, those first that
    every client reads. Tables whose queries are refused come last. Only the first
    `LOOKED_AT` are looked up.
    """
    looked_at = tables[:LOOKED_AT]

    def rank(table: OfferedTable) -> tuple[bool, bool, int, bool]:
        state = table.preflight.state if table.preflight else "unknown"
        is_empty = table.num_rows == 0
        return state == "refused", not table.num_rows, _RANKS[state], is_empty

    rest = [table.name for table in tables[LOOKED_AT:]]
    return [table.name for table in sorted(looked_at, key=rank)] + rest


OPEN: Final = "open"  # the button that opens a session in the browser
MAX_TABLES: Final = 12  # named on the page; the rest is counted
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}


@public
@csrf_exempt
def activation(request: HttpRequest, nonce: str) -> HttpResponseBase:
    """Show what a link opens; download the profile by POST."""
    response = _checked_activation(request, nonce)
    for name, value in HEADERS.items():
        response[name] = value
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def _checked_activation(request: HttpRequest, nonce: str) -> HttpResponseBase:
    now = timezone.now()
    caller = Caller(
        address=client_address(request),
        user_agent=request.headers.get("User-Agent", ""),
        request_id=getattr(request, "id", ""),
    )
    try:
        if request.method == "POST" and OPEN in request.POST:
            return _opened(request, nonce, caller, now)
        if request.method == "POST":
            return profile_response(activate(nonce, caller=caller, now=now))
        if request.method == "HEAD":  # merely probes the link: leaves no record
            found = look_up(nonce, address=caller.address, now=now)
        else:
            found = view_activation(nonce, caller=caller, now=now)
        opens = opens_in_browser(nonce, address=caller.address, now=now)
        return _page(request, found, opens_in_browser=opens)
    except SharingStateError as error:
        opens = opens_in_browser(nonce, address=caller.address, now=now)
        context = {"error": error, "opens": opens}
        return _render(request, "activate_problem.html", context, status=error.status)


def _opened(
    request: HttpRequest, nonce: str, caller: Caller, now: datetime
) -> HttpResponseBase:
    """Begin the session of a link, by a form of its own page, and lead to the page."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        raise FormRefusedError
    session, secret = open_in_browser(nonce, caller=caller, now=now)
    response = HttpResponseRedirect(reverse("portal:tables"))
    set_cookie(response, session, secret, now=now)
    return response


def _page(
    request: HttpRequest, found: Activation, *, opens_in_browser: bool
) -> HttpResponseBase:
    tables = offered_tables(found.recipient)
    context = {
        "recipient": found.recipient,
        "file_name": found.file_name,
        "tables": tables[:MAX_TABLES],
        "num_tables": len(tables),
        "num_more": max(0, len(tables) - MAX_TABLES),
        "shares": found.shares,
        "link_expires_at": found.link_expires_at,
        "opens": opens_in_browser,
        "token_expires_at": found.token_expires_at,
        "snippets": snippets(
            endpoint=f"{settings.PUBLIC_URL}/delta-sharing/",
            profile_file_name=found.file_name,
            tables=to_read_first(tables),
        ),
    }
    return _render(request, "activate.html", context)


def _render(
    request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponseBase:
    about = {
        "provider": settings.PROVIDER_NAME,
        "provider_contact": settings.PROVIDER_CONTACT,
        "came_by_link": True,
        "now": timezone.now(),
        "request_id": getattr(request, "id", ""),
    }
    return render(
        request, f"sharing/issuing/{template}", about | context, status=status
    )
