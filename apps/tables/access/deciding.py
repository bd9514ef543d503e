"""What becomes of requests of access: approved, rejected or withdrawn."""

from dataclasses import MISSING, dataclass, replace
from datetime import datetime
from typing import Final

from apps.notices.events import emit
from apps.notices.kinds.access_decided import ACCESS_DECIDED, DecidedRequest
from apps.pages.actions import Stamp, report
from apps.pages.changes.change import (
    VIEWER,
    Call,
    Change,
    Nothing,
    Page,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import parameter
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.tables.access.giving import access_action, give
from apps.tables.access.requested import (
    AccessRequestResource,
    decidable_request,
    find_request,
    own_request,
    request_resource,
    target_of,
)
from apps.tables.access.requesting import (
    PURPOSE,
    UNTIL,
    end_of,
    event_subject,
    own_list,
    plain_text,
)
from apps.tables.errors import RequestDecidedError, RequestInvalidError
from apps.tables.extension.requestables import Requestable
from apps.tables.models import AccessRequest

ROUTE: Final = "requests/<int:number>"
PAGES: Final = "requests/<int:number>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """How a request is approved.

    Attributes:
        until: How long the right lasts: a span such as `30d`, the last day, or `never`.
            If left out or empty, as requested.
    """

    until: str | Unchanged = parameter(
        UNCHANGED,
        "--until",
        line=UNTIL,
        metavar="SPAN",
        help="30d, a last day, or never; default: as requested",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Why a request is rejected.

    Attributes:
        reason: The reason, which the requester reads, in up to 500 characters.
    """

    reason: str = parameter(
        MISSING,
        "--reason",
        required=True,
        line=replace(PURPOSE, label="Reason", wrong="Give a reason."),
        metavar="TEXT",
        help="the reason, which the requester reads",
    )


def approve(
    request: AccessRequest, approval: Approval, stamp: Stamp
) -> AccessRequestResource:
    """Give the requested right, for as long as the approval says."""
    _check_open(request, stamp.at)
    wanted = request.ends_at(stamp.at)
    until = wanted
    if not isinstance(approval.until, Unchanged) and approval.until.strip():
        until = end_of(approval.until, now=stamp.at)
    if until is not None and until <= stamp.at:
        reason = "The end that was requested is over: choose another one."
        raise RequestInvalidError(reason=reason)
    holder = request.group or request.requested_by
    target = target_of(request)
    if isinstance(target, Requestable):
        target.give(holder, until, request.purpose, stamp)
    else:
        request.grant = give(
            *(target, holder, request.right),
            until=until,
            reason=request.purpose,
            stamp=stamp,
        )
    request.given_until = until
    is_shorter = until is not None and (wanted is None or until < wanted)
    state = (
        AccessRequest.State.SHORTENED if is_shorter else AccessRequest.State.APPROVED
    )
    return _decided(request, state, "access.approve", stamp)


def reject(
    request: AccessRequest, rejection: Rejection, stamp: Stamp
) -> AccessRequestResource:
    """Reject a request for a reason."""
    _check_open(request, stamp.at)
    request.answer = plain_text(rejection.reason, "A rejection needs a reason")
    return _decided(request, AccessRequest.State.REJECTED, "access.reject", stamp)


def withdraw(request: AccessRequest, _: Nothing, stamp: Stamp) -> AccessRequestResource:
    """Withdraw a request that nobody has decided about."""
    _check_open(request, stamp.at)
    return _decided(request, AccessRequest.State.WITHDRAWN, "access.withdraw", stamp)


def _decided(
    request: AccessRequest, state: AccessRequest.State, name: str, stamp: Stamp
) -> AccessRequestResource:
    request.state, request.open_key = state, None
    request.decided_by, request.decided_at = stamp.actor.name, stamp.at
    request.save(
        update_fields=(
            *("state", "open_key", "decided_by", "decided_at", "answer", "grant"),
            "given_until",
        )
    )
    reader = request.requested_by if state == AccessRequest.State.WITHDRAWN else None
    result = request_resource(request, now=stamp.at, reader=reader)
    report(
        access_action(
            name,
            target_of(request),
            stamp,
            request=request.id,
            by=result.requested_by,
            until=result.until.isoformat() if result.until else None,
            reason=result.answer,
        )
    )
    emit(
        ACCESS_DECIDED,
        event_subject(request),
        DecidedRequest(
            request=request.id,
            on=request.name or result.on,  # the requester reads it, too
            right=request.right,
            requested_by=result.requested_by,
            state=result.state,
            decided_by=stamp.actor.name,
            answer=request.answer,
            until=result.until.isoformat() if result.until else None,
        ),
        now=stamp.at,  # no table: the requester may not see it, but the request
    )
    return result


def _check_open(request: AccessRequest, now: datetime) -> None:
    """Refuse to decide twice; the row is locked."""
    state = request.state_at(now)
    if state == AccessRequest.State.PENDING:
        return
    if state == AccessRequest.State.EXPIRED:
        outcome = f"it expired on {request.open_until:%Y-%m-%d}"
    else:
        words = AccessRequest.State(state).label
        outcome = f"{request.decided_by} {_DID.get(state, words)} it"
    raise RequestDecidedError(number=request.id, outcome=outcome)


_DID: Final[dict[str, str]] = {
    AccessRequest.State.APPROVED: "approved",
    AccessRequest.State.SHORTENED: "approved",
    AccessRequest.State.REJECTED: "rejected",
    AccessRequest.State.WITHDRAWN: "withdrew",
}


def _said_of_approval(one: AccessRequestResource) -> str:
    until = f"until {one.until:%Y-%m-%d}" if one.until else "without end"
    return f"{one.holder} can {one.right} {one.on} {until}."


def _access_page(request: AccessRequest) -> str:
    return f"{target_of(request).access_url}#requests"


OF_REQUEST: Final = Subject(
    noun="access", role=VIEWER, scope="admin", find=find_request
)
APPROVE: Final = Change(
    of=OF_REQUEST,
    name="approve",
    help="Approve a request of access, as it was made or for another time.",
    parameters=Approval,
    do=approve,
    result=AccessRequestResource,
    says=_said_of_approval,
    record=("access.approve",),
    verb=Verb(),
    call=Call(
        "POST",
        f"{ROUTE}/approval",
        view="RequestApproval",
        status=200,
        find=decidable_request,
    ),
    page=Page(
        f"{PAGES}/approve",
        back=_access_page,
        name="request-approve",
        find=decidable_request,
    ),
)
REJECT: Final = Change(
    of=OF_REQUEST,
    name="reject",
    help="Reject a request of access, for a reason that the requester reads.",
    parameters=Rejection,
    do=reject,
    result=AccessRequestResource,
    says=lambda one: f"Rejected the request of {one.requested_by}.",
    record=("access.reject",),
    verb=Verb(),
    call=Call(
        "POST",
        f"{ROUTE}/rejection",
        view="RequestRejection",
        status=200,
        find=decidable_request,
    ),
    page=Page(
        f"{PAGES}/reject",
        back=_access_page,
        name="request-reject",
        find=decidable_request,
    ),
)
WITHDRAW: Final = Change(
    of=replace(OF_REQUEST, scope="write"),
    name="withdraw",
    help="Withdraw a request of access that nobody has decided about.",
    parameters=Nothing,
    do=withdraw,
    result=AccessRequestResource,
    says=lambda one: f"Withdrew the request of {one.right} on {one.on}.",
    record=("access.withdraw",),
    verb=Verb(),
    call=Call("DELETE", ROUTE, view="Request", find=own_request),
    page=Page(
        f"{PAGES}/withdraw",
        back=own_list,
        name="request-withdraw",
        find=own_request,
    ),
)
