"""What people say of a finding: they take note of it, mute it, or assign it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet
from django.shortcuts import resolve_url

from apps.accounts.errors import RoleRequiredError
from apps.accounts.models import User
from apps.accounts.selectors import get_user, user_of
from apps.jobs.listing.resource import Started
from apps.jobs.models import Job
from apps.jobs.waiting import started
from apps.news.publishing import publish
from apps.pages.actions import Action, Stamp, report
from apps.pages.changes.change import (
    EDITOR,
    VIEWER,
    Call,
    Change,
    Nothing,
    Page,
    Record,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.errors import PageError
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.pages.request.spans import SpanInvalidError, parse_span
from apps.tables.health.examining import request_examination
from apps.tables.health.listing import FINDINGS, MAX_DIGITS
from apps.tables.health.resources import FindingRow, all_rules, finding_row
from apps.tables.models import StoredFinding
from apps.tables.models.health import StoredFindingQuerySet
from apps.tables.models.news import HEALTH
from apps.tables.permissions import EDIT, people_with, require

ROUTE: Final = "health/<int:finding_id>"
MAX_MUTED: Final = timedelta(days=366)


class FindingNotFoundError(PageError, code="finding-not-found"):
    """No finding that the user may see has this number."""

    finding_id: str
    status = 404
    message = "There is no finding {finding_id:.40}."
    hint = "Health lists the findings that you can see; `deltaweb health` lists all."


class AssigneeInvalidError(PageError, code="assignee-invalid"):
    """The account cannot take care of a finding."""

    name: str
    status = 422
    message = "{name:.80r} cannot take care of this finding."
    hint = "Choose an active account that may change the table."


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingChange:
    """What changes of a finding; a value that is left out stays, null removes it.

    Attributes:
        acknowledged: Whether a person took note of it. It stays open.
        muted_until: How long it is left out of the list: `7d`, or the last day, such
            as 2030-12-31.
        assignee: The account that takes care of it.
    """

    acknowledged: bool | Unchanged = parameter(
        UNCHANGED, None, line=Line(label="Acknowledged")
    )
    muted_until: str | Unchanged | None = parameter(
        UNCHANGED,
        None,
        line=Line(label="Muted until", most=40, codes=("span-invalid",)),
    )
    assignee: str | Unchanged | None = parameter(
        UNCHANGED,
        None,
        line=Line(
            label="Assigned to", most=150, codes=("user-not-found", "assignee-invalid")
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMute:
    """Until when a finding is muted.

    Attributes:
        until: A duration such as `7d`, or the last day.
    """

    until: str | Unchanged = parameter(
        UNCHANGED,
        "--until",
        line=Line(label="Until", most=40),
        metavar="SPAN",
        help="7d, or the last day, such as 2030-12-31",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAssignee:
    """The account that takes care of a finding.

    Attributes:
        to: Its name.
    """

    to: str | Unchanged = parameter(
        UNCHANGED,
        "--to",
        line=Line(label="To", most=150),
        metavar="USER",
        help="an active account that may change the table",
    )


def any_finding(finding_id: str) -> StoredFinding:
    """Return a finding by its number, for a command.

    Raises:
        FindingNotFoundError: If there is none.
    """
    return _finding(StoredFinding.objects.all(), finding_id)


def seen_finding(caller: User, finding_id: int) -> StoredFinding:
    """Return a finding that a user may see."""
    return _finding(StoredFinding.objects.visible_to(caller), str(finding_id))


def _finding(among: StoredFindingQuerySet, number: str) -> StoredFinding:
    is_number = number.isascii() and number.isdigit() and len(number) < MAX_DIGITS
    found = among.filter(id=int(number)).first() if is_number else None
    if found is None:
        raise FindingNotFoundError(finding_id=number)
    return found


def change_finding(
    found: StoredFinding, new: FindingChange, stamp: Stamp
) -> FindingRow:
    """Take note of a finding, mute it, or assign it.

    Raises:
        AssigneeInvalidError: If the account is not active, or may not see it.
    """
    if not isinstance(new.acknowledged, Unchanged):
        is_new = found.acknowledged_at is None
        if new.acknowledged and is_new:
            found.acknowledged_at = stamp.at
            found.acknowledged_by = stamp.actor.name
        elif not new.acknowledged:
            found.acknowledged_at, found.acknowledged_by = None, ""
    if not isinstance(new.muted_until, Unchanged):
        text = (new.muted_until or "").strip()
        found.muted_until = _muted_until(text, now=stamp.at) if text else None
        found.muted_at = stamp.at if text else None
        found.muted_by = stamp.actor.name if text else ""
    if not isinstance(new.assignee, Unchanged):
        user = _assignee(found, new.assignee) if new.assignee else None
        if user != found.assignee:
            found.assignee = user
            found.assigned_at = stamp.at if user else None
    found.save(
        update_fields=[
            *("acknowledged_at", "acknowledged_by", "assignee", "assigned_at"),
            *("muted_at", "muted_until", "muted_by"),
        ]
    )
    publish(HEALTH)
    return finding_row(found, all_rules(), stamp.at)


def _muted_until(text: str, *, now: datetime) -> datetime:
    span = parse_span(text, now=now)
    if not timedelta(0) < span <= MAX_MUTED:
        reason = "a finding is muted for at most a year, and not until the past"
        raise SpanInvalidError(text=text, reason=reason)
    return now + span


def _sets(new: FindingChange) -> Callable[[StoredFinding, Nothing, Stamp], FindingRow]:
    """Return the change of a finding to some values."""
    return lambda found, _, stamp: change_finding(found, new, stamp)


def _mute(found: StoredFinding, new: NewMute, stamp: Stamp) -> FindingRow:
    if isinstance(new.until, Unchanged):
        raise SpanInvalidError(text="", reason="give --until, or --end")
    return change_finding(found, FindingChange(muted_until=new.until), stamp)


def _assign(found: StoredFinding, new: NewAssignee, stamp: Stamp) -> FindingRow:
    if isinstance(new.to, Unchanged):
        raise AssigneeInvalidError(name="")
    return change_finding(found, FindingChange(assignee=new.to), stamp)


def _assignee(found: StoredFinding, name: str) -> User:
    user = get_user(name)
    if user not in may_take(found):
        raise AssigneeInvalidError(name=name)
    return user


def may_take(found: StoredFinding | None) -> QuerySet[User]:
    """Return the accounts that may take care of a finding; of any one for None."""
    active = User.objects.filter(is_active=True).order_by("username")
    if found is not None and found.table is not None:
        return active.filter(people_with(EDIT, found.table))
    roles = [User.Role.ADMIN]
    if found is None:
        roles.append(User.Role.EDITOR)
    return active.filter(role__in=roles)


def _facts(found: StoredFinding) -> Mapping[str, object]:
    until = found.muted_until
    return {
        "acknowledged": found.acknowledged_at is not None,
        "muted_until": until and until.isoformat(),
        "assignee": found.assignee.get_username() if found.assignee else None,
    }


def _about(found: StoredFinding) -> Mapping[str, object]:
    about = {"detail": {"rule": found.rule, "subject": found.label}}
    if found.table is None:
        return about
    return {**about, "table": found.table.full_name, "table_id": found.table.id}


def _check(_: None, __: Nothing, stamp: Stamp) -> Started:
    job = request_examination(now=stamp.at, requested_by=user_of(stamp))
    report(Action(name="finding.check", stamp=stamp, detail={"job": str(job.id)}))
    return started(job)


def _said(one: FindingRow) -> str:
    """Return what people said of a finding, in a sentence."""
    said = ["acknowledged"] if one.acknowledged_at else []
    if one.muted_until:
        said.append(f"muted until {one.muted_until:%Y-%m-%d %H:%M} UTC")
    if one.assignee:
        said.append(f"assigned to {one.assignee}")
    state = ", ".join(said) or "neither acknowledged, muted nor assigned"
    return f"Finding {one.id} of {one.subject} is {state}."


def _said_check(one: Started) -> str:
    if one.job.state == Job.State.DONE:
        return "All tables were checked."
    return "The check of all tables has started."


def _check_may(caller: User, found: StoredFinding) -> None:
    """Refuse whoever may not change the table of a finding."""
    if found.table is not None:
        require(caller, EDIT, found.table)
    elif not caller.is_admin:
        raise RoleRequiredError(role="an administrator")


FINDING: Final = Subject(
    noun="health",
    role=VIEWER,
    may=_check_may,
    scope="write",
    find=any_finding,
    metavars={"finding_id": "ID"},
    about=_about,
)
HEALTH_OF_ALL: Final = Subject(
    noun="health", role=EDITOR, scope="write", find=lambda: None
)
SAYINGS: Final = Record(
    fields={
        "acknowledged": "finding.acknowledge",
        "muted_until": "finding.mute",
        "assignee": "finding.assign",
    },
    facts=_facts,
)
UPDATE: Final = Change(
    of=FINDING,
    name="update",
    help="Acknowledge, mute or assign a finding.",
    more="A finding stays open if it is acknowledged. A muted one is not listed.",
    parameters=FindingChange,
    do=change_finding,
    result=FindingRow,
    says=lambda _: "Saved.",
    record=SAYINGS,
    call=Call("PATCH", ROUTE, view="Finding", find=seen_finding),
    page=Page(
        f"{ROUTE}/update",
        back=lambda _: resolve_url("tables:finding-list"),
        name="finding-update",
        find=seen_finding,
    ),
)
ACKNOWLEDGE: Final = Change(
    of=FINDING,
    name="acknowledge",
    help="Acknowledge a finding, which stays open.",
    parameters=Nothing,
    do=_sets(FindingChange(acknowledged=True)),
    result=FindingRow,
    says=_said,
    record=SAYINGS,
    verb=Verb(),
)
END_ACKNOWLEDGE: Final = replace(
    ACKNOWLEDGE,
    help="Take the acknowledgement of a finding back.",
    do=_sets(FindingChange(acknowledged=False)),
    verb=Verb(flag="--end"),
)
MUTE: Final = Change(
    of=FINDING,
    name="mute",
    help="Leave a finding out of the list until a date.",
    parameters=NewMute,
    do=_mute,
    result=FindingRow,
    says=_said,
    record=SAYINGS,
    verb=Verb(),
)
END_MUTE: Final = replace(
    ACKNOWLEDGE,
    name="mute",
    help="List a muted finding again.",
    do=_sets(FindingChange(muted_until=None)),
    verb=Verb(flag="--end"),
)
ASSIGN: Final = Change(
    of=FINDING,
    name="assign",
    help="Assign a finding to an account, which takes care of it.",
    parameters=NewAssignee,
    do=_assign,
    result=FindingRow,
    says=_said,
    record=SAYINGS,
    verb=Verb(),
)
END_ASSIGN: Final = replace(
    ACKNOWLEDGE,
    name="assign",
    help="End the assignment of a finding.",
    do=_sets(FindingChange(assignee=None)),
    verb=Verb(flag="--end"),
)
CHECK: Final = Change(
    of=HEALTH_OF_ALL,
    name="check",
    help="Check the health of all tables again.",
    parameters=Nothing,
    do=_check,
    is_atomic=False,
    result=Started,
    says=_said_check,
    record=("finding.check",),
    call=Call(
        *("POST", "health/check"),
        view="HealthCheck",
        status=202,
        location=lambda one: resolve_url("api:job", one.job.id),
    ),
    page=Page(
        "health/check",
        back=lambda _: resolve_url("tables:finding-list"),
        name="finding-check",
    ),
)
reads.register(
    Read(
        route="health",
        view="FindingList",
        page="tables:finding-list",
        shows=FINDINGS,
        help="List what the rules found.",
        without="open",
        role=VIEWER,
    )
)
