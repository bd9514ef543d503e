"""The changes of sign-on: the accounts that people of a provider have."""

from dataclasses import dataclass
from typing import Final

from apps.accounts import selectors
from apps.accounts.changes.users import ROUTE, USER
from apps.accounts.models import User
from apps.accounts.selectors import UserResource
from apps.accounts.sign_on import linking
from apps.accounts.sign_on.linking import LinkedIdentity
from apps.pages.actions import Stamp
from apps.pages.changes.change import Call, Change, Nothing, Record, Verb
from apps.pages.changes.parameters import Line, parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class NewIdentity:
    """The person who signs in to an account.

    Attributes:
        subject: The `sub` of the provider, or the name in the proxy's header.
        issuer: The address of the provider, or `proxy`; empty for the one in use.
    """

    subject: str = parameter(
        "",  # its verb makes the account local as well, and needs none then
        "--subject",
        metavar="SUB",
        line=Line(label="Subject", most=255, is_needed=True),
        help="the sub of the provider, or the name in the header of the proxy",
    )
    issuer: str = parameter(
        "",
        "--issuer",
        metavar="URL",
        line=Line(label="Issuer", most=400),
        help="the issuer, or 'proxy'; default: the one that is set up",
    )


def link(user: User, new: NewIdentity, stamp: Stamp) -> LinkedIdentity:
    """Let a person of a provider sign in to an account."""
    return linking.link(user, issuer=new.issuer, subject=new.subject, stamp=stamp)


def unlink(user: User, _: Nothing, stamp: Stamp) -> UserResource:
    """Make an account local again."""
    linking.unlink(user, now=stamp.at)
    return selectors.user_resource(user, now=stamp.at)


IDENTITY: Final = Change(
    of=USER,
    name="identity",
    help="Let a person of the sign-on provider sign in to an account.",
    more="The account has no password and no sign-in links from then on.",
    parameters=NewIdentity,
    do=link,
    result=LinkedIdentity,
    says=lambda one: f"{one.subject} of {one.issuer} signs in as {one.name}.",
    record=Record("user.identity"),
    verb=Verb(),
    call=Call("POST", f"{ROUTE}/identity", view="Identity"),
)
UNLINK: Final = Change(
    of=USER,
    name="identity",
    help="Make an account of the sign-on provider local again.",
    more="The keys of a suspended account work again after its user has signed in.",
    parameters=Nothing,
    do=unlink,
    result=UserResource,
    says=lambda one: f"{one.name} is a local account.",
    record=Record("user.unlink"),
    verb=Verb(flag="--remove"),
    call=Call("DELETE", f"{ROUTE}/identity", view="Identity"),
)
