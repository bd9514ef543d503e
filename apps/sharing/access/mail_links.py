"""Links of mails, each of which opens one session of a recipient in the browser.

A link is signed and stored nowhere. It names its token, when the provider confirmed the
address, when the link ends, and the id of the session that it opens. That id exists
once, so a second use finds it taken.
"""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.core import signing
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac

from apps.sharing.access.browser import open_session, open_shares
from apps.sharing.access.callers import check_address, check_live
from apps.sharing.errors import (
    MailLinkEndedError,
    NotInBrowserError,
    TokenExpiredError,
    TokenRevokedError,
)
from apps.sharing.models import BrowserSession, Recipient, RecipientToken

LIFETIME: Final = timedelta(minutes=15)
MAX_LINK_LENGTH: Final = 500
_SALT: Final = "deltaweb.portal.mail"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailLink:
    """A link whose signature is ours.

    Attributes:
        session_id: The id of the session that it opens.
        since: `Recipient.mail_sign_in_since` when it was made, in ISO form.
    """

    session_id: uuid.UUID
    token: RecipientToken
    since: str
    ends_at: datetime


def address_digest(address: str) -> str:
    """Return what jobs and limits name an address by, in any spelling of its case."""
    text = address.strip().casefold()
    return salted_hmac(_SALT, text, algorithm="sha256").hexdigest()


def recipients_at(digest: str) -> list[Recipient]:
    """Return the recipients that can sign in by a mail to an address, by name."""
    confirmed = Recipient.objects.filter(mail_sign_in_since__isnull=False)
    return [
        one
        for one in confirmed.order_by("name_key")
        if address_digest(one.mail_address) == digest and open_shares(one).exists()
    ]


def token_for_mail(recipient: Recipient, *, now: datetime) -> RecipientToken | None:
    """Return the token that a session by e-mail belongs to: the last one to end.

    A token that was replaced, or is about to be, opens no session by e-mail.
    """
    kept = RecipientToken.objects.unended(now).filter(
        recipient=recipient, retires_at__isnull=True, replaced_by__isnull=True
    )
    return kept.order_by("-expires_at", "-created_at").first()


def link_secret(token: RecipientToken, *, now: datetime) -> str:
    """Return the secret of a new link."""
    since = token.recipient.mail_sign_in_since
    confirmed = since.isoformat() if since else ""  # which no link is good for
    ends = int((now + LIFETIME).timestamp())
    parts = [uuid.uuid4().hex, token.id.hex, confirmed, ends]
    return signing.dumps(parts, salt=_SALT)


def link_of(secret: str) -> MailLink:
    """Return the link of a secret, whether or not it opens something.

    Raises:
        MailLinkEndedError: If we have not signed it, or its token is gone.
    """
    if len(secret) > MAX_LINK_LENGTH:
        raise MailLinkEndedError
    try:
        session_id, token_id, since, ends = signing.loads(secret, salt=_SALT)
    except signing.BadSignature:
        raise MailLinkEndedError from None
    tokens = RecipientToken.objects.select_related("recipient")
    token = tokens.filter(id=uuid.UUID(token_id)).first()
    if token is None:
        raise MailLinkEndedError
    return MailLink(
        session_id=uuid.UUID(session_id),
        token=token,
        since=since,
        ends_at=datetime.fromtimestamp(ends, tz=UTC),
    )


def check_link(link: MailLink, *, address: str, now: datetime) -> None:
    """Refuse a link that opens no session, without spending it.

    Raises:
        MailLinkEndedError: If it has ended, with its token or by itself, or was used.
        AccessError: If the address is not allowed, or nothing is open.
    """
    token, recipient = link.token, link.token.recipient
    since = recipient.mail_sign_in_since
    try:
        check_live(token, now=now)
    except (TokenExpiredError, TokenRevokedError):
        raise MailLinkEndedError from None
    if (
        since is None
        or since.isoformat() != link.since
        or token.retires_at is not None
        or token.replaced_by_id is not None
        or link.ends_at <= now
        or BrowserSession.objects.filter(id=link.session_id).exists()
    ):
        raise MailLinkEndedError
    check_address(recipient, address)
    if not open_shares(recipient).exists():
        raise NotInBrowserError


def open_by_mail(
    link: MailLink, *, address: str, now: datetime
) -> tuple[BrowserSession, str]:
    """Begin the one session of a link; of two requests at once one succeeds.

    Raises:
        MailLinkEndedError: As `check_link` has it.
        AccessError: Likewise.
    """
    check_link(link, address=address, now=now)
    try:
        with transaction.atomic():
            return open_session(
                link.token,
                by=BrowserSession.OpenedBy.MAIL,
                address=address,
                now=now,
                session_id=link.session_id,
            )
    except IntegrityError:  # the id of the session exists: another was first
        raise MailLinkEndedError from None
