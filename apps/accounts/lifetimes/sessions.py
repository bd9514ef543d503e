"""The bounded age of sessions: counted from the sign-in, whatever happens since."""

from datetime import UTC, datetime, timedelta
from typing import Final

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.utils import timezone

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


def is_over(session: SessionBase, now: datetime) -> bool:
    """Whether a session is too old. One that does not say when it began is."""
    end = ends_at(session)
    return end is None or end <= now
