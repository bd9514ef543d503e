"""Links that sign somebody in once."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final
from urllib.parse import urljoin, urlsplit

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from apps.accounts import errors
from apps.accounts.lifetimes.local_accounts import check_link
from apps.accounts.models import SignInLink, User
from apps.accounts.services.records import (
    account_action,
    failed_sign_in_action,
    sign_in_action,
)
from apps.accounts.tokens import new_token, sha256
from apps.operate.switches.guards import check_sign_in
from apps.pages.actions import Stamp, report
from apps.pages.errors import PageError

UNTIL_WITHDRAWN: Final = timedelta(days=3650)


@transaction.atomic
def issue_sign_in_link(
    *,
    user: User,
    stamp: Stamp,
    lifetime: timedelta | None = None,
    is_one_click: bool = False,
    mailed_to: str = "",
) -> str:
    """Make a link that signs the user in once.

    Args:
        lifetime: How long it is good for; fifteen minutes for None.
        is_one_click: Whether GET may spend it, for a request from this machine.
        mailed_to: The address that it is mailed to, and nowhere else. Using the link
            confirms the address.

    Returns:
        The absolute URL. It is the only copy: the database has a hash.
    """
    if not user.is_active:
        raise errors.UserDisabledError(name=user.username)
    check_link(user)
    usual = timedelta(seconds=settings.SIGN_IN_LINK_LIFETIME_S)
    SignInLink.objects.filter(expires_at__lt=stamp.at - usual).delete()
    token = new_token()
    SignInLink.objects.create(
        user=user,
        token_sha256=sha256(token),
        created_at=stamp.at,
        expires_at=stamp.at + (lifetime or usual),
        is_one_click=is_one_click,
        mailed_to=mailed_to,
    )
    report(account_action("user.link", user, stamp))
    # Among the pages of accounts alone: a command need not load those of all apps.
    path = reverse("use-link", urlconf="apps.accounts.urls", args=[token])
    return urljoin(settings.PUBLIC_URL, path)


def withdraw_sign_in_link(*, url: str) -> None:
    """Make a link good for nothing that nobody has used; one that is unknown is so."""
    token = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    SignInLink.objects.filter(token_sha256=sha256(token), used_at=None).delete()


def find_sign_in_link(*, token: str, stamp: Stamp) -> SignInLink:
    """Return a link that can be used, and leave it unspent.

    A refusal is recorded if the link was ours.
    """
    with _recording_refusals(token, stamp):
        link = _link_of(token)
        if link is None or not link.user.is_active:
            raise errors.SignInLinkInvalidError
        check_link(link.user)
        check_sign_in(link.user)
        if link.used_at:
            raise errors.SignInLinkUsedError
        if link.expires_at <= stamp.at:
            raise errors.SignInLinkExpiredError
    return link


def use_sign_in_link(*, token: str, stamp: Stamp) -> User:
    """Spend a link and return its user; of two requests at once one succeeds.

    `stamp` says from where; success is recorded, and refusal of a link that was ours.
    """
    with _recording_refusals(token, stamp), transaction.atomic():
        # One UPDATE over the link's own columns decides: a join would be evaluated
        # before the row is locked, and let two requests through.
        spent = SignInLink.objects.filter(
            token_sha256=sha256(token), used_at__isnull=True, expires_at__gt=stamp.at
        ).update(used_at=stamp.at)
        link = _link_of(token)
        if link is None or not link.user.is_active:
            raise errors.SignInLinkInvalidError
        check_link(link.user)
        check_sign_in(link.user)  # the link stays unspent
        if not spent:
            used, late = errors.SignInLinkUsedError, errors.SignInLinkExpiredError
            raise used if link.used_at else late
        report(sign_in_action(link.user, stamp, by="link"))
        if link.mailed_to:
            _confirm(link, stamp)
    return link.user


def _confirm(link: SignInLink, stamp: Stamp) -> None:
    """Confirm the address that a link was mailed to, if its user still has it."""
    unconfirmed = User.objects.filter(
        id=link.user_id, email=link.mailed_to, email_confirmed_at=None
    )
    if unconfirmed.update(email_confirmed_at=stamp.at):
        link.user.email_confirmed_at = stamp.at
        detail = {"email": link.mailed_to}
        report(account_action("user.confirm_email", link.user, stamp, **detail))


def user_of_link(*, token: str) -> User | None:
    """Return whose link it is or was; None for one that was never issued."""
    return link.user if (link := _link_of(token)) else None


@contextmanager
def _recording_refusals(token: str, stamp: Stamp) -> Iterator[None]:
    try:
        yield
    except PageError as error:
        if owner := user_of_link(token=token):
            report(failed_sign_in_action(owner, stamp, by="link", error=error))
        raise


def _link_of(token: str) -> SignInLink | None:
    links = SignInLink.objects.select_related("user")
    return links.filter(token_sha256=sha256(token)).first()
