"""Sessions of people whom a proxy names: begun, renewed and ended by its header."""

from datetime import timedelta
from time import monotonic
from typing import Final, cast

from django.contrib.auth import login, logout
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from apps.accounts.errors import SignOnRefusedError
from apps.accounts.lifetimes.sessions import BEGAN_AT, is_over
from apps.accounts.models import Identity, User
from apps.accounts.sign_on.admission import Person, rules_of_settings
from apps.accounts.sign_on.header import digest_of
from apps.accounts.sign_on.people import sign_on
from apps.news.publishing import publish
from apps.news.topics import of_session
from apps.pages.actions import stamp_of

BACKEND: Final = "django.contrib.auth.backends.ModelBackend"
DIGEST: Final = "proxy_digest"
REFUSED_FOR_S: Final = 60.0
MAX_REFUSALS: Final = 1000
refusals: dict[str, tuple[float, SignOnRefusedError]] = {}
RENEWED_EVERY: Final = timedelta(hours=1)


def follow_proxy(request: HttpRequest, person: Person | None) -> None:
    """Let the session be that of a person; for None, end one that the proxy began."""
    if person is None:
        if DIGEST in request.session:
            _end(request)
        return
    digest, now = digest_of(person, rules_of_settings()), timezone.now()
    user = request.user
    is_same = user.is_authenticated and request.session.get(DIGEST) == digest
    if is_same and not _is_due(request, now.timestamp()):
        return
    before = request.session.session_key
    identity = _signed_on(request, person, digest)
    if is_same and identity.user_id == user.pk:
        request.session[BEGAN_AT] = now.timestamp()
        return
    login(request, identity.user, backend=BACKEND)
    request.session[DIGEST] = digest
    publish(of_session(before))


def _signed_on(request: HttpRequest, person: Person, digest: str) -> Identity:
    """Sign a person on. A refusal is recorded once a minute: each request meets it."""
    refused_at_s, error = refusals.get(digest, (-REFUSED_FOR_S, None))
    if error is not None and monotonic() - refused_at_s < REFUSED_FOR_S:
        raise error
    try:
        return sign_on(person, rules_of_settings(), stamp_of(request))
    except SignOnRefusedError as refusal:
        if len(refusals) >= MAX_REFUSALS:
            refusals.clear()
        refusals[digest] = monotonic(), refusal
        _end(request)
        raise


def leave_proxy_session(request: HttpRequest) -> None:
    """Ignore a session of the proxy where the header does not count."""
    user = request.user

    def user_elsewhere() -> AbstractBaseUser | AnonymousUser:
        return AnonymousUser() if DIGEST in request.session else user

    request.user = cast("User", SimpleLazyObject(user_elsewhere))


def _is_due(request: HttpRequest, now_s: float) -> bool:
    """Whether the sign-on is noted again: rules and suspensions look at its time."""
    began_at_s = request.session.get(BEGAN_AT, 0)
    is_old = now_s - began_at_s > RENEWED_EVERY.total_seconds()
    return is_old or is_over(request.session, timezone.now())


def _end(request: HttpRequest) -> None:
    session = of_session(request.session.session_key)
    logout(request)
    publish(session)
