"""The list of recipients: filter, order, pages, and the state of each one's tokens."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Least

from apps.pages.lists.sorting import ordering
from apps.pages.paging import PAGE_LENGTH, Paged, paged
from apps.sharing.activity.usage import USE_DAYS, daily_requests, last_days
from apps.sharing.models import Grant, Recipient, RecipientToken
from apps.sharing.recipients.forms import COLUMNS

EXPIRES_SOON: Final = timedelta(days=30)
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
class TokensState:
    """How a recipient's tokens stand, in one word.

    Attributes:
        key: `active`, `expiring`, `expired`, `waiting`, `revoked` or `none`.
        ends_at: When the last of the live tokens ends; None without one.
    """

    key: str
    ends_at: datetime | None

    @property
    def is_good(self) -> bool:
        """Whether one of them works."""
        return self.key in {"active", "expiring"}


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
    by_state = _num_by_state(found)
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


def num_recipients_by_state(*, now: datetime) -> dict[str, int]:
    """Return how many recipients there are in each state of their tokens."""
    return _num_by_state(with_tokens_state(Recipient.objects.all(), now=now))


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


def tokens_state(recipient: Recipient, *, now: datetime) -> TokensState:
    """Return how the tokens of one recipient stand."""
    found = with_tokens_state(Recipient.objects.filter(id=recipient.id), now=now)
    state, ends_at = found.values_list("state", "ends_at").get()
    return TokensState(key=state, ends_at=ends_at)


def with_tokens_state(recipients: QuerySet[Recipient], *, now: datetime) -> Any:  # noqa: ANN401 (annotated rows)
    """Add `state`, `ends_at`, `last_used_at` and `num_shares` to recipients."""
    tokens = RecipientToken.objects.filter(recipient=OuterRef("pk"))
    end = Least("expires_at", Coalesce("retires_at", "expires_at"))
    live = tokens.live(now).annotate(end=end).order_by("-end")
    waiting = tokens.annotate(end=end).filter(
        end__gt=now, token_sha256__isnull=True, revoked_at__isnull=True
    )
    newest = tokens.order_by("-created_at", "-id")
    used = tokens.order_by(F("last_used_at").desc(nulls_last=True))
    grants = Grant.objects.filter(recipient=OuterRef("pk")).order_by()
    return recipients.annotate(
        ends_at=Subquery(live.values("end")[:1]),
        last_used_at=Subquery(used.values("last_used_at")[:1]),
        num_shares=Coalesce(
            Subquery(grants.values("recipient").annotate(n=Count("id")).values("n")), 0
        ),
        newest_revoked_at=Subquery(newest.values("revoked_at")[:1]),
        state=Case(
            When(ends_at__gt=now + EXPIRES_SOON, then=Value("active")),
            When(ends_at__isnull=False, then=Value("expiring")),
            When(Exists(waiting), then=Value("waiting")),
            When(newest_revoked_at__isnull=False, then=Value("revoked")),
            When(Exists(tokens), then=Value("expired")),
            default=Value("none"),
        ),
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


def _num_by_state(found: Any) -> dict[str, int]:  # noqa: ANN401 (annotated rows)
    return dict(found.order_by().values_list("state").annotate(recipients=Count("id")))


def _row(recipient: Any, requests: tuple[int, ...] = ()) -> RecipientRow:  # noqa: ANN401 (an annotated row)
    return RecipientRow(
        recipient=recipient,
        state=TokensState(key=recipient.state, ends_at=recipient.ends_at),
        num_shares=recipient.num_shares,
        last_used_at=recipient.last_used_at,
        requests=requests,
    )
