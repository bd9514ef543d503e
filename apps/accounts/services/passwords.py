"""Signing in by a password, and what wrong ones cost.

Every try is counted before its password is hashed, and counted no more once it turns
out right: guesses that are sent at once cannot pass a limit together. Nor does an
address keep all others waiting: one of its passwords is checked at a time, and a try
that finds no place counts. Both limits are those of an address, so nobody locks
somebody else out from elsewhere, and a link always works.
"""

from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth import authenticate
from django.http import HttpRequest

from apps.accounts import errors
from apps.accounts.lifetimes.local_accounts import check_password
from apps.accounts.models import FailedSignIn, User
from apps.accounts.services.hashing import address_slots
from apps.accounts.services.records import failed_sign_in_action, sign_in_action
from apps.pages.actions import Stamp, report
from apps.pages.request.addresses import network_of
from apps.pages.request.rate_limits import RateLimit

FAILURE_WINDOW: Final = timedelta(minutes=15)
FAILURES_ALLOWED: Final = 10  # for one name from one address, within the window
FAILURES_OF_AN_ADDRESS: Final = 20  # for all names, within the window
KEEP_FAILURES: Final = timedelta(days=1)
MAX_NAME: Final = 150
BY_ADDRESS: Final = RateLimit(
    file="rates-sign-ins",
    rate_per_s=FAILURES_OF_AN_ADDRESS / FAILURE_WINDOW.total_seconds(),
    burst=FAILURES_OF_AN_ADDRESS,
)


def sign_in(request: HttpRequest, *, name: str, password: str, stamp: Stamp) -> User:
    """Check a name and a password and return the user.

    `stamp` says from where, behind proxies that are trusted; success and failure are
    recorded.
    """
    check_password()
    key, network = name.lower()[:MAX_NAME], network_of(stamp.actor.address)
    _count_for_address(network, stamp.at)
    existing = User.objects.named(name).first()
    username = existing.username if existing else name
    with address_slots.taken(network):
        attempt = _count_for_name(key, network, stamp.at)
        try:
            user = authenticate(request, username=username, password=password)
        except errors.PasswordsBusyError:
            attempt.delete()  # it says nothing of the name
            raise
    if not isinstance(user, User) or user.signed_on_at is not None:
        error = errors.SignInError()
        report(failed_sign_in_action(existing, stamp, by="password", error=error))
        raise error
    FailedSignIn.objects.filter(name=key, address=network).delete()
    BY_ADDRESS.give_back(network.encode(), now_s=stamp.at.timestamp())
    report(sign_in_action(user, stamp, by="password"))
    return user


def _count_for_address(network: str, now: datetime) -> None:
    """Count a try of an address, whatever the name."""
    wait_s = BY_ADDRESS.take(network.encode(), now_s=now.timestamp())
    if wait_s > 0:
        raise errors.TooManySignInsError(
            where="from your address", wait=timedelta(seconds=wait_s)
        )


def _count_for_name(key: str, network: str, now: datetime) -> FailedSignIn:
    """Count a try of an address for a name, and return its row.

    The row is there before the rows are counted: of tries at once, the last one to
    count sees all of them.
    """
    FailedSignIn.objects.filter(failed_at__lt=now - KEEP_FAILURES).delete()
    attempt = FailedSignIn.objects.create(name=key, address=network, failed_at=now)
    failures = FailedSignIn.objects.against(key, since=now - FAILURE_WINDOW)
    if failures.filter(address=network).count() > FAILURES_ALLOWED:
        attempt.delete()
        raise errors.TooManySignInsError(where="for this name", wait=FAILURE_WINDOW)
    return attempt
