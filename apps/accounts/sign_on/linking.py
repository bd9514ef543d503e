"""Link an account to a person of a provider, or make it local again."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import F

from apps.accounts import errors
from apps.accounts.lifetimes.suspension import is_suspended
from apps.accounts.models import Identity, SignInLink, User
from apps.accounts.services.users import check_not_last_admin
from apps.accounts.sign_on.admission import MAX_SUBJECT
from apps.accounts.sign_on.people import PROXY
from apps.news.publishing import publish
from apps.news.topics import of_user
from apps.pages.actions import Stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedIdentity:
    """An account, and the person who signs in to it.

    Attributes:
        name: The name of the account.
        issuer: The address of the provider, or `proxy`.
        subject: The `sub` of the provider, or the name in the proxy's header.
    """

    name: str
    issuer: str
    subject: str


def link(user: User, *, issuer: str, subject: str, stamp: Stamp) -> LinkedIdentity:
    """Let a person sign in to an account, which loses its password and links."""
    place = issuer or settings.OIDC_ISSUER or PROXY
    if not subject.strip() or len(subject) > MAX_SUBJECT or not subject.isprintable():
        raise errors.UserInvalidError(reason=f"{subject[:80]!r} is not a subject.")
    if Identity.objects.filter(issuer=place, subject=subject).exists():
        raise errors.IdentityTakenError(issuer=place, subject=subject)
    check_not_last_admin(user)
    Identity.objects.create(
        user=user, issuer=place, subject=subject, is_invited=True, created_at=stamp.at
    )
    user.set_unusable_password()
    user.signed_on_at = stamp.at
    user.save(update_fields=["password", "signed_on_at"])
    _end_sessions(user)
    return LinkedIdentity(name=user.username, issuer=place, subject=subject)


def unlink(user: User, *, now: datetime) -> None:
    """Make an account local again, which ends the sign-ins from a provider.

    A suspended account stays suspended until its user signs in here. Otherwise, its
    keys would work again without a sign-in.
    """
    user.identities.all().delete()
    user.is_signed_out = is_suspended(user, now)
    user.signed_on_at = None
    user.save(update_fields=["signed_on_at", "is_signed_out"])
    _end_sessions(user)


def _end_sessions(user: User) -> None:
    SignInLink.objects.filter(user=user, used_at__isnull=True).delete()
    User.objects.filter(id=user.id).update(
        session_generation=F("session_generation") + 1
    )
    publish(of_user(user.id))
