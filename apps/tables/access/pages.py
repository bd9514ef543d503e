"""The pages of access: who has it, requests, and what can be requested."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from apps.accounts.models import Group, User, groups_of
from apps.accounts.permissions import signed_in
from apps.pages.changes.change import VIEWER
from apps.pages.changes.forms import sentences_of
from apps.pages.changes.read import Read, reads
from apps.pages.lists.fields import WordField
from apps.pages.page_json import OnPage, csv_rows
from apps.pages.request.changes import ChangeForm
from apps.pages.request.parameters import cleaned
from apps.pages.request.server_paths import for_reader
from apps.pages.responses import respond_page
from apps.tables.access.answers import AccessAnswer, answer_for
from apps.tables.access.listed import LISTED, ListedResource, listed_resource
from apps.tables.access.people import (
    AccessRow,
    Reach,
    ended_grants,
    ended_rows,
    reach_of,
    rows_of,
)
from apps.tables.access.place import (
    Place,
    Target,
    Where,
    is_seen,
    owns,
    requestable_namespace,
)
from apps.tables.access.requested import (
    REQUESTS,
    AccessRequestResource,
    decidable_by,
    own_request,
    request_resources,
    requests_about,
    target_of,
)
from apps.tables.errors import NamespaceNotFoundError
from apps.tables.head.finding import OF_TABLE, get_table
from apps.tables.head.table_head import TableHead, table_head
from apps.tables.models import AccessRequest, Table
from apps.tables.models.rights import VIEW

MAX_SUGGESTED: Final = 500  # names that a browser suggests
ENDED: Final = "ended"


class AccessForm(forms.Form):
    """What the page of access shows.

    `person` is the person or group of the question, `q` a part of the names of those
    who have access.
    """

    person = forms.CharField(max_length=150, required=False)
    q = forms.CharField(max_length=150, required=False)
    show = WordField({ENDED: "Ended grants"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPage:
    """Who can see a table or a namespace, and why.

    People who do not own it see their own answer and their own requests only.

    Attributes:
        on: The table, or the namespace such as `sales.*`.
        kind: `table` or `namespace`.
        description: Its description in the catalog.
        owner: The account to ask about it; null without one.
        may_decide: Whether the caller gives rights and decides about requests.
        is_private: Whether only grants and administrators count.
        is_listed: Whether others can find and request it.
        reach: The number of people who can view it; null for those who do not own it.
        question: The answer for the requested person.
        requests: The open requests.
        grants: The roles and grants that count, or those that have ended.
        num_ended: The number of grants that have ended.
    """

    on: str
    kind: str
    description: str
    owner: str | None
    may_decide: bool
    is_private: bool
    is_listed: bool
    reach: Reach | None
    question: AccessAnswer | None
    requests: list[AccessRequestResource]
    grants: list[AccessRow]
    num_ended: int
    place: OnPage[Place]
    table: OnPage[Table | None]
    head: OnPage[TableHead | None]
    asked: OnPage[str]
    q: OnPage[str]
    is_ended: OnPage[bool]
    people: OnPage[list[str]]
    me: OnPage[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPage:
    """The facts about something listed that a person sees before a request.

    Attributes:
        listed: The name, the description and the owner.
        requests: The open requests of the caller for it.
        groups: The groups of the caller.
    """

    listed: ListedResource
    requests: list[AccessRequestResource]
    groups: list[str]
    place: OnPage[Target]
    can_view: OnPage[bool]
    rights: OnPage[tuple[str, ...]]
    errors: OnPage[list[str]]
    posted: OnPage[ChangeForm | None]


def table_access(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show who can see a table, and why."""
    table = get_table(request.user, namespace, name)
    template = "tables/access/table_access.html"
    return _access(request, table, fmt, template=template)


def namespace_access(
    request: HttpRequest, namespace: str, fmt: str
) -> HttpResponseBase:
    """Show who can see a whole namespace, and why."""
    user = signed_in(request)
    row = requestable_namespace(user, namespace)
    if not is_seen(user, row):
        raise NamespaceNotFoundError(name=namespace)
    template = "tables/access/namespace_access.html"
    return _access(request, row, fmt, template=template)


