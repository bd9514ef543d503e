"""The grants of a share: the recipients that may read it."""

from dataclasses import dataclass, fields
from typing import Final, NamedTuple

from django.shortcuts import resolve_url
from django.utils import timezone

from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    ADMIN,
    Call,
    Change,
    Nothing,
    Page,
    Subject,
    locked,
)
from apps.pages.changes.read import Read, reads
from apps.pages.page_json import OnPage
from apps.sharing.models import Share
from apps.sharing.names import find_recipient, find_share
from apps.sharing.recipients import services
from apps.sharing.recipients.listing import recipient_resource, recipient_rows
from apps.sharing.recipients.resource import RecipientResource

ROUTE: Final = "shares/<str:name>/grants"
PAGE: Final = "shares/<str:name>/recipients"


class Pair(NamedTuple):
    """A share, and the name of a recipient that is looked up by the change.

    So the page shows its form again if there is no such recipient.
    """

    share: Share
    recipient: str


def find_pair(name: str, recipient: str) -> Pair:
    """Return a share with the name of a recipient."""
    return Pair(find_share(name), recipient)


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted(RecipientResource):
    """A recipient that may read a share.

    Attributes:
        share: The share.
    """

    share: OnPage[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungranted:
    """A recipient that may no longer read a share.

    Attributes:
        removed: Whether it could read the share before.
    """

    recipient: str
    share: str
    removed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """The recipients that may read a share."""

    recipients: list[RecipientResource]


def add_grant(pair: Pair, _: Nothing, stamp: Stamp) -> Granted:
    """Let a recipient read a share."""
    reader = locked(find_recipient(pair.recipient))
    services.grant(pair.share, reader, stamp=stamp)
    resource = recipient_resource(reader, now=stamp.at)
    values = {one.name: getattr(resource, one.name) for one in fields(resource)}
    return Granted(**values, share=pair.share.name)


def remove_grant(pair: Pair, _: Nothing, stamp: Stamp) -> Ungranted:
    """Take a share from a recipient."""
    reader = locked(find_recipient(pair.recipient))
    removed = services.ungrant(pair.share, reader, stamp=stamp)
    return Ungranted(recipient=reader.name, share=pair.share.name, removed=removed)


def readers_of(name: str) -> Readers:
    """Return the recipients that may read a share."""
    found = recipient_rows(find_share(name).recipients.all(), now=timezone.now())
    return Readers(recipients=[row.resource for row in found])


GRANT: Final = Subject(noun="grant", role=ADMIN, scope="share", find=find_pair)
ADD: Final = Change(
    of=GRANT,
    name="add",
    help="Grant a share to a recipient, from its next request on.",
    parameters=Nothing,
    do=add_grant,
    result=Granted,
    says=lambda one: f"{one.name} can now read {one.share}.",
    record=("grant.add",),
    call=Call("PUT", f"{ROUTE}/<str:recipient>", view="Grant"),
    page=Page(f"{PAGE}/add", back=lambda pair: resolve_url(pair.share)),
)
REMOVE: Final = Change(
    of=GRANT,
    name="remove",
    help="Revoke the grant of a recipient, from its next request on.",
    parameters=Nothing,
    do=remove_grant,
    result=Ungranted,
    says=lambda one: f"{one.recipient} can no longer read {one.share}.",
    record=("grant.remove",),
    call=Call("DELETE", f"{ROUTE}/<str:recipient>", view="Grant"),
    page=Page(f"{PAGE}/remove", back=lambda pair: resolve_url(pair.share)),
)
reads.register(
    Read(
        route=ROUTE,
        view="GrantList",
        finds=readers_of,
        shows=Readers,
        help="List the recipients that can read a share.",
        role=ADMIN,
    )
)
