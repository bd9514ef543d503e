"""How long tokens live, as people write it."""

from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from apps.pages.changes.parameters import Line, Span, parameter
from apps.pages.request.spans import check_future, parse_span
from apps.sharing.errors import LifetimeInvalidError

DEFAULT_LIFETIME: Final = timedelta(days=90)
PRESETS: Final = {"7d": "7 days", "30d": "30 days", "90d": "90 days"}
OVERLAPS: Final = {"0": "end now", "24h": "24 hours", "7d": "7 days"}


def parse_lifetime(text: str, *, now: datetime) -> timedelta:
    """Read how long a token shall live from `now` on.

    Args:
        text: `90d`, `24h`, `30m`, or a date in UTC, through which the token lives.
        now: When it begins.
    """
    span = parse_span(text, now=now, refused=LifetimeInvalidError)
    return check_lifetime(span, text=text)


def read_lifetime(text: str, *, now: datetime) -> timedelta:
    """Read how long a token shall live; the usual time for an empty text."""
    return parse_lifetime(text, now=now) if text else default_lifetime()


def parse_overlap(text: str, *, now: datetime) -> timedelta:
    """Read how long tokens stay valid that are replaced; 0 ends them at once."""
    span = parse_span(text, now=now, refused=LifetimeInvalidError)
    return check_lifetime(span, text=text) if span else span


def parse_delay(text: str, *, now: datetime) -> timedelta:
    """Read after which time a token ends; 0 ends it at once."""
    return parse_span(text, now=now, refused=LifetimeInvalidError)


def lifetimes() -> dict[str, str]:
    """Return the lifetimes of a token that a form offers, each with its label."""
    most = max_lifetime()
    days = {key: timedelta(days=int(key.removesuffix("d"))) for key in PRESETS}
    return {key: label for key, label in PRESETS.items() if days[key] <= most}


def first_lifetime() -> str:
    """Return the lifetime that a form begins with: the longest that it offers."""
    return next(reversed(lifetimes()), f"{max_lifetime().days}d")


def check_overlap(text: str) -> timedelta:
    """Return an overlap that a form may have."""
    return parse_overlap(text, now=timezone.now())


def check_delay(text: str) -> timedelta:
    """Return a delay that a form may have: not 0, because a button revokes a token."""
    span = parse_delay(text, now=timezone.now())
    return check_future(span, text=text, refused=LifetimeInvalidError)


LIFETIME: Final = Span(
    own="until",
    presets=lifetimes,
    question="Choose how long the token is valid.",
    check=lambda text: parse_lifetime(text, now=timezone.now()),
)
"""The lifetime of a token in a form."""


def default_lifetime() -> timedelta:
    """Return how long a token lives by default."""
    return min(DEFAULT_LIFETIME, max_lifetime())


def max_lifetime() -> timedelta:
    """Return how long a token may live at most."""
    return timedelta(days=settings.TOKEN_MAX_DAYS)


def check_lifetime(span: timedelta, *, text: str = "") -> timedelta:
    """Return a lifetime that a token may have."""
    written = text or f"{span.total_seconds() / 86_400:g}d"
    check_future(span, text=written, refused=LifetimeInvalidError)
    if span > max_lifetime():
        reason = f"a token is valid for at most {settings.TOKEN_MAX_DAYS} days"
        raise LifetimeInvalidError(text=written, reason=reason)
    return span


def expires_parameter() -> Any:  # noqa: ANN401 (of a field)
    """Return the field of how long a token lives that is to be made."""
    usual, most = default_lifetime().days, max_lifetime().days
    return parameter(
        "",
        "--expires",
        line=Line(label="Token valid for", name="lifetime", span=LIFETIME),
        metavar="SPAN",
        help=f"{usual}d (the default), 24h or a date; {most}d at most",
    )
