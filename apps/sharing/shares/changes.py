"""What administrators change of a share itself: make, describe, turn off, delete."""

from argparse import BooleanOptionalAction
from dataclasses import MISSING, dataclass, field, replace
from datetime import datetime
from typing import Final

from django.shortcuts import resolve_url

from apps.jobs.listing.resource import Started
from apps.jobs.waiting import address_of, started
from apps.pages.actions import Stamp, report
from apps.pages.changes.change import ADMIN, Call, Change, Nothing, Page, Subject, Verb
from apps.pages.changes.forms import form_of
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.page_json import OnPage, Spread
from apps.pages.request.changes import UNCHANGED, ChangeForm, Unchanged
from apps.sharing.access.grants.preparing import request_preparation
from apps.sharing.activity.actions import action_on
from apps.sharing.models import Share
from apps.sharing.names import find_share
from apps.sharing.shares import services
from apps.sharing.shares.detail import ShareDetail
from apps.sharing.shares.forms import MAX_COMMENT_LENGTH, MAX_TEXT_LENGTH
from apps.sharing.shares.listing import SHARES
from apps.sharing.shares.resources import (
    SharedTableResource,
    ShareResource,
    resource_of_share,
)
from apps.sharing.shares.switching import urls_end_text
from deltaweb.words import counted

