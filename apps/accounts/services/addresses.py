"""The e-mail addresses of users: set, confirmed by a mailed link, or by a claim.

An address that is not confirmed gets one kind of mail: the link that confirms it. Two
users may have the same address, because a refusal would say who has an account.
"""

from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urljoin

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse

from apps.accounts import errors
from apps.accounts.models import AddressLink, SignInLink, User
from apps.accounts.services import mailing
from apps.accounts.services.records import account_action
from apps.accounts.services.sign_in_links import issue_sign_in_link
from apps.accounts.tokens import new_token, sha256
from apps.news.mails import mail_is_set_up, send_text
from apps.pages.actions import (
    Actor,
    FieldChange,
    Stamp,
    report,
    report_changes,
)
from apps.pages.request.rate_limits import RateLimit

LIFETIME: Final = timedelta(hours=24)
MAX_ADDRESS: Final = 254
OF_USER: Final = RateLimit(file="rates-account-mails", rate_per_s=1 / 1200, burst=5)
OF_ADDRESS: Final = RateLimit(file="rates-addresses", rate_per_s=1 / 1200, burst=5)


def checked_address(text: str) -> str:
    """Return an address without spaces around it; "" means no address.

    Raises:
        UserInvalidError: If it is not an e-mail address.
    """
    address = text.strip()
    if not address:
        return ""
    try:
        validate_email(address)
    except ValidationError:
        address = ""
    if not address or len(address) > MAX_ADDRESS:
        reason = f"{text.strip():.80} is not an e-mail address."
        raise errors.UserInvalidError(reason=reason)
    return address


@transaction.atomic
def set_address(*, user: User, address: str, stamp: Stamp) -> User:
    """Set the address of a user, and mail a link that confirms it.

    Args:
        address: "" removes the address.
    """
    address = checked_address(address)
    if address != user.email:
        _store(user, address, confirmed_at=None, stamp=stamp)
        if address and mail_is_set_up():
            _queue(user, mailing.CONFIRM, stamp)
    return user


@transaction.atomic
def request_confirmation(*, user: User, stamp: Stamp) -> User:
    """Mail another link that confirms the address of a user."""
    if not user.email or user.email_confirmed_at is not None:
        raise errors.NothingToConfirmError(name=user.username)
    _check_mail()
    _queue(user, mailing.CONFIRM, stamp)
    report(account_action("user.mail_confirmation", user, stamp, email=user.email))
    return user


@transaction.atomic
def mail_sign_in(*, user: User, address: str = "", stamp: Stamp) -> User:
    """Mail a link that signs a user in, as an invitation.

    Args:
        address: The address to set first. "" is the one that the user has confirmed.
    """
    _check_mail()
    if not user.is_active:
        raise errors.UserDisabledError(name=user.username)
    if address:
        address = checked_address(address)
        if address != user.email:
            _store(user, address, confirmed_at=None, stamp=stamp)
    elif not user.mail_address:
        raise errors.MailAddressMissingError(name=user.username)
    _queue(user, mailing.SIGN_IN, stamp)
    report(account_action("user.mail_link", user, stamp, email=user.email))
    return user


@transaction.atomic
def take_verified_address(*, user: User, address: str, stamp: Stamp) -> User:
    """Set an address that a sign-on provider has verified; it counts as confirmed."""
    address = checked_address(address)
    if address and address != user.mail_address:
        _store(user, address, confirmed_at=stamp.at, stamp=stamp)
    return user


def find_address_link(*, token: str, now: datetime) -> AddressLink:
    """Return a link that can confirm an address, and leave it unspent.

    Raises:
        AddressLinkInvalidError: If it is unknown, used, replaced or too old, or the
            user has another address by now.
    """
    links = AddressLink.objects.select_related("user")
    link = links.filter(token_sha256=sha256(token), expires_at__gt=now).first()
    if link is None or not link.user.is_active or link.user.email != link.address:
        raise errors.AddressLinkInvalidError
    return link


