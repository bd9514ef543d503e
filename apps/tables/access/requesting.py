"""Requests of access to a table, a namespace or a share."""

import re
from dataclasses import MISSING, dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.shortcuts import resolve_url

from apps.accounts.models import Group, User
from apps.accounts.selectors import get_user
from apps.notices.events import EventSubject, emit
from apps.notices.kinds.access_requested import ACCESS_REQUESTED, NewAccessRequest
from apps.pages.actions import Stamp, report
from apps.pages.changes.change import VIEWER, Call, Change, Page, Subject, Verb
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.request.spans import SpanInvalidError, check_future, parse_span
from apps.tables.access.giving import access_action
from apps.tables.access.place import (
    Place,
    Target,
    place_named,
    requestable_namespace,
    requestable_table,
)
from apps.tables.access.requested import (
    REQUESTS,
    AccessRequestResource,
    request_resource,
)
from apps.tables.errors import RequestInvalidError, RequestRefusedError
from apps.tables.extension.requestables import requestable_named
from apps.tables.models import AccessRequest, Table
from apps.tables.models.requests import MAX_PURPOSE_LENGTH, OPEN_FOR
from apps.tables.models.rights import EDIT, SHARE, VIEW

RIGHTS: Final = (VIEW, EDIT, SHARE)
"""The rights that can be requested. `own` is given by an owner without a request."""
DEFAULT_SPAN: Final = "90d"
NEVER: Final = "never"
MAX_DAYS: Final = 3_660
_DAYS: Final = re.compile(r"\s*(\d{1,5})\s*d\s*", re.IGNORECASE | re.ASCII)
PURPOSE: Final = Line(
    label="What for",
    most=MAX_PURPOSE_LENGTH,
    is_needed=True,
    wrong="Say what you need it for.",
    codes=("request-invalid",),
)
UNTIL: Final = Line(label="For how long", most=40, codes=("span-invalid",))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRequest:
    """A request of access.

    Attributes:
        purpose: What the access is for, in up to 500 characters.
        right: `view`, `edit` or `share`.
        until: How long: a span such as `90d` from the approval on, the last day, or
            `never` for no end.
        group: The name of a group of the requester that gets the right; empty for the
            requester alone.
    """

    purpose: str = parameter(
        MISSING,
        "--purpose",
        required=True,
        line=PURPOSE,
        metavar="TEXT",
        help="what it is for, in up to 500 characters",
    )
    right: str = parameter(
        VIEW,
        "--right",
        choices=list(RIGHTS),
        line=Line(label="Access", wrong="Choose one of the rights."),
        help=f"view, edit or share (default: {VIEW})",
    )
    until: str = parameter(
        DEFAULT_SPAN,
        "--until",
        line=UNTIL,
        metavar="SPAN",
        help="90d from the approval on, a last day, or never "
        f"(default: {DEFAULT_SPAN})",
    )
    group: str = parameter(
        "",
        "--group",
        line=Line(label="For", most=150),
        metavar="NAME",
        help="a group of the user that gets the right; default: the user alone",
    )


def place_and_user(name: str, user: str) -> tuple[Target, User]:
    """Return what a command requests access to, and the user it is for."""
    person = get_user(user)
    if (other := requestable_named(person, name)) is not None:
        return other, person
    where = place_named(name)
    if isinstance(where, Table):
        return table_of_caller(person, where.namespace, where.name)
    return namespace_of_caller(person, where.name)


def table_of_caller(caller: User, namespace: str, name: str) -> tuple[Target, User]:
    """Return a table that the caller finds, and the caller."""
    return Place(requestable_table(caller, namespace, name)), caller


def namespace_of_caller(caller: User, namespace: str) -> tuple[Target, User]:
    """Return a namespace that the caller finds, and the caller."""
    return Place(requestable_namespace(caller, namespace)), caller


def request_access(
    found: tuple[Target, User], new: NewRequest, stamp: Stamp
) -> AccessRequestResource:
    """Request a right. An equal request must not be open."""
    place, user = found
    if new.right not in place.requestable_rights:
        raise RequestInvalidError(reason=f"{new.right!r} cannot be requested.")
    group = _group_of(user, new.group)
    days, until = _wanted(new.until, now=stamp.at)
    if new.right in place.rights_of(user, stamp.at) and group is None:
        reason = f"{user.username} can {new.right} it already"
        raise RequestRefusedError(name=place.name, reason=reason)
    one = AccessRequest(
        requested_by=user,
        name=place.name,
        group=group,
        right=new.right,
        purpose=plain_text(new.purpose, "A request needs a purpose"),
        wanted_days=days,
        wanted_until=until,
        requested_at=stamp.at,
        open_until=stamp.at + OPEN_FOR,
        table=place.table,
        namespace=place.own_namespace,
        other=place.key,
    )
    _check_no_equal(one, place, stamp.at)
    one.open_key = one.key
    one.save(force_insert=True)
    result = request_resource(one, now=stamp.at)
    report(
        access_action(
            "access.request",
            place,
            stamp,
            request=one.id,
            right=one.right,
            by=user.username,
            group=result.group,
            wanted=result.wanted,
            purpose=one.purpose,
        )
    )
    emit(
        ACCESS_REQUESTED,
        event_subject(one),
        NewAccessRequest(
            request=one.id,
            on=result.on,
            right=one.right,
            requested_by=result.requested_by,
            group=result.group or "",
            purpose=one.purpose,
            wanted=result.wanted,
        ),
        now=stamp.at,  # no table: the requester may not see it, but the request
    )
    return result


