"""How long tokens live, as people write it."""

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings

from apps.pages.request import spans
from apps.sharing.errors import LifetimeInvalidError

DEFAULT_LIFETIME: Final = timedelta(days=90)


def parse_lifetime(text: str, *, now: datetime) -> timedelta:
    """Read how long a token shall live from `now` on.

    Args:
        text: `90d`, `24h`, `30m`, or a date in UTC, through which the token lives.
        now: When it begins.
    """
    span = parse_span(text, now=now)
    if span <= timedelta(0):
        reason = "it is in the past" if "-" in text else "it would end at once"
        raise LifetimeInvalidError(text=text, reason=reason)
    return check_lifetime(span, text=text)


def read_lifetime(text: str, *, now: datetime) -> timedelta:
    """Read how long a token shall live; the usual time for an empty text."""
    return parse_lifetime(text, now=now) if text else default_lifetime()


def parse_span(text: str, *, now: datetime) -> timedelta:
    """Read a span of time, such as how long a replaced token stays; 0 is one."""
    try:
        return spans.parse_span(text, now=now)
    except spans.SpanInvalidError as error:
        raise LifetimeInvalidError(text=text, reason=error.reason) from error


def default_lifetime() -> timedelta:
    """Return how long a token lives by default."""
    return min(DEFAULT_LIFETIME, max_lifetime())


def max_lifetime() -> timedelta:
    """Return how long a token may live at most."""
    return timedelta(days=settings.TOKEN_MAX_DAYS)


def check_lifetime(span: timedelta, *, text: str = "") -> timedelta:
    """Return a lifetime that a token may have."""
    written = text or f"{span.total_seconds() / 86_400:g}d"
    if span <= timedelta(0):
        raise LifetimeInvalidError(text=written, reason="it would end at once")
    if span > max_lifetime():
        reason = f"a token is valid for at most {settings.TOKEN_MAX_DAYS} days"
        raise LifetimeInvalidError(text=written, reason=reason)
    return span
