"""The list of recipients: filter, order and pages."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Q, QuerySet

from deltaweb.web.pages.lists.sorting import ordering
from deltaweb.web.pages.paging import PAGE_LENGTH, Paged, paged
from deltaweb.web.sharing.activity.usage import USE_DAYS, daily_requests, last_days
from deltaweb.web.sharing.models import Grant, Recipient
from deltaweb.web.sharing.recipients.forms import COLUMNS
from deltaweb.web.sharing.recipients.token_states import (
    TokensState,
    num_by_state,
    with_tokens_state,
)

DEFAULT_SORT: Final = "name"
SORT_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "name": ("name_key",),
    "used": ("last_used_at",),
    "ends": ("ends_at",),
    "shares": ("num_shares",),
    "created": ("created_at",),
}
CSV_HEADER: Final = (
    "name",
    "contact",
    "comment",
    "state",
    "token_ends_at",
    "shares",
    "last_used_at",
    "allowed_networks",
    "created_at",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientQuery:
    """What the list is asked for; empty texts filter nothing."""

    q: str = ""
    state: str = ""
    sort: str = ""
    page: int = 1

    @property
    def is_filtered(self) -> bool:
        """Whether something else than everybody is asked for."""
        return bool(self.q or self.state)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientRow:
    """A recipient with what its tokens are good for.

    Attributes:
        state: How its tokens stand.
        last_used_at: When any of them was used last.
        requests: Requests a day, today last; empty where they are not counted.
    """

    recipient: Recipient
    state: TokensState
    num_shares: int
    last_used_at: datetime | None
    requests: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientPage:
    """A page of the list.

    Attributes:
        paged: Where the page stands among those that the filter holds.
        num_all: How many recipients there are, whatever the filter.
        num_by_state: How many the search finds in each state.
    """

    rows: list[RecipientRow]
    paged: Paged
    num_all: int
    num_by_state: dict[str, int]


def recipient_page(
    query: RecipientQuery, *, now: datetime, length: int = PAGE_LENGTH
) -> RecipientPage:
    """Return a page of recipients; one beyond the last is the last."""
    found = _search(with_tokens_state(Recipient.objects.all(), now=now), query.q)
    by_state = num_by_state(found)
    count = by_state.get(query.state, 0) if query.state else sum(by_state.values())
    place = paged(count, query.page, length=length)
    if query.state:
        found = found.filter(state=query.state)
    shown = list(found.order_by(*_order(query))[place.rows])
    days = last_days(USE_DAYS, now=now)
    requests = daily_requests("recipient_id", [one.id for one in shown], days=days)
    return RecipientPage(
        rows=[_row(one, requests[one.id]) for one in shown],
        paged=place,
        num_all=Recipient.objects.count(),
        num_by_state=by_state,
    )


def recipient_rows(
    recipients: QuerySet[Recipient], *, now: datetime
) -> list[RecipientRow]:
    """Return recipients with the state of their tokens, by name and by one query."""
    found = with_tokens_state(recipients, now=now).order_by("name_key")
    return [_row(recipient) for recipient in found]


def recipient_csv(
    query: RecipientQuery, *, now: datetime
) -> Iterator[tuple[object, ...]]:
    """Yield a header and every recipient of the filter."""
    yield CSV_HEADER
    found = _search(with_tokens_state(Recipient.objects.all(), now=now), query.q)
    if query.state:
        found = found.filter(state=query.state)
    ordered = found.order_by(*_order(query)).prefetch_related("shares")
    for recipient in ordered.iterator(chunk_size=500):
        yield (
            recipient.name,
            recipient.contact,
            recipient.comment,
            recipient.state,
            recipient.ends_at,
            ", ".join(share.name for share in recipient.shares.all()),
            recipient.last_used_at,
            ", ".join(recipient.allowed_networks),
            recipient.created_at,
        )


def _order(query: RecipientQuery) -> list[Any]:
    sort = query.sort or DEFAULT_SORT
    return ordering(COLUMNS, SORT_FIELDS, sort, ties=("name_key",))


def _search(found: Any, text: str) -> Any:  # noqa: ANN401 (annotated rows)
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


def _row(recipient: Any, requests: tuple[int, ...] = ()) -> RecipientRow:  # noqa: ANN401 (an annotated row)
    return RecipientRow(
        recipient=recipient,
        state=TokensState(key=recipient.state, ends_at=recipient.ends_at),
        num_shares=recipient.num_shares,
        last_used_at=recipient.last_used_at,
        requests=requests,
    )