@transaction.atomic
def confirm_address(*, token: str, stamp: Stamp) -> User:
    """Spend a link and confirm its address; of two requests at once one succeeds.

    Raises:
        AddressLinkInvalidError: As `find_address_link` has it.
    """
    link = find_address_link(token=token, now=stamp.at)
    spent, _ = AddressLink.objects.filter(token_sha256=link.token_sha256).delete()
    known = User.objects.filter(id=link.user_id, email=link.address)
    if not spent or not known.update(email_confirmed_at=stamp.at):
        raise errors.AddressLinkInvalidError
    user = link.user
    user.email_confirmed_at = stamp.at
    report(
        account_action("user.confirm_email", user, _own(user, stamp), email=user.email)
    )
    return user


def send_account_mail(asked: mailing.MailAsked, *, now: datetime) -> bool:
    """Make the link of a requested mail, and send it.

    Returns:
        Whether there was something to send: the user still has that address.

    Raises:
        MailRefusedError: If the relay does not take it.
    """
    user = User.objects.filter(id=asked.user_id, is_active=True).first()
    if user is None or user.email != asked.address:
        return False
    if asked.purpose == mailing.CONFIRM:
        if user.email_confirmed_at is not None:
            return False
        _send_confirmation(user, now)
    else:
        _send_sign_in(user, asked, now)
    return True


def _send_confirmation(user: User, now: datetime) -> None:
    token = new_token()
    values = {
        "address": user.email,
        "token_sha256": sha256(token),
        "expires_at": now + LIFETIME,
    }
    AddressLink.objects.update_or_create(user=user, defaults=values)
    path = reverse("confirm-address", urlconf="apps.accounts.urls", args=[token])
    text = (
        f"The account {user.username} of {settings.PROVIDER_NAME} has this e-mail "
        "address now.\n\n"
        "Open this link within 24 hours, and press Confirm:\n\n"
        f"{urljoin(settings.PUBLIC_URL, path)}\n\n"
        "If this account is not yours, ignore this mail.\n"
    )
    send_text(user.email, f"Confirm your address for {settings.PROVIDER_NAME}", text)


def _send_sign_in(user: User, asked: mailing.MailAsked, now: datetime) -> None:
    stamp = Stamp(Actor(name=asked.asked_by), now)
    url = issue_sign_in_link(
        user=user, stamp=stamp, lifetime=LIFETIME, mailed_to=user.email
    )
    text = (
        f"{asked.asked_by} sends you a link that signs you in to "
        f"{settings.PROVIDER_NAME} as {user.username}.\n\n"
        "Open it within 24 hours, and press Sign in:\n\n"
        f"{url}\n\n"
        "It works once. Do not pass it on: it signs in as you.\n"
    )
    send_text(user.email, f"Sign in to {settings.PROVIDER_NAME}", text)


def _store(
    user: User, address: str, *, confirmed_at: datetime | None, stamp: Stamp
) -> None:
    """Set an address, and end the links that were mailed to the one before."""
    change = FieldChange("user.set_email", user.email, address)
    user.email, user.email_confirmed_at = address, confirmed_at
    user.save(update_fields=["email", "email_confirmed_at"])
    AddressLink.objects.filter(user=user).delete()
    mailed = SignInLink.objects.filter(user=user, used_at=None)
    mailed.exclude(mailed_to="").delete()
    report_changes(account_action("", user, stamp), [change])


def _queue(user: User, purpose: str, stamp: Stamp) -> None:
    """Queue a mail, unless the person or the address had many already."""
    if not stamp.actor.is_command:
        person = str(stamp.actor.user_id).encode()
        now_s = stamp.at.timestamp()
        waits_s = (
            OF_USER.take(person, now_s=now_s),
            OF_ADDRESS.take(user.email.casefold().encode(), now_s=now_s),
        )
        if max(waits_s) > 0:
            raise errors.TooManyMailsError(wait=timedelta(seconds=max(waits_s)))
    asked_by = stamp.actor.name
    mailing.queue(
        mailing.MailAsked(
            user_id=user.pk, purpose=purpose, address=user.email, asked_by=asked_by
        )
    )


def _check_mail() -> None:
    if not mail_is_set_up():
        raise errors.MailNotSetUpError


def _own(user: User, stamp: Stamp) -> Stamp:
    """Return the stamp of a user who confirms without a session."""
    return Stamp(
        Actor(
            name=user.username,
            user_id=user.pk,
            address=stamp.actor.address,
            user_agent=stamp.actor.user_agent,
        ),
        stamp.at,
    )
