from collections.abc import Collection, Iterator

import pytest
from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.notices.events.visibility import (
    SubjectsOfEvents,
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
    return [f"{one.subject_kind} {one.subject_id}" for one in found]


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

    assert visible_events(new_user(), [unknown]) == []
