"""Who may see an event: whoever may see all of its subjects when it is delivered.

`apps.notices` does not know the subjects, so the app that owns them registers, in
`AppConfig.ready`:

    subjects_of_events.register(
        SubjectsOfEvents(
            kind="table",
            visible_ids=lambda user, ids: ...,  # those of some ids that a user may see
            viewers=lambda users, ids: ...,  # the same of many users, by the ids
        )
    )

Administrators see every event. A kind of subject without an owner is hidden from
everybody else.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.jobs.visibility import Viewers
from apps.notices.events.kind import event_kinds
from apps.notices.models import Event
from apps.pages.registry import Registry

ROLES = tuple(User.Role.values)
Subject: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectsOfEvents:
    """One kind of subject.

    Attributes:
        visible_ids: Returns those of some ids that a user may see, as text.
        viewers: Answers the same question for many users without a query for each.
            Without it, each user needs a query.
        url: Returns the address of the page of an id, if there is one.
    """

    kind: str
    visible_ids: Callable[[User, Collection[str]], Collection[str]]
    viewers: Viewers | None = None
    url: Callable[[str], str | None] = lambda _: None

    def viewers_of(
        self, users: Collection[User], ids: Collection[str]
    ) -> Mapping[str, AbstractSet[int]]:
        """Return which of some users may see each id; see `Viewers`."""
        if self.viewers is not None:
            return self.viewers(users, ids)
        found: dict[str, set[int]] = defaultdict(set)
        for user in users:
            for subject_id in self.visible_ids(user, ids):
                found[subject_id].add(user.pk)
        return found


subjects_of_events: Registry[SubjectsOfEvents] = Registry(key=lambda one: one.kind)


def visible_events(
    user: User | AnonymousUser, events: Sequence[Event]
) -> Sequence[Event]:
    """Return those of some events that a user may see at the moment."""
    if not isinstance(user, User) or not user.is_active:
        return []
    if user.is_admin:
        return events
    events = [event for event in events if _is_for(user.role, event.kind)]
    asked: dict[str, set[str]] = defaultdict(set)
    for event in events:
        for kind, subject_id in _subjects(event):
            asked[kind].add(subject_id)
    seen = {
        (subjects.kind, subject_id)
        for subjects in subjects_of_events
        if asked[subjects.kind]
        for subject_id in subjects.visible_ids(user, asked[subjects.kind])
    }
    return [event for event in events if seen.issuperset(_subjects(event))]


def event_viewers(
    events: Sequence[Event],
    wanted: Mapping[int, AbstractSet[int]],
    people: Mapping[int, User],
) -> dict[int, AbstractSet[int]]:
    """Return the ids of the users who may see stored events, by the ids of the events.

    It applies the rule of `visible_events` to many users at once.

    Args:
        wanted: The ids of the users to ask about, by the ids of the events.
        people: These users, by their ids.
    """
    active = {pk: user for pk, user in people.items() if user.is_active}
    admins = {pk for pk, user in active.items() if user.is_admin}
    of_kind = {
        kind: {pk for pk in active.keys() - admins if _is_for(active[pk].role, kind)}
        for kind in {event.kind for event in events}
    }
    others = {event.id: wanted[event.id] & of_kind[event.kind] for event in events}
    asked: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for event in events:
        for kind, subject_id in _subjects(event) if others[event.id] else ():
            asked[kind][subject_id] |= others[event.id]
    viewers: dict[Subject, AbstractSet[int]] = {}
    for subjects in subjects_of_events:
        if ids := asked.get(subjects.kind):
            users = [active[pk] for pk in set().union(*ids.values())]
            for subject_id, pks in subjects.viewers_of(users, ids).items():
                viewers[subjects.kind, subject_id] = pks
    found: dict[int, AbstractSet[int]] = {}
    for event in events:
        seen: AbstractSet[int] = others[event.id]
        for subject in _subjects(event) if seen else ():
            seen = seen & viewers.get(subject, frozenset())
        found[event.id] = seen | (wanted[event.id] & admins)
    return found


def _is_for(role: str, kind: str) -> bool:
    """Return whether people of a role may see events of a kind at all."""
    found = event_kinds().get(kind)
    return found is not None and ROLES.index(role) >= ROLES.index(found.role)


def _subjects(event: Event) -> list[Subject]:
    found = [(event.subject_kind, event.subject_id)]
    if event.table_id is not None:
        found.append(("table", str(event.table_id)))
    return found + [(one["kind"], one["id"]) for one in event.also]
