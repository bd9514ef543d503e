"""Holds: versions of a shared table that stay readable for a recipient until a time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from django.shortcuts import resolve_url

from apps.pages.actions import Stamp, report
from apps.pages.changes.change import (
    ADMIN,
    Call,
    Change,
    Nothing,
    Page,
    Record,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.pages.request.spans import check_future, parse_span
from apps.sharing.activity.actions import action_on, things_of
from apps.sharing.errors import HoldInvalidError, LifetimeInvalidError
from apps.sharing.models import Hold, LastRead, Recipient, SharedTable
from apps.sharing.names import find_recipient, find_share, find_shared_table

FIRST_HOLD: Final = "30d"
MAX_HOLD_DAYS: Final = 365
ROUTE: Final = "recipients/<str:name>/holds/<str:share>/<str:table>"


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldResource:
    """A version that stays readable, with all later ones, until a moment.

    Attributes:
        name: The name of the recipient.
    """

    name: str
    share: str
    table: str
    version: int
    ends_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedHold:
    """A table of which nothing is held for a recipient any more.

    Attributes:
        name: The recipient.
        ended: Whether there was a hold.
    """

    name: str
    share: str
    table: str
    ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHold:
    """The values of a hold. A value that is left out stays as an earlier hold has it.

    Attributes:
        until: A duration such as `30d`, or the last day. If left out, an existing hold
            keeps its end, and a new one lasts 30 days.
        version: The oldest version to keep. Null, or leaving it out for a new hold,
            means the version that was read last.
    """

    until: str | Unchanged = parameter(
        UNCHANGED,
        "--until",
        line=Line(label="Until", most=20, codes=("lifetime-invalid",)),
        metavar="SPAN",
        help=f"{FIRST_HOLD} or a date; default: the current end, or {FIRST_HOLD}",
    )
    version: int | Unchanged | None = parameter(
        UNCHANGED,
        "--version",
        type=int,
        metavar="N",
        help="oldest version to keep; default: the held one, or the last one read",
    )


class Held(NamedTuple):
    """A recipient and the table that it reads."""

    recipient: Recipient
    shared: SharedTable


def held_table(name: str, share: str, table: str) -> Held:
    """Return a recipient and a shared table by their names."""
    recipient = find_recipient(name)
    return Held(recipient, find_shared_table(find_share(share), table))


def hold_versions(held: Held, new: NewHold, stamp: Stamp) -> HoldResource:
    """Keep a version of a table and all later ones readable for a recipient.

    Raises:
        HoldInvalidError: If the recipient may not read the table or that version, or
            if no version is named and it has read none.
        LifetimeInvalidError: If the hold would end at once, or after more than a year.
    """
    recipient, shared = held
    earlier = current_hold(recipient, shared, now=stamp.at)
    if not recipient.grants.filter(share=shared.share).exists():
        raise _refused(held, "has no grant for it")
    version = new.version
    if isinstance(version, Unchanged):
        version = earlier.version if earlier else None
    if version is None:
        version = _last_read(held)
    first, newest = shared.first_version, shared.table.version
    if newest is None:
        raise _refused(held, "is offered no version yet")
    if not first <= version <= newest:
        raise _refused(held, f"is offered versions {first} to {newest}")
    if isinstance(new.until, Unchanged) and earlier is not None:
        ends_at = earlier.ends_at
    else:
        until = FIRST_HOLD if isinstance(new.until, Unchanged) else new.until
        ends_at = stamp.at + hold_span(until, now=stamp.at)
    Hold.objects.update_or_create(
        recipient=recipient,
        shared_table=shared,
        defaults={"version": version, "ends_at": ends_at, "made_at": stamp.at},
    )
    return HoldResource(**_names(held), version=version, ends_at=ends_at)


def hold_span(text: str, *, now: datetime) -> timedelta:
    """Read how long a hold lasts, which is at most a year."""
    span = parse_span(text, now=now, refused=LifetimeInvalidError)
    check_future(span, text=text, refused=LifetimeInvalidError)
    if span > timedelta(days=MAX_HOLD_DAYS):
        reason = f"a hold lasts at most {MAX_HOLD_DAYS} days"
        raise LifetimeInvalidError(text=text, reason=reason)
    return span


def end_hold(held: Held, _: Nothing, stamp: Stamp) -> EndedHold:
    """End a hold at once."""
    holds = Hold.objects.filter(recipient=held.recipient, shared_table=held.shared)
    ended, _deleted = holds.delete()
    if ended:
        report(action_on("hold.remove", stamp, *held, ended=True))
    return EndedHold(**_names(held), ended=bool(ended))


def current_hold(
    recipient: Recipient, shared: SharedTable, *, now: datetime
) -> Hold | None:
    """Return the hold of a table for a recipient that has not ended."""
    holds = Hold.objects.filter(recipient=recipient, shared_table=shared)
    return holds.filter(ends_at__gt=now).first()


def _last_read(held: Held) -> int:
    """Return the version that a recipient read last."""
    reads = LastRead.objects.filter(
        shared_table=held.shared, token__recipient=held.recipient
    )
    last = reads.order_by("-read_at").first()
    if last is None:
        raise _refused(held, "has not read it yet, so give the version")
    return last.version


def _refused(held: Held, reason: str) -> HoldInvalidError:
    return HoldInvalidError(
        recipient=held.recipient.name, table=held.shared.full_name, reason=reason
    )


def _names(held: Held) -> dict[str, Any]:
    return {
        "name": held.recipient.name,
        "share": held.shared.share.name,
        "table": held.shared.full_name,
    }


def _said(one: HoldResource) -> str:
    stay = f"Version {one.version} of {one.table} and later ones stay readable"
    return f"{stay} until {one.ends_at:%Y-%m-%d}."


def _said_ended(one: EndedHold) -> str:
    return f"The hold on {one.table} {'has ended' if one.ended else 'did not exist'}."


HELD: Final = Subject(
    noun="recipient",
    role=ADMIN,
    scope="share",
    find=held_table,
    metavars={"table": "schema.table"},
    about=lambda held: things_of(*held),
)
HOLD: Final = Change(
    of=HELD,
    name="hold",
    help="Keep versions of a shared table readable for a recipient.",
    more="Vacuum and log clean-up do not delete their files until the hold ends.",
    parameters=NewHold,
    do=hold_versions,
    result=HoldResource,
    says=_said,
    record=Record("hold.add"),
    verb=Verb(),
    call=Call("PUT", ROUTE, view="Hold"),
    page=Page(
        "recipients/<str:name>/hold", back=lambda held: resolve_url(held.recipient)
    ),
)
END_HOLD: Final = Change(
    of=HELD,
    name="hold",
    help="End a hold on a shared table for a recipient.",
    parameters=Nothing,
    do=end_hold,
    result=EndedHold,
    says=_said_ended,
    record=("hold.remove",),
    verb=Verb(flag="--end"),
    call=Call("DELETE", ROUTE, view="Hold"),
    page=Page(
        "recipients/<str:name>/end-hold",
        back=lambda held: resolve_url(held.recipient),
        name="recipient-end-hold",
    ),
)
