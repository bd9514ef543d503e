"""Suspension of keys, subscriptions and streams of people who no longer sign on.

API keys never meet the provider. Without a bound, the key of a person who left the
company would work for ever.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q

from apps.accounts.models import User


def key_life() -> timedelta:
    """Return how long keys work after the last sign-on of their person."""
    return timedelta(days=settings.SSO_KEY_DAYS)


def is_suspended(user: User, now: datetime) -> bool:
    """Whether keys, subscriptions and open streams of a user are suspended.

    A local account, which no provider knows, is suspended only if it was suspended when
    it became local. That ends when its user signs in.
    """
    suspended_at = suspension_of(user)
    return user.is_signed_out or (suspended_at is not None and now > suspended_at)


def end_at_sign_in(user: User, **_: object) -> None:
    """End the suspension of an account that became local; Django calls this."""
    if user.is_signed_out and user.signed_on_at is None:
        user.is_signed_out = False
        user.save(update_fields=["is_signed_out"])


def suspension_of(user: User) -> datetime | None:
    """Return when a user is suspended without another sign-on; None for never."""
    signed_on_at = user.signed_on_at
    return None if signed_on_at is None else signed_on_at + key_life()


def not_suspended(now: datetime) -> Q:
    """Return the condition of users who are not suspended, for a query over users."""
    fresh = Q(signed_on_at__isnull=True) | Q(signed_on_at__gte=now - key_life())
    return Q(is_signed_out=False) & fresh
