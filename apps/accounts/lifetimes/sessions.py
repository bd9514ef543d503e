"""The bounded age of sessions, counted from the sign-in even if they are used."""

from datetime import UTC, datetime, timedelta
from typing import Final

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.lifetimes.suspension import suspension_of
from apps.accounts.models import User

BEGAN_AT: Final = "signed_in_at"


def session_age() -> timedelta:
    """Return the longest age of a session."""
    return timedelta(seconds=settings.SESSION_COOKIE_AGE)


def mark_begin(request: HttpRequest, **_: object) -> None:
    """Note when a session begins; Django calls this at each sign-in."""
    request.session[BEGAN_AT] = timezone.now().timestamp()


def ends_at(session: SessionBase) -> datetime | None:
    """Return when a session ends; None for one without a sign-in."""
    began_at = session.get(BEGAN_AT)
    if not isinstance(began_at, int | float):
        return None
    return datetime.fromtimestamp(began_at, tz=UTC) + session_age()


def stream_end(request: HttpRequest) -> datetime | None:
    """Return when a stream ends: with its session, or as its user is suspended."""
    user = request.user
    suspended_at = suspension_of(user) if isinstance(user, User) else None
    return min(filter(None, (ends_at(request.session), suspended_at)), default=None)


def is_over(session: SessionBase, now: datetime) -> bool:
    """Whether a session is too old. One that does not say when it began is."""
    end = ends_at(session)
    return end is None or end <= now
