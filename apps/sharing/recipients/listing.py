"""The list of recipients: its columns, filters, order and pages."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from django import forms
from django.db.models import Q, QuerySet

from apps.pages.lists.fields import WordField
from apps.pages.lists.paging import PAGE_LENGTH, paged
from apps.pages.lists.sorting import Column, ordering
from apps.pages.page_json import Named, OnPage, Spread
from apps.pages.request.list_page import ListPage, ListQuery, PageOfRows
from apps.sharing.activity.budgets import over_limit
from apps.sharing.activity.usage import USE_DAYS, daily_requests, last_days
from apps.sharing.models import Grant, Recipient
from apps.sharing.recipients.forms import STATES
from apps.sharing.recipients.resource import RecipientResource, resource_of
from apps.sharing.recipients.token_states import (
    TokensState,
    num_by_state,
    with_tokens_state,
)

CSV_CHUNK: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientRow:
    """A recipient with what its tokens are good for.

    Attributes:
        state: The state of its tokens.
        last_used_at: The last time one of its tokens was used.
        requests: Requests a day, today last; empty where they are not counted.
    """

    recipient: OnPage[Recipient]
    state: OnPage[TokensState]
    num_shares: OnPage[int]
    last_used_at: OnPage[datetime | None]
    resource: Spread[RecipientResource]
    requests: Annotated[tuple[int, ...], Named("requests_30d")] = ()


def recipient_page(
    _user: object, query: ListQuery, now: datetime, *, length: int = PAGE_LENGTH
) -> PageOfRows[RecipientRow]:
    """Return a page of recipients; one beyond the last is the last."""
    found, state = _search(query, now), query["state"]
    by_state = num_by_state(found)
    count = by_state.get(state, 0) if state else sum(by_state.values())
    place = paged(count, query.page, length=length)
    shown = list(_ordered(found, query)[place.rows])
    spent = over_limit(shown, now=now)
    days = last_days(USE_DAYS, now=now)
    requests = daily_requests("recipient_id", [one.id for one in shown], days=days)
    return PageOfRows(
        rows=[
            _row(one, requests[one.id], is_over_limit=one.id in spent) for one in shown
        ],
        paged=place,
        more={"num_all": Recipient.objects.count(), "num_by_state": by_state},
    )


def every_recipient(
    _user: object, query: ListQuery, now: datetime
) -> Iterator[RecipientResource]:
    """Yield every recipient of the filter."""
    found = _ordered(_search(query, now), query)
    yield from map(resource_of, found.iterator(chunk_size=CSV_CHUNK))


def recipient_rows(
    recipients: QuerySet[Recipient], *, now: datetime
) -> list[RecipientRow]:
    """Return recipients with the state of their tokens, by name and by two queries."""
    states = with_tokens_state(recipients, now=now).prefetch_related("shares")
    found = list(states.order_by("name_key"))
    spent = over_limit(found, now=now)
    return [_row(one, is_over_limit=one.id in spent) for one in found]


def recipient_resource(recipient: Recipient, *, now: datetime) -> RecipientResource:
    """Return one recipient as machine forms name it."""
    (row,) = recipient_rows(Recipient.objects.filter(id=recipient.id), now=now)
    return row.resource


def _ordered(found: Any, query: ListQuery) -> Any:  # noqa: ANN401 (annotated rows)
    if query["state"]:
        found = found.filter(state=query["state"])
    order = ordering(COLUMNS, query.sort, ties=("name_key",))
    return found.order_by(*order).prefetch_related("shares")


def _search(query: ListQuery, now: datetime) -> Any:  # noqa: ANN401 (annotated rows)
    found, text = with_tokens_state(Recipient.objects.all(), now=now), query["q"]
    if not text:
        return found
    # A join would list, and count, a recipient once for each share that matches.
    by_share = Grant.objects.filter(share__name__icontains=text).values("recipient")
    return found.filter(
        Q(name__icontains=text)
        | Q(contact__icontains=text)
        | Q(comment__icontains=text)
        | Q(id__in=by_share)
    )


def _row(
    recipient: Any,  # noqa: ANN401 (an annotated row)
    requests: tuple[int, ...] = (),
    *,
    is_over_limit: bool,
) -> RecipientRow:
    return RecipientRow(
        recipient=recipient,
        state=TokensState(
            key=recipient.state,
            ends_at=recipient.ends_at,
            is_over_limit=is_over_limit,
        ),
        num_shares=recipient.num_shares,
        last_used_at=recipient.last_used_at,
        resource=resource_of(recipient),
        requests=requests,
    )


COLUMNS: Final = (
    Column("name", "Recipient", "name_key", word="Name"),
    Column("ends", "Token", "ends_at", word="Token's end"),
    Column("shares", "Shares", "num_shares", begins_descending=True, css="dw-r"),
    Column("used", "Last used", "last_used_at", begins_descending=True),
    Column("created", "Newest", "created_at", begins_descending=True, is_shown=False),
    Column("", "Requests, 30 days", css="dw-only-w"),
)
RECIPIENTS: Final = ListPage(
    entries="recipients",
    template="sharing/recipients/recipient_list.html",
    columns=COLUMNS,
    default_sort="name",
    filters={
        "q": forms.CharField(max_length=200, required=False),
        "state": WordField(STATES),
    },
    page=recipient_page,
    entry=RecipientResource,
    every=every_recipient,
    more=lambda *_: {"states": STATES},
)
