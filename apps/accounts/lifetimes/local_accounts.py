"""Local accounts: who signs in without a provider, and whose keys work.

With `DELTAWEB_LOCAL_ACCOUNTS=false`, one account is left for the day when the provider
is down: the oldest administrator without a provider, who signs in by a link alone.
"""

from django.conf import settings

from apps.accounts import errors
from apps.accounts.models import User


def emergency_admin() -> User | None:
    """Return the administrator who can always sign in by a link of the server."""
    return User.objects.active_admins().filter(signed_on_at__isnull=True).first()


def may_have_session(user: User) -> bool:
    """Whether a user may be signed in, by a provider or as a local account."""
    if user.signed_on_at is not None or settings.LOCAL_ACCOUNTS == "true":
        return True
    return user == emergency_admin()


def check_link(user: User) -> None:
    """Refuse a sign-in link of a user who signs in elsewhere."""
    if user.signed_on_at is not None:
        raise errors.UserOfProviderError(name=user.username)
    if not may_have_session(user):
        raise errors.LocalAccountsOffError


def check_password(user: User | None = None) -> None:
    """Refuse passwords where they are off, and of users who sign in elsewhere."""
    if settings.LOCAL_ACCOUNTS != "true":
        raise errors.LocalAccountsOffError
    if user is not None and user.signed_on_at is not None:
        raise errors.UserOfProviderError(name=user.username)


def may_have_keys(user: User) -> bool:
    """Whether the keys of a user work, as far as local accounts are concerned."""
    return user.signed_on_at is not None or settings.LOCAL_ACCOUNTS != "false"
