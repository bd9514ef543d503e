"""Counts of the notifications that choices would have sent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from apps.accounts.models import User
from apps.notices.events.visibility import visible_events
from apps.notices.following.distribution import breaks_or_other, keys_of, wants
from apps.notices.models import Event, Follow

PERIOD: Final = timedelta(days=30)
MOST: Final = 5_000  # events that are looked at
VERSION: Final = "table.version"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedNotices:
    """How many notifications there would have been in 30 days.

    Attributes:
        is_whole: Whether all events of the period were looked at.
    """

    count: int
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakingShare:
    """How many versions a webhook was concerned with, and how many of them broke."""

    versions: int
    breaking: int


def count_of(follow: Follow, *, now: datetime) -> CountedNotices:
    """Return how many notifications the choices of a follower would have sent."""
    events, is_whole = _recent(follow.kinds, now)
    wanted = [one for one in _heard(events, [follow]) if wants(follow, one)]
    seen = visible_events(follow.user, wanted)
    return CountedNotices(count=len(seen), is_whole=is_whole)


def breaking_share(
    user: User, follows: Sequence[Follow], *, now: datetime
) -> BreakingShare:
    """Return how many versions of what is followed were breaking ones."""
    events, _ = _recent([VERSION], now)
    seen = visible_events(user, _heard(events, follows))
    breaking = sum(breaks_or_other(one) for one in seen)
    return BreakingShare(versions=len(seen), breaking=breaking)


def _recent(kinds: Sequence[str], now: datetime) -> tuple[list[Event], bool]:
    found = Event.objects.filter(
        kind__in=kinds, at__gte=now - PERIOD, number__isnull=False
    )
    events = list(found.order_by("-number")[: MOST + 1])
    return events[:MOST], len(events) <= MOST


def _heard(events: Sequence[Event], follows: Iterable[Follow]) -> list[Event]:
    followed = {(one.subject_kind, one.subject_id) for one in follows}
    keys = keys_of(events)
    return [one for one in events if keys[one.id] & followed]
