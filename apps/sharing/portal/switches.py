"""The switches for reading in the browser. Each is off at first."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.conf import settings
from django.shortcuts import resolve_url

from apps.news.mails import mail_is_set_up
from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    ADMIN,
    Call,
    Change,
    Nothing,
    Page,
    Record,
    Subject,
    Verb,
    opposite,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.request.changes import UNCHANGED, Unchanged, value_of
from apps.sharing.activity.actions import things_of
from apps.sharing.errors import AddressNotConfirmedError
from apps.sharing.models import Recipient, Share
from apps.sharing.names import find_recipient, find_share

SERVER_OFF: Final = (
    "The server does not offer it: set DELTAWEB_BROWSER_READING=true, and restart it."
)
MAIL_OFF: Final = "The server sends no mail: set DELTAWEB_SMTP_HOST, and restart it."
ROUTE: Final = "recipients/<str:name>"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserReading:
    """Whether a share or a recipient is open in the browser.

    Attributes:
        in_browser: Whether it is set here. A recipient that is not open still reads
            in the browser the shares that are.
        server_offers_it: Whether the server lets recipients read in the browser at all.
    """

    name: str
    in_browser: bool
    server_offers_it: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRotation:
    """Whether a recipient can rotate its own token in the browser."""

    name: str
    may_rotate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedAddress:
    """The address that a recipient can sign in by.

    Attributes:
        address: The contact of the recipient, which the provider confirms by this.
    """

    address: str | Unchanged = parameter(
        UNCHANGED,
        "--address",
        line=Line(label="Address", most=254, is_needed=True),
        metavar="ADDRESS",
        help="its contact, which you confirm by this",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSignIn:
    """Whether a recipient can sign in to its page by e-mail.

    Attributes:
        since: When that began; null if it cannot. A change of the contact ends it.
        server_sends_mail: Whether the server has a mail relay.
    """

    name: str
    address: str | None
    since: datetime | None
    server_sends_mail: bool


def _set_reading(thing: Share | Recipient, *, in_browser: bool) -> BrowserReading:
    thing.in_browser = in_browser
    thing.save(update_fields=["in_browser"])
    return BrowserReading(
        name=thing.name,
        in_browser=in_browser,
        server_offers_it=settings.BROWSER_READING,
    )


def _said_of_share(one: BrowserReading) -> str:
    if not one.in_browser:
        return f"The share {one.name} is closed in the browser."
    said = f"The recipients of {one.name} can read it in the browser."
    return said if one.server_offers_it else f"{said} {SERVER_OFF}"


def _said_of_recipient(one: BrowserReading) -> str:
    if not one.in_browser:
        return (
            f"{one.name} can read in the browser only the shares that are open there."
        )
    said = f"{one.name} can read all its shares in the browser."
    return said if one.server_offers_it else f"{said} {SERVER_OFF}"


def _set_rotation(recipient: Recipient, *, may_rotate: bool) -> OwnRotation:
    recipient.may_rotate = may_rotate
    recipient.save(update_fields=["may_rotate"])
    return OwnRotation(name=recipient.name, may_rotate=may_rotate)


def _said_of_rotation(one: OwnRotation) -> str:
    if one.may_rotate:
        return f"{one.name} can rotate its token in the browser."
    return f"{one.name} cannot rotate its token."


def _allow_mail(
    recipient: Recipient, confirmed: ConfirmedAddress, stamp: Stamp
) -> MailSignIn:
    sent = value_of(confirmed.address, "", removed="").strip()
    if not recipient.mail_address or sent != recipient.mail_address:
        raise AddressNotConfirmedError(name=recipient.name, sent=sent)
    return _set_mail(recipient, recipient.mail_sign_in_since or stamp.at)


def _set_mail(recipient: Recipient, since: datetime | None) -> MailSignIn:
    recipient.mail_sign_in_since = since
    recipient.save(update_fields=["mail_sign_in_since"])
    return MailSignIn(
        name=recipient.name,
        address=recipient.mail_address or None,
        since=since,
        server_sends_mail=mail_is_set_up(),
    )


def _said_of_mail(one: MailSignIn) -> str:
    if one.since is None:
        return f"{one.name} cannot sign in by e-mail."
    said = f"{one.name} can sign in by a link that is sent to {one.address}."
    return said if one.server_sends_mail else f"{said} {MAIL_OFF}"


def _settings(recipient: Recipient) -> str:
    return resolve_url("sharing:recipient-settings", recipient.name)


SHARE: Final = Subject(
    noun="share",
    role=ADMIN,
    scope="share",
    find=find_share,
    metavars={"name": "share"},
    about=things_of,
)
RECIPIENT: Final = Subject(
    noun="recipient", role=ADMIN, scope="share", find=find_recipient, about=things_of
)
OPEN_SHARE: Final = Change(
    of=SHARE,
    name="browser",
    help="Let the recipients of a share read it in the browser.",
    parameters=Nothing,
    do=lambda one, _, __: _set_reading(one, in_browser=True),
    result=BrowserReading,
    says=_said_of_share,
    record=Record("share.open_browser"),
    verb=Verb(),
    call=Call("PUT", "shares/<str:name>/browser", view="ShareInBrowser", status=200),
    page=Page("shares/<str:name>/browser", back=resolve_url),
)
CLOSE_SHARE: Final = opposite(
    OPEN_SHARE,
    lambda one, _: _set_reading(one, in_browser=False),
    help="Stop the recipients of a share from reading it in the browser.",
    more="Their sessions end, unless they can read something else there.",
    record="share.close_browser",
)
OPEN_RECIPIENT: Final = Change(
    of=RECIPIENT,
    name="browser",
    help="Let a recipient read all its shares in the browser.",
    parameters=Nothing,
    do=lambda one, _, __: _set_reading(one, in_browser=True),
    result=BrowserReading,
    says=_said_of_recipient,
    record=Record("recipient.open_browser"),
    verb=Verb(),
    call=Call("PUT", f"{ROUTE}/browser", view="RecipientInBrowser", status=200),
    page=Page(f"{ROUTE}/browser", back=resolve_url),
)
CLOSE_RECIPIENT: Final = opposite(
    OPEN_RECIPIENT,
    lambda one, _: _set_reading(one, in_browser=False),
    help="Stop a recipient from reading shares in the browser that are not open there.",
    record="recipient.close_browser",
)
ALLOW_ROTATION: Final = Change(
    of=RECIPIENT,
    name="own-rotation",
    help="Let a recipient rotate its own token in the browser.",
    more="Its earlier tokens end 24 hours after a rotation.",
    parameters=Nothing,
    do=lambda one, _, __: _set_rotation(one, may_rotate=True),
    result=OwnRotation,
    says=_said_of_rotation,
    record=Record("recipient.allow_rotation"),
    verb=Verb(),
    call=Call("PUT", f"{ROUTE}/own-rotation", view="OwnRotation", status=200),
    page=Page(f"{ROUTE}/own-rotation", back=resolve_url),
)
FORBID_ROTATION: Final = opposite(
    ALLOW_ROTATION,
    lambda one, _: _set_rotation(one, may_rotate=False),
    help="Stop a recipient from rotating its own token.",
    record="recipient.forbid_rotation",
)
ALLOW_MAIL: Final = Change(
    of=RECIPIENT,
    name="mail-sign-in",
    help="Let a recipient sign in to its page by a link that is sent to its contact.",
    more="You confirm that the address belongs to it. A change of the contact ends it.",
    parameters=ConfirmedAddress,
    do=_allow_mail,
    result=MailSignIn,
    says=_said_of_mail,
    record=Record("recipient.allow_mail_sign_in"),
    verb=Verb(),
    call=Call("PUT", f"{ROUTE}/mail-sign-in", view="MailSignIn", status=200),
    page=Page(f"{ROUTE}/mail-sign-in", back=_settings),
)
FORBID_MAIL: Final = opposite(
    ALLOW_MAIL,
    lambda one, _: _set_mail(one, None),
    help="Stop a recipient from signing in by e-mail.",
    more="Links that were sent and sessions that they opened end.",
    record="recipient.forbid_mail_sign_in",
)
