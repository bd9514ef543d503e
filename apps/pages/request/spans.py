"""Spans of time as people write them: 90d, 24h, 30m, a last day, or a moment."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from apps.pages.errors import PageError
from deltaweb.errors import DeltawebError

_SPAN: Final = re.compile(r"(\d{1,6})\s*(d|h|m)", re.IGNORECASE | re.ASCII)
SECOND: Final = timedelta(seconds=1)
_UNITS: Final = {"d": "days", "h": "hours", "m": "minutes"}


class SpanInvalidError(PageError, code="span-invalid"):
    """A text is no span of time, or it is over."""

    text: str
    reason: str
    status = 422
    message = "{text:.40r} is not valid: {reason}."
    hint = "Write 90d, 24h, 30m or a date such as 2030-12-31."


def parse_span(
    text: str,
    *,
    now: datetime,
    refused: Callable[..., DeltawebError] = SpanInvalidError,
) -> timedelta:
    """Read a span of time; 0 is one, and a day in UTC that is over a negative one.

    Args:
        text: `90d`, `24h`, `30m`, a date in UTC or a moment.
        now: When the span begins.
        refused: The error of a text that is not a span, of its text and a reason.
    """
    stripped = text.strip()
    if stripped == "0":
        return timedelta(0)
    if found := _SPAN.fullmatch(stripped):
        return timedelta(**{_UNITS[found[2].lower()]: int(found[1])})
    try:
        return _end_of(stripped) - now
    except (ValueError, OverflowError, TypeError) as error:
        reason = "it is neither a span of time nor a date"
        raise refused(text=text, reason=reason) from error


def check_future(
    span: timedelta,
    *,
    text: str,
    refused: Callable[..., DeltawebError] = SpanInvalidError,
) -> timedelta:
    """Return a span of time that has not ended when it begins.

    Args:
        span: A span, which may be 0 or negative.
        text: As it was written.
        refused: As `parse_span` takes it.
    """
    if span <= timedelta(0):
        reason = "it is in the past" if "-" in text else "it would end at once"
        raise refused(text=text, reason=reason)
    return span


def _end_of(text: str) -> datetime:
    """Return a moment that names its zone, or the last second of a day in UTC.

    It is not the next midnight, because pages, commands and answers would then name the
    next day.
    """
    if "T" in text:
        return datetime.fromisoformat(text)
    begin = datetime.combine(date.fromisoformat(text), time(), tzinfo=UTC)
    return begin + timedelta(days=1) - SECOND


def parse_end(text: str, *, now: datetime) -> datetime | None:
    """Read when something ends that begins now; None for an empty text, for ever."""
    if not text.strip():
        return None
    return now + check_future(parse_span(text, now=now), text=text)
