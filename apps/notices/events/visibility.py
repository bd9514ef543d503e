"""Who may see an event: whoever may see all of its subjects when it is delivered.

`apps.notices` does not know the subjects, so the app that owns them registers, in
`AppConfig.ready`:

    subjects_of_events.register(
        SubjectsOfEvents(
            kind="table",
            visible_ids=lambda user, ids: ...,  # those of some ids that a user may see
        )
    )

Administrators see every event. A kind of subject without an owner is hidden from
everybody else.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.notices.events.kind import event_kinds
from apps.notices.models import Event
from apps.pages.registry import Registry

ROLES = tuple(User.Role.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectsOfEvents:
    """One kind of subject.

    Attributes:
        visible_ids: Returns those of some ids that a user may see, as text.
        url: Returns the address of the page of an id, if there is one.
    """

    kind: str
    visible_ids: Callable[[User, Collection[str]], Collection[str]]
    url: Callable[[str], str | None] = lambda _: None


subjects_of_events: Registry[SubjectsOfEvents] = Registry(key=lambda one: one.kind)


def visible_events(
    user: User | AnonymousUser, events: Sequence[Event]
) -> Sequence[Event]:
    """Return those of some events that a user may see at the moment."""
    if not isinstance(user, User) or not user.is_active:
        return []
    if user.is_admin:
        return events
    allowed = {
        name
        for name, kind in event_kinds().items()
        if ROLES.index(user.role) >= ROLES.index(kind.role)
    }
    events = [event for event in events if event.kind in allowed]
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


def _subjects(event: Event) -> list[tuple[str, str]]:
    found = [(event.subject_kind, event.subject_id)]
    if event.table_id is not None:
        found.append(("table", str(event.table_id)))
    return found + [(one["kind"], one["id"]) for one in event.also]