def _check_no_equal(one: AccessRequest, place: Target, now: datetime) -> None:
    """Refuse a second equal request; one that has expired makes room."""
    over = AccessRequest.objects.filter(open_key=one.key, open_until__lte=now)
    over.update(state=AccessRequest.State.EXPIRED, open_key=None)
    equal = AccessRequest.objects.filter(open_key=one.key).first()
    if equal is not None:
        reason = f"request {equal.id} of the same right is open already"
        raise RequestRefusedError(name=place.name, reason=reason)


def _group_of(user: User, name: str) -> Group | None:
    """Return the group that a right is requested for: one that the user is in."""
    if not name.strip():
        return None
    found = None if "\0" in name else Group.objects.named(name.strip()).first()
    if found is None or not found.memberships.filter(user=user).exists():
        # One answer for both: a request must not tell which groups exist.
        raise RequestInvalidError(reason="Choose one of your own groups.")
    return found


def _wanted(text: str, *, now: datetime) -> tuple[int | None, datetime | None]:
    """Return the days or the end that are requested; neither for no end."""
    if text.strip().lower() == NEVER:
        return None, None
    if found := _DAYS.fullmatch(text):
        end_of(text, now=now)
        return int(found[1]), None
    return None, end_of(text, now=now)


def end_of(text: str, *, now: datetime) -> datetime | None:
    """Return when a right ends that begins now; None for `never`."""
    if text.strip().lower() == NEVER:
        return None
    span = check_future(parse_span(text, now=now), text=text)
    if span > timedelta(days=MAX_DAYS):
        reason = f"it is longer than {MAX_DAYS:,} days; {NEVER} has no end"
        raise SpanInvalidError(text=text, reason=reason)
    return now + span


def plain_text(text: str, needed: str) -> str:
    """Return a plain text on one line."""
    plain = " ".join(text.split())
    if not plain:
        raise RequestInvalidError(reason=f"{needed}.")
    if len(plain) > MAX_PURPOSE_LENGTH or not plain.isprintable():
        reason = f"{needed} of up to {MAX_PURPOSE_LENGTH} characters."
        raise RequestInvalidError(reason=reason)
    return plain


def event_subject(request: AccessRequest) -> EventSubject:
    """Return a request as the subject of events."""
    return EventSubject("request", str(request.id), str(request))


def _said_of_request(one: AccessRequestResource) -> str:
    return (
        f"Requested {one.right} of {one.on} {one.wanted}. "
        f"Request {one.id} expires on {one.open_until:%Y-%m-%d}."
    )


def request_page_of(found: tuple[Target, User]) -> str:
    """Return the address of the page that requests access."""
    return found[0].request_url


def own_list(_: object) -> str:
    """Return the address of the list of a user's own requests."""
    return resolve_url("tables:request-list")


NEW: Final = Subject(
    noun="access",
    role=VIEWER,
    scope="write",
    find=place_and_user,
    metavars={"user": "--user"},
)
REQUEST: Final = Change(
    of=NEW,
    name="request",
    help="Request access to a table, a whole namespace, or the tables of a share.",
    more="It has to be listed, or visible to the requester.",
    parameters=NewRequest,
    do=request_access,
    result=AccessRequestResource,
    says=_said_of_request,
    record=("access.request",),
    verb=Verb(),
    call=Call(
        "POST",
        "tables/<str:namespace>/<str:name>/requests",
        view="TableRequests",
        find=table_of_caller,
    ),
    page=Page(
        "t/<str:namespace>/<str:name>/request",
        back=request_page_of,
        then=own_list,
        name="request-table",
        find=table_of_caller,
    ),
)
REQUEST_NAMESPACE: Final = replace(
    REQUEST,
    name="request-namespace",
    help="Request access to a whole namespace.",
    verb=None,
    call=Call(
        "POST",
        "namespaces/<str:namespace>/requests",
        view="NamespaceRequests",
        find=namespace_of_caller,
    ),
    page=Page(
        "n/<str:namespace>/request",
        back=request_page_of,
        then=own_list,
        name="request-namespace",
        find=namespace_of_caller,
    ),
)
reads.register(
    Read(
        route="requests",
        view="RequestList",
        page="tables:request-list",
        shows=REQUESTS,
        help="List the requests of access that you made, or that you decide.",
        role=VIEWER,
    )
)
