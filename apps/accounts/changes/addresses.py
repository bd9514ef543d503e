"""The changes of e-mail addresses, by users and administrators."""

from dataclasses import MISSING, dataclass, replace
from typing import Final

from django.shortcuts import resolve_url

from apps.accounts import selectors, services
from apps.accounts.changes.keys import ONESELF
from apps.accounts.changes.users import PAGES, ROUTE, USER, user_of_id
from apps.accounts.models import User
from apps.accounts.selectors import AccountResource, UserResource
from apps.pages.actions import Stamp
from apps.pages.changes.change import Call, Change, Nothing, Page, Verb
from apps.pages.changes.parameters import Line, parameter
from apps.pages.request.changes import UNCHANGED, Unchanged

MAX_ADDRESS: Final = 254
ADDRESS: Final = Line(
    label="E-mail address",
    most=MAX_ADDRESS,
    placeholder="you@example.org",
    codes=("user-invalid", "too-many-mails"),
    name="email",
)
NEEDED: Final = replace(ADDRESS, is_needed=True, wrong="Give an e-mail address.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAddress:
    """Another e-mail address.

    Attributes:
        email: The address. A mailed link confirms it.
    """

    email: str = parameter(MISSING, metavar="ADDRESS", help="the address", line=NEEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """The address that a sign-in link is mailed to.

    Attributes:
        email: The address, which becomes that of the user. If left out, the address
            that the user has confirmed.
    """

    email: str | Unchanged = parameter(
        UNCHANGED,
        "--to",
        metavar="ADDRESS",
        help="set this address first; default: the one that the user has confirmed",
        line=ADDRESS,
    )


def set_address(user: User, new: NewAddress, stamp: Stamp) -> UserResource:
    """Set the address of a user."""
    changed = services.set_address(user=user, address=new.email, stamp=stamp)
    return selectors.user_resource(changed, now=stamp.at)


def set_own_address(user: User, new: NewAddress, stamp: Stamp) -> AccountResource:
    """Set one's own address."""
    changed = services.set_address(user=user, address=new.email, stamp=stamp)
    return selectors.account_resource(changed, now=stamp.at)


def confirm_again(user: User, _: Nothing, stamp: Stamp) -> AccountResource:
    """Mail another link that confirms one's own address."""
    changed = services.request_confirmation(user=user, stamp=stamp)
    return selectors.account_resource(changed, now=stamp.at)


def remove_address(user: User, _: Nothing, stamp: Stamp) -> UserResource:
    """Remove the address of a user."""
    return set_address(user, NewAddress(email=""), stamp)


def remove_own_address(user: User, _: Nothing, stamp: Stamp) -> AccountResource:
    """Remove one's own address."""
    return set_own_address(user, NewAddress(email=""), stamp)


def mail_link(user: User, new: Invitation, stamp: Stamp) -> UserResource:
    """Mail a link that signs a user in."""
    address = "" if isinstance(new.email, Unchanged) else new.email
    changed = services.mail_sign_in(user=user, address=address, stamp=stamp)
    return selectors.user_resource(changed, now=stamp.at)


def address_text(one: UserResource) -> str:
    """Return what a changed address means for its user."""
    if not one.email:
        return f"{one.name} has no e-mail address, and gets no mail."
    if one.email_confirmed:
        return f"{one.email} is confirmed."
    return (
        f"The address is {one.email}. It gets mail once it is confirmed by the link "
        "that is sent to it."
    )


def _account(_: object) -> str:
    return resolve_url("accounts:me")


EMAIL: Final = Change(
    of=USER,
    name="email",
    help="Set the e-mail address of a user; a mailed link confirms it.",
    parameters=NewAddress,
    do=set_address,
    result=UserResource,
    says=address_text,
    record=("user.set_email",),
    verb=Verb(),
    call=Call("PUT", f"{ROUTE}/email", view="UserEmail"),
)
MAIL_LINK: Final = Change(
    of=USER,
    name="mail-link",
    help="Mail a link that signs a user in once, within 24 hours.",
    parameters=Invitation,
    do=mail_link,
    result=UserResource,
    says=lambda one: f"A sign-in link is sent to {one.email}.",
    record=("user.mail_link", "user.set_email"),
    verb=Verb(),
    call=Call("POST", f"{ROUTE}/mailed-links", view="UserMailedLinks", status=202),
    page=Page(
        f"{PAGES}/<int:user_id>/mail-link",
        back=lambda _: resolve_url("accounts:user-list"),
        name="mail-link",
        find=user_of_id,
        needs_session=True,
    ),
)
OWN_EMAIL: Final = Change(
    of=ONESELF,
    name="email",
    help="Set your e-mail address; a mailed link confirms it.",
    parameters=NewAddress,
    do=set_own_address,
    result=AccountResource,
    says=address_text,
    record=("user.set_email",),
    call=Call("PUT", "me/email", view="MyEmail"),
    page=Page("me/email", back=_account, name="set-email", needs_session=True),
)
REMOVE_EMAIL: Final = Change(
    of=USER,
    name="remove-email",
    help="Remove the e-mail address of a user, who then gets no mail.",
    parameters=Nothing,
    do=remove_address,
    result=UserResource,
    says=address_text,
    record=("user.set_email",),
    verb=Verb(),
    call=Call("DELETE", f"{ROUTE}/email", view="UserEmail"),
)
REMOVE_OWN_EMAIL: Final = Change(
    of=ONESELF,
    name="remove-email",
    help="Remove your e-mail address, so that you get no mail.",
    parameters=Nothing,
    do=remove_own_address,
    result=AccountResource,
    says=address_text,
    record=("user.set_email",),
    call=Call("DELETE", "me/email", view="MyEmail"),
    page=Page(
        "me/email/remove", back=_account, name="remove-email", needs_session=True
    ),
)
CONFIRM_AGAIN: Final = Change(
    of=ONESELF,
    name="confirm-email",
    help="Send another link that confirms your e-mail address.",
    parameters=Nothing,
    do=confirm_again,
    result=AccountResource,
    says=lambda one: f"A link is sent to {one.email}. Earlier links no longer work.",
    record=("user.mail_confirmation",),
    call=Call("POST", "me/email/confirmations", view="MyEmailLinks", status=202),
    page=Page(
        "me/email/send", back=_account, name="send-email-link", needs_session=True
    ),
)
