"""The people who receive an event without following its subject.

The app that owns the events registers who they are, in `AppConfig.ready`:

    concerned.register(
        Concerned(
            kinds=("access.requested",),
            people=lambda events, now: ...,  # the ids of users, by the ids of events
        )
    )
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from apps.accounts.lifetimes.suspension import not_suspended
from apps.accounts.models import User
from apps.notices.models import Event
from apps.pages.registry import Registry

PeopleOfEvents: TypeAlias = Callable[
    [Sequence[Event], datetime], Mapping[int, Collection[int]]
]
"""Returns the ids of the users whom events concern, by the ids of the events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concerned:
    """Kinds of events, and whom they concern."""

    kinds: tuple[str, ...]
    people: PeopleOfEvents


concerned: Final[Registry[Concerned]] = Registry()


def people_of(events: Sequence[Event], now: datetime) -> dict[User, set[int]]:
    """Return the people whom events concern, each with the ids of these events.

    Only active people, who are not suspended. Whether they may see the events is for
    the caller to check.
    """
    events_of: dict[int, set[int]] = defaultdict(set)
    for one in concerned:
        its = [event for event in events if event.kind in one.kinds]
        for event_id, user_ids in one.people(its, now).items() if its else ():
            for user_id in user_ids:
                events_of[user_id].add(event_id)
    if not events_of:
        return {}
    active = User.objects.filter(not_suspended(now), is_active=True)
    return {user: events_of[user.pk] for user in active.filter(id__in=events_of)}
