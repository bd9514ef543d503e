"""Requests of access, as pages, commands and the REST API show them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.pages.lists.fields import WordField
from apps.pages.lists.paging import paged
from apps.pages.page_json import OnPage
from apps.pages.request.list_page import ListPage, ListQuery, PageOfRows
from apps.tables.access.place import Place, Target
from apps.tables.errors import RequestNotFoundError
from apps.tables.extension.requestables import Requestable, requestables
from apps.tables.models import AccessRequest, Namespace, Table
from apps.tables.models.requests import AccessRequestQuerySet
from apps.tables.models.rights import OWN, namespaces_with
from deltaweb.words import counted

NO_END: Final = "without end"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequestResource:
    """A request of access as every machine form names it.

    Attributes:
        state: `pending`, `approved`, `shortened` (approved for a shorter time),
            `rejected`, `withdrawn` or `expired`.
        on: The name of the table, of the namespace such as `sales.*`, or of the share
            such as `share:retail`.
        right: `view`, `edit` or `share`.
        group: The group that the right is for; null if it is for the requester.
        num_people: The number of people who would get the right.
        wanted_days: The days for which it is wanted, from its approval on; null if
            `wanted_until` says it, or without an end.
        open_until: The time until which it can be approved.
        decided_by: The name of who decided, or null.
        answer: The reason of a rejection; null without one.
        until: The end of the right that was given; null without one.
    """

    id: int
    state: str
    on: str
    right: str
    requested_by: str
    group: str | None
    num_people: int
    purpose: str
    wanted_days: int | None
    wanted_until: datetime | None
    requested_at: datetime
    open_until: datetime
    decided_by: str | None
    decided_at: datetime | None
    answer: str | None
    until: datetime | None
    url: OnPage[str]
    access_url: OnPage[str]

    @property
    def holder(self) -> str:
        """The person or the group that the right is for."""
        return self.group or self.requested_by

    @property
    def wanted(self) -> str:
        """How long the right is wanted, in words."""
        if self.wanted_days is not None:
            return f"for {counted(self.wanted_days, 'day')}"
        if self.wanted_until is not None:
            return f"until {self.wanted_until:%Y-%m-%d}"
        return NO_END


def request_resource(
    request: AccessRequest, *, now: datetime, reader: User | None = None
) -> AccessRequestResource:
    """Return one request as machine forms name it; see `request_resources`."""
    found = AccessRequest.objects.filter(id=request.id)
    return next(request_resources(found, now=now, reader=reader))


def request_resources(
    requests: QuerySet[AccessRequest], *, now: datetime, reader: User | None = None
) -> Iterator[AccessRequestResource]:
    """Yield requests as machine forms name them, in their order.

    Args:
        requests: The requests.
        now: The moment at which they expire, and rights count.
        reader: The requester, who must not learn a new name of something that is no
            longer listed. None for people who decide.
    """
    found = requests.select_related(
        *("requested_by", "group", "table", "namespace", "grant")
    )
    members = Count("group__memberships__user", distinct=True)
    rows = list(found.annotate(num_members=members))
    others = requestables([one.other for one in rows if one.other])
    for one in rows:
        if one.other and one.other not in others:
            continue  # it was deleted while the rows were read
        place = _target_of(one, others)
        is_known = reader is None or _is_found(place, reader, now)
        yield AccessRequestResource(
            id=one.id,
            state=str(one.state_at(now)),
            on=place.name if is_known else one.name,
            right=one.right,
            requested_by=one.requested_by.username,
            group=one.group.name if one.group else None,
            num_people=one.num_members if one.group else 1,
            purpose=one.purpose,
            wanted_days=one.wanted_days,
            wanted_until=one.wanted_until,
            requested_at=one.requested_at,
            open_until=one.open_until,
            decided_by=one.decided_by or None,
            decided_at=one.decided_at,
            answer=one.answer or None,
            until=one.grant.until if one.grant else one.given_until,
            url=place.request_url if is_known else "",
            access_url=place.access_url if is_known else "",
        )


def _is_found(place: Target, reader: User, now: datetime) -> bool:
    """Whether a person finds something, because it is listed or visible."""
    return place.is_listed or bool(place.rights_of(reader, now))


def target_of(request: AccessRequest) -> Target:
    """Return the subject of a request."""
    return _target_of(request, requestables([request.other]))


def requests_about(
    target: Target, requests: AccessRequestQuerySet
) -> AccessRequestQuerySet:
    """Return those of some requests that have a subject."""
    return requests.filter(
        table=target.table, namespace=target.own_namespace, other=target.key
    )


def _target_of(request: AccessRequest, others: Mapping[str, Requestable]) -> Target:
    row = request.table or request.namespace
    if row is not None:
        return Place(row)
    if request.other in others:
        return others[request.other]
    raise RequestNotFoundError(number=request.id)


def decidable_by(user: User, now: datetime) -> AccessRequestQuerySet:
    """Return the requests that a user may decide about, whatever became of them."""
    tables = Table.objects.with_right(user, OWN, now=now).values("id")
    namespaces = Namespace.objects.filter(namespaces_with(user, OWN, now=now))
    about = Q(table__in=tables) | Q(namespace__in=namespaces.values("id"))
    if user.is_admin:
        about |= ~Q(other="")
    return AccessRequest.objects.filter(about)


def find_request(number: int) -> AccessRequest:
    """Return the request of a number."""
    return _found(AccessRequest.objects.all(), number)


def own_request(caller: User, number: int) -> AccessRequest:
    """Return a request that a user made."""
    return _found(AccessRequest.objects.by(caller), number)


def decidable_request(caller: User, number: int) -> AccessRequest:
    """Return a request that a user may decide about."""
    return _found(decidable_by(caller, timezone.now()), number)


def _found(requests: QuerySet[AccessRequest], number: int) -> AccessRequest:
    is_number = str(number).isdecimal()
    found = requests.filter(id=int(number)).first() if is_number else None
    if found is None:
        raise RequestNotFoundError(number=number)
    return found


# === The list ===

MINE: Final = "mine"
TO_DECIDE: Final = "to-decide"
WHOSE: Final = {MINE: "Requests by me", TO_DECIDE: "Requests to decide"}


def _listed(user: User, query: ListQuery, now: datetime) -> QuerySet[AccessRequest]:
    is_to_decide = query["whose"] == TO_DECIDE
    found: QuerySet[AccessRequest] = (
        decidable_by(user, now) if is_to_decide else AccessRequest.objects.by(user)
    )
    if state := query["state"]:
        found = _in_state(found, state, now)
    return found.order_by("-id")


def _in_state(
    requests: QuerySet[AccessRequest], state: str, now: datetime
) -> QuerySet[AccessRequest]:
    pending = AccessRequest.State.PENDING
    if state == pending:
        return requests.filter(state=pending, open_until__gt=now)
    if state == AccessRequest.State.EXPIRED:
        over = Q(state=pending, open_until__lte=now)
        return requests.filter(over | Q(state=AccessRequest.State.EXPIRED))
    return requests.filter(state=state)


def _page(
    user: User, query: ListQuery, now: datetime
) -> PageOfRows[AccessRequestResource]:
    found = _listed(user, query, now)
    place = paged(found.count(), query.page)
    reader = _reader(user, query)
    rows = list(request_resources(found[place.rows], now=now, reader=reader))
    num_to_decide = decidable_by(user, now).open(now).count()
    return PageOfRows(rows=rows, paged=place, more={"num_to_decide": num_to_decide})


def _every(
    user: User, query: ListQuery, now: datetime
) -> Iterator[AccessRequestResource]:
    reader = _reader(user, query)
    yield from request_resources(_listed(user, query, now), now=now, reader=reader)


def _reader(user: User, query: ListQuery) -> User | None:
    return None if query["whose"] == TO_DECIDE else user


REQUESTS: Final = ListPage(
    entries="requests",
    template="tables/access/request_list.html",
    filters={
        "whose": WordField(WHOSE),
        "state": WordField(dict(AccessRequest.State.choices)),
    },
    page=_page,
    entry=AccessRequestResource,
    every=_every,
)