def request_page(
    request: HttpRequest,
    found: tuple[Target, User],
    *,
    fmt: str,
    form: ChangeForm | None,
) -> HttpResponseBase:
    """Show what may be known of a table, and the form that requests access."""
    place, user = found
    now = timezone.now()
    about = requests_about(place, AccessRequest.objects.open(now).by(user))
    has = place.rights_of(user, now)
    page = RequestPage(
        listed=listed_resource(place),
        requests=list(request_resources(about, now=now)),
        groups=[one.name for one in groups_of(user)],
        place=place,
        can_view=VIEW in has,
        rights=tuple(one for one in place.requestable_rights if one not in has),
        errors=sentences_of(form) if form else [],
        posted=form,
    )
    return respond_page(
        request,
        fmt,
        page,
        template="tables/access/request_access.html",
        status=form.status if form else 200,
    )


def request_shown(request: HttpRequest, number: int) -> HttpResponseBase:
    """Lead to a request: where it is decided, or the list of the requester."""
    user = signed_in(request)
    found = decidable_by(user, timezone.now()).filter(id=number).first()
    if found is None:
        own_request(user, number)
        return redirect("tables:request-list")
    return redirect(f"{target_of(found).access_url}#requests")


def request_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List the requests of a user, or those that a user decides."""
    return REQUESTS.answer(request, fmt, now=timezone.now())


def listed_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List what a user cannot view and can request."""
    return LISTED.answer(request, fmt)


def _access(
    request: HttpRequest, row: Where, fmt: str, *, template: str
) -> HttpResponseBase:
    user, now = signed_in(request), timezone.now()
    values = cleaned(AccessForm(request.GET))
    page = access_page(user, Place(row), values, now=now)
    rows = for_reader(csv_rows(AccessRow, page.grants)) if fmt == "csv" else None
    return respond_page(request, fmt, page, template=template, rows=rows)


def access_page(
    user: User, place: Place, values: dict[str, str], *, now: datetime
) -> AccessPage:
    """Return the page as a user may see it."""
    is_owner = owns(user, place, now)
    asked = values["person"] if is_owner else user.username
    is_ended = is_owner and values["show"] == ENDED
    grants: list[AccessRow] = []
    if is_owner:
        grants = ended_rows(place, now) if is_ended else rows_of(place, now)
    text = values["q"].lower()
    open_ones = AccessRequest.objects.open(now)
    own = open_ones if is_owner else open_ones.by(user)
    about = requests_about(place, own)
    return AccessPage(
        on=place.name,
        kind=place.noun,
        description=place.about,
        owner=place.owner_name,
        may_decide=is_owner,
        is_private=place.is_private,
        is_listed=place.row.is_listed,
        reach=reach_of(place, now) if is_owner else None,
        question=answer_for(asked, place, now) if asked else None,
        requests=list(request_resources(about.order_by("id"), now=now)),
        grants=[one for one in grants if text in one.holder.lower()],
        num_ended=len(ended_grants(place, now)) if is_owner else 0,
        place=place,
        table=place.table,
        head=table_head(place.table) if place.table else None,
        asked=asked,
        q=values["q"],
        is_ended=is_ended,
        people=_people() if is_owner else [],
        me=user.username,
    )


def _people() -> list[str]:
    groups = Group.objects.order_by("name").values_list("name", flat=True)
    users = User.objects.filter(is_active=True).order_by("username")
    names = [*groups[:MAX_SUGGESTED], *users.values_list("username", flat=True)]
    return names[:MAX_SUGGESTED]


reads.register(
    Read(
        route=f"{OF_TABLE}/access",
        view="TableAccess",
        page="tables:table-access",
        shows=AccessPage,
        help="Get who can see a table, and why.",
        role=VIEWER,
    ),
    Read(
        route="namespaces/<str:namespace>/access",
        view="NamespaceAccess",
        page="tables:namespace-access",
        shows=AccessPage,
        help="Get who can see a whole namespace, and why.",
        role=VIEWER,
    ),
    Read(
        route="requests/listed",
        view="ListedList",
        page="tables:listed-list",
        shows=LISTED,
        help="List what you cannot view, and can request access to.",
        role=VIEWER,
    ),
)
