"""Activation: how a recipient fetches its profile file by a one-time link.

Looking never spends a link, so scanners of mail cannot burn it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction

from apps.accounts.tokens import sha256
from apps.audit.models import AuditEvent
from apps.audit.services import record
from apps.sharing.access.browser import open_session, open_shares
from apps.sharing.access.callers import check_address, granted_shares
from apps.sharing.activity.refusals import REASON
from apps.sharing.errors import (
    LinkExpiredError,
    LinkRevokedError,
    LinkUnknownError,
    LinkUsedError,
    LinkWithdrawnError,
    SharingStateError,
    TokenStateError,
)
from apps.sharing.issuing.profile import ProfileFile, profile_file_name
from apps.sharing.issuing.tokens import take_secret
from apps.sharing.models import (
    ActivationLink,
    BrowserSession,
    Recipient,
    RecipientToken,
)

_VIEW: Final = "activation.view"
_DOWNLOAD: Final = "activation.download"
_OPEN: Final = "activation.open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who follows a link, as the record of it says; never with the nonce."""

    address: str
    user_agent: str
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """What a link would open."""

    recipient: Recipient
    shares: tuple[str, ...]
    file_name: str
    link_expires_at: datetime
    token_expires_at: datetime


def look_up(nonce: str, *, address: str, now: datetime) -> Activation:
    """Return what a link would open, without spending it."""
    return _opened(_find(nonce), address=address, now=now)


def view_activation(nonce: str, *, caller: Caller, now: datetime) -> Activation:
    """Return what a link would open, without spending it, and record the look.

    A link that was never issued leaves no record: anybody could fill it with those.
    """
    link = _find(nonce)
    event = _event(_VIEW, link.token, caller, now)
    try:
        return _opened(link, address=caller.address, now=now)
    except SharingStateError as error:
        _refuse(event, error)
        raise
    finally:
        record(event)


def activate(nonce: str, *, caller: Caller, now: datetime) -> ProfileFile:
    """Spend a link and return the profile; of two requests at once one succeeds.

    Success and refusal are both recorded, but for a link that was never issued.
    """
    link = _find(nonce)
    event = _event(_DOWNLOAD, link.token, caller, now)
    try:
        with transaction.atomic():
            profile = _spend(link, address=caller.address, now=now)
            record(event)
    except SharingStateError as error:
        _refuse(event, error)
        record(event)
        raise
    return profile


def open_in_browser(
    nonce: str, *, caller: Caller, now: datetime
) -> tuple[BrowserSession, str]:
    """Begin the one session that a link opens, and return it with its secret.

    A link serves for that and for the profile, in any order. Success and refusal are
    both recorded, but for a link that was never issued.
    """
    link = _find(nonce)
    event = _event(_OPEN, link.token, caller, now)
    try:
        with transaction.atomic():
            opened = _open(link, address=caller.address, now=now)
            record(event)
    except SharingStateError as error:
        _refuse(event, error)
        record(event)
        raise
    return opened


def opens_in_browser(nonce: str, *, address: str, now: datetime) -> bool:
    """Return whether a link can still open a session in the browser of an address."""
    try:
        link = _find(nonce)
        _check_session(link, now=now)
        check_address(link.token.recipient, address)
    except SharingStateError:
        return False
    return open_shares(link.token.recipient).exists()


def _open(
    link: ActivationLink, *, address: str, now: datetime
) -> tuple[BrowserSession, str]:
    tokens = RecipientToken.objects.select_for_update().filter(id=link.token_id)
    if tokens.first() is None:
        raise LinkUnknownError
    _check_session(link, now=now)
    opened = ActivationLink.objects.filter(
        id=link.id,
        opened_at__isnull=True,
        withdrawn_at__isnull=True,
        expires_at__gt=now,
    ).update(opened_at=now)
    if not opened:
        _check_session(_reloaded(link), now=now)
        raise LinkUsedError(used_at=None)
    return open_session(
        link.token, by=BrowserSession.OpenedBy.LINK, address=address, now=now
    )


def _check_session(link: ActivationLink, *, now: datetime) -> None:
    """Refuse a link that opens no session, whether or not the profile was fetched."""
    if link.opened_at is not None:
        raise LinkUsedError(used_at=link.opened_at)
    if link.token.revoked_at is not None:
        raise LinkRevokedError
    was_fetched_otherwise = link.token.activated_at is not None and not link.used_at
    if link.withdrawn_at is not None or was_fetched_otherwise:
        raise LinkWithdrawnError
    if now >= link.ends_at:
        raise LinkExpiredError(expired_at=link.ends_at)


def _refuse(event: AuditEvent, error: SharingStateError) -> None:
    event.status, event.error_code = error.status, error.code
    event.detail = {**event.detail, REASON: error.message}


def _opened(link: ActivationLink, *, address: str, now: datetime) -> Activation:
    _check(link, address=address, now=now)
    recipient = link.token.recipient
    return Activation(
        recipient=recipient,
        shares=tuple(share.name for share in granted_shares(recipient)),
        file_name=profile_file_name(recipient.name),
        link_expires_at=link.ends_at,
        token_expires_at=link.token.ends_at,
    )


def _find(nonce: str) -> ActivationLink:
    links = ActivationLink.objects.select_related("token__recipient")
    link = links.filter(nonce_sha256=sha256(nonce)).first()
    if link is None:
        raise LinkUnknownError
    return link


def _check(link: ActivationLink, *, address: str, now: datetime) -> None:
    token = link.token
    check_address(token.recipient, address)
    if link.used_at is not None:
        raise LinkUsedError(used_at=link.used_at)
    if token.revoked_at is not None:
        raise LinkRevokedError
    if link.withdrawn_at is not None or token.activated_at is not None:
        raise LinkWithdrawnError
    if now >= link.ends_at:
        raise LinkExpiredError(expired_at=link.ends_at)


def _spend(link: ActivationLink, *, address: str, now: datetime) -> ProfileFile:
    # The token before the link, as everywhere: else two that meet wait for each other.
    tokens = RecipientToken.objects.select_for_update().filter(id=link.token_id)
    if tokens.first() is None:
        raise LinkUnknownError
    _check(link, address=address, now=now)
    # One UPDATE over the link's own columns decides: a join would be evaluated
    # before the row is locked, and let two requests through.
    spent = ActivationLink.objects.filter(
        id=link.id,
        used_at__isnull=True,
        withdrawn_at__isnull=True,
        expires_at__gt=now,
    ).update(used_at=now, used_from=address[:64])
    if not spent:
        _check(_reloaded(link), address=address, now=now)
        raise LinkUsedError(used_at=None)
    try:
        return take_secret(link.token, address=address, now=now)
    except TokenStateError as error:
        raise LinkWithdrawnError from error


def _reloaded(link: ActivationLink) -> ActivationLink:
    return ActivationLink.objects.select_related("token__recipient").get(id=link.id)


def _event(
    action: str, token: RecipientToken, caller: Caller, now: datetime
) -> AuditEvent:
    return AuditEvent(
        at=now,
        kind=AuditEvent.Kind.ACTIVATION,
        action=action,
        request_id=caller.request_id[:64],
        address=caller.address[:64],
        user_agent=caller.user_agent[:300],
        recipient=token.recipient.name,
        recipient_id=token.recipient_id,
        token_id=token.id,
        token_prefix=token.prefix,
    )