ROUTE: Final = "shares/<str:name>"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewShare:
    """The name and the comment of a new share.

    Attributes:
        name: The name that recipients use.
        comment: A note for administrators.
    """

    name: str = parameter(MISSING)
    comment: str = parameter("", "--comment", help="a note for administrators")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareChange:
    """The values of a share that change; a value that is left out stays.

    Attributes:
        name: The new name, which recipients must use from then on.
        comment: A note for administrators; null removes it.
        description: What people with an account see of a share that is listed; null
            removes it.
        listed: Whether people with an account find its name, its description and its
            owner, and can request access to its tables.
        is_on: Whether recipients can read the share: false withdraws all of it at once.
    """

    name: str | Unchanged = parameter(
        UNCHANGED,
        None,
        line=Line(
            label="Name",
            most=MAX_TEXT_LENGTH,
            is_needed=True,
            wrong="A share needs a name.",
            codes=("name-invalid", "name-taken"),
        ),
    )
    comment: str | Unchanged | None = parameter(
        UNCHANGED,
        "--comment",
        line=Line(label="Comment", most=MAX_COMMENT_LENGTH),
        help="a note for administrators",
    )
    description: str | Unchanged | None = parameter(
        UNCHANGED,
        "--description",
        line=Line(label="Description", most=MAX_COMMENT_LENGTH),
        help="what people see of it if it is listed",
    )
    listed: bool | Unchanged = parameter(
        UNCHANGED,
        "--listed",
        action=BooleanOptionalAction,
        line=Line(label="List it for requests"),
        help="people find its name and can request access, or not",
    )
    is_on: bool | Unchanged = UNCHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """The button that turns a share on; without it, the share is turned off."""

    on: bool = parameter(
        default=False, option=None, line=Line(label="On", is_button=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """The work that is done ahead for a share of which recipients see a part.

    Attributes:
        prove: Whether to read what recipients get, and count the rows outside the
            condition.
    """

    prove: bool = parameter(
        default=False, option=None, line=Line(label="Prove", is_button=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeShare:
    """A share that was made just now, without a table."""

    resource: Spread[ShareResource]
    tables: list[SharedTableResource] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchedShare:
    """A share that was turned on or off.

    Attributes:
        off_since: Since when nobody reads it; None while it is on.
        urls_end: How long URLs work that were given out before, in a sentence.
    """

    name: str
    off_since: datetime | None
    urls_end: OnPage[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedShare:
    """A share that was deleted."""

    name: str
    deleted: bool = True


ShareForm = form_of(ShareChange, ChangeForm)


def make(_: None, new: NewShare, stamp: Stamp) -> MadeShare:
    """Make an empty share."""
    share = services.create_share(name=new.name, comment=new.comment, stamp=stamp)
    return MadeShare(resource=resource_of_share(share))


def describe(share: Share, new: ShareChange, stamp: Stamp) -> ShareResource:
    """Give a share another name or comment, or turn it off or on."""
    if not isinstance(new.name, Unchanged):
        services.rename_share(share, name=new.name, stamp=stamp)
    services.update_share(
        share,
        comment=new.comment,
        description=new.description,
        listed=new.listed,
        stamp=stamp,
    )
    if not isinstance(new.is_on, Unchanged):
        services.switch_share(share, is_on=new.is_on, stamp=stamp)
    return resource_of_share(share)


def _switch(share: Share, stamp: Stamp, *, is_on: bool) -> SwitchedShare:
    services.switch_share(share, is_on=is_on, stamp=stamp)
    urls_end = "" if is_on else urls_end_text(share, now=stamp.at)
    return SwitchedShare(name=share.name, off_since=share.off_since, urls_end=urls_end)


def _switched(one: SwitchedShare) -> str:
    if one.off_since is None:
        return f"{one.name} is on: its recipients can read it again."
    return f"{one.name} is off: no recipient can read it. {one.urls_end}"


def _prepare(share: Share, new: Preparation, stamp: Stamp) -> Started:
    asked = request_preparation(share, proves=new.prove, now=stamp.at)
    report(action_on("share.prepare", stamp, share))
    return started(asked)


def _delete(share: Share, _: Nothing, stamp: Stamp) -> DeletedShare:
    services.delete_share(share, stamp=stamp)
    return DeletedShare(name=share.name)


def _before_deletion(share: Share, _: Nothing) -> str:
    readers = share.recipients.count()
    loss = f" {counted(readers, 'recipient')} can read it now." if readers else ""
    return f"Delete the share {share.name}?{loss}"


def settings_of(share: Share) -> str:
    """Return the address of the settings of a share."""
    return resolve_url("sharing:share-settings", share.name)


NEW_SHARE: Final = Subject(noun="share", role=ADMIN, scope="share", find=lambda: None)
SHARE: Final = Subject(noun="share", role=ADMIN, scope="share", find=find_share)
NAMED: Final = replace(SHARE, metavars={"name": "share"})
SWITCHES: Final = ("share.switch_on", "share.switch_off")
CREATE: Final = Change(
    of=NEW_SHARE,
    name="create",
    help="Make an empty share.",
    parameters=NewShare,
    do=make,
    result=MadeShare,
    says=lambda one: (
        f"Made the share {one.resource.name}. Fill it with: "
        f"share add-table {one.resource.name} SCHEMA.TABLE --table NAME"
    ),
    record=("share.create",),
    verb=Verb(),
    call=Call("POST", "shares", view="ShareList"),
)
UPDATE: Final = Change(
    of=NAMED,
    name="update",
    help="Change the name and the texts of a share, list it, or turn it off or on.",
    parameters=ShareChange,
    do=describe,
    result=ShareResource,
    says=lambda _: "Saved.",
    record=(
        "share.rename",
        "share.update",
        "share.describe",
        "share.set_listed",
        *SWITCHES,
    ),
    verb=Verb(),
    call=Call("PATCH", ROUTE, view="Share"),
    page=Page("shares/<str:name>/update", back=settings_of),
)
OFF: Final = Change(
    of=NAMED,
    name="off",
    help="Turn a share off: no recipient can read it.",
    parameters=Nothing,
    do=lambda share, _, stamp: _switch(share, stamp, is_on=False),
    result=SwitchedShare,
    says=_switched,
    record=SWITCHES,
    verb=Verb(),
)
ON: Final = replace(
    OFF,
    name="on",
    help="Turn a share on again: its recipients can read it.",
    do=lambda share, _, stamp: _switch(share, stamp, is_on=True),
)
SWITCH: Final = Change(
    of=SHARE,
    name="switch",
    help="Turn a share off or on.",
    parameters=Switch,
    do=lambda share, new, stamp: _switch(share, stamp, is_on=new.on),
    result=SwitchedShare,
    says=_switched,
    record=SWITCHES,
    page=Page("shares/<str:name>/switch", back=resolve_url),
)
PREPARE: Final = Change(
    of=SHARE,
    name="prepare",
    help="Prepare files of partly shared and plain tables; files that exist are kept.",
    parameters=Preparation,
    do=_prepare,
    is_atomic=False,
    result=Started,
    says=lambda _: "Requested. The result will be on this page.",
    record=("share.prepare",),
    call=Call(
        "POST",
        f"{ROUTE}/prepare",
        view="Preparation",
        status=202,
        location=address_of,
    ),
    page=Page(f"{ROUTE}/prepare", back=resolve_url),
)
DELETE: Final = Change(
    of=SHARE,
    name="delete",
    help="Delete a share with its grants; tables and recipients stay.",
    parameters=Nothing,
    do=_delete,
    result=DeletedShare,
    says=lambda one: f"The share {one.name} is deleted; its tables stay.",
    record=("share.delete",),
    verb=Verb(question=_before_deletion),
    call=Call("DELETE", ROUTE, view="Share"),
    page=Page(
        "shares/<str:name>/delete",
        back=lambda _: resolve_url("sharing:share-list"),
        confirm=lambda share: share.name,
    ),
)
reads.register(
    Read(
        route="shares",
        view="ShareList",
        page="sharing:share-list",
        shows=SHARES,
        help="List shares.",
        role=ADMIN,
    ),
    Read(
        route=ROUTE,
        view="Share",
        page="sharing:share-detail",
        shows=ShareDetail,
        without="edit add lang",
        help="Get a share with its tables, recipients and reads.",
        role=ADMIN,
    ),
)
