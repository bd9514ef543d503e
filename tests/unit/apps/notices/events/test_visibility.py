from collections.abc import Collection, Iterator, Sequence

import pytest
from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.notices.events.visibility import (
    SubjectsOfEvents,
    event_viewers,
    subjects_of_events,
    visible_events,
)
from apps.notices.models import Event
from tests.support.pages.factories import NOW, new_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _drawers() -> Iterator[None]:
    """A kind of subject of which viewers see one."""

    def visible(user: User, ids: Collection[str]) -> Collection[str]:
        return ids if user.is_editor else {"open"} & set(ids)

    drawers = SubjectsOfEvents(kind="drawer", visible_ids=visible)
    subjects_of_events.register(drawers)
    yield
    subjects_of_events.remove(drawers)


def event(name: str, *also: str, kind: str = "drawer") -> Event:
    return Event(
        kind="table.version",
        subject_kind=kind,
        subject_id=name,
        also=[{"kind": "drawer", "id": one, "name": one} for one in also],
        at=NOW,
    )


def seen(user: User | AnonymousUser) -> list[str]:
    events = [
        event("open"),
        event("shut"),
        event("open", "shut"),
        event("open", kind="?"),
    ]
    found = visible_events(user, events)
    assert list(found) == seen_together(user, events)
    return [f"{one.subject_kind} {one.subject_id}" for one in found]


def seen_together(user: User | AnonymousUser, events: Sequence[Event]) -> list[Event]:
    """The events that a user sees, as the rule for many users has it."""
    if not isinstance(user, User):
        return []
    for number, one in enumerate(events):
        one.id = number
    wanted = {one.id: {user.pk} for one in events}
    viewers = event_viewers(events, wanted, {user.pk: user})
    return [one for one in events if user.pk in viewers[one.id]]


def test_a_person_sees_events_whose_subjects_all_are_visible() -> None:
    assert seen(new_user()) == ["drawer open"]
    assert seen(new_user("ed", role=User.Role.EDITOR)) == [
        "drawer open",
        "drawer shut",
        "drawer open",
    ]


def test_an_administrator_sees_every_event() -> None:
    assert len(seen(new_user(role=User.Role.ADMIN))) == 4


def test_nobody_else_sees_any() -> None:
    assert seen(AnonymousUser()) == []
    assert seen(new_user(role=User.Role.ADMIN, is_active=False)) == []


def test_an_unknown_kind_of_event_is_for_administrators() -> None:
    unknown = event("open")
    unknown.kind = "of another release"

    user = new_user()
    assert visible_events(user, [unknown]) == seen_together(user, [unknown]) == []
