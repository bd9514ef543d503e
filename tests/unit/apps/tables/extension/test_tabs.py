"""Tabs, buttons and badges of tables, for those who may find them."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.pages.registry import Registry
from apps.tables.extension import marks, tabs

ADMIN = User(username="ada", role=User.Role.ADMIN)
VIEWER = User(username="vera", role=User.Role.VIEWER)


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabs, "tabs", Registry(key=lambda tab: tab.url_name))
    monkeypatch.setattr(tabs, "buttons", Registry(key=lambda one: one.url_name))
    monkeypatch.setattr(marks, "badges", Registry())


def test_tabs_stand_in_order_and_only_for_those_who_may_find_them() -> None:
    tabs.tabs.register(tabs.Tab(label="Last", url_name="x:last", order=90))
    tabs.tabs.register(
        tabs.Tab(
            label="Secret",
            url_name="x:secret",
            order=10,
            visible=lambda user: getattr(user, "is_admin", False),
        )
    )

    assert [tab.label for tab in tabs.tabs_for(ADMIN)] == ["Secret", "Last"]
    assert [tab.label for tab in tabs.tabs_for(VIEWER)] == ["Last"]
    assert tabs.tabs_for(AnonymousUser()) == []


def test_what_is_for_owners_is_not_offered_of_what_others_own() -> None:
    for order, is_for_owners in enumerate((True, False)):
        name = f"x:{order}"
        tab = tabs.Tab(
            label=name, url_name=name, order=order, is_for_owners=is_for_owners
        )
        button = tabs.HeadButton(
            label=name, icon="x", url_name=name, is_for_owners=is_for_owners
        )
        tabs.tabs.register(tab)
        tabs.buttons.register(button)

    assert [tab.label for tab in tabs.tabs_for(ADMIN)] == ["x:0", "x:1"]
    assert [tab.label for tab in tabs.tabs_for(ADMIN, is_received=True)] == ["x:1"]
    assert [one.label for one in tabs.buttons_for(ADMIN, is_received=True)] == ["x:1"]


def test_a_hidden_tab_is_still_the_current_one_of_its_page() -> None:
    tab = tabs.Tab(label="T", url_name="x:t", order=1, visible=lambda _: False)
    tabs.tabs.register(tab)

    assert tabs.current_tab("x:t") is tab


def test_a_button_is_replaced_by_a_later_one_for_the_same_page() -> None:
    for label in ("Old", "New"):
        tabs.buttons.register(
            tabs.HeadButton(label=label, icon="x", url_name="x:page", anchor="#a")
        )

    assert [button.label for button in tabs.buttons_for(VIEWER)] == ["New"]
    assert tabs.buttons_for(AnonymousUser()) == []


def test_badges_of_several_apps_stand_beside_each_other() -> None:
    first, second = uuid4(), uuid4()
    shared = marks.Badge(label="shared", icon="x", title="in 1 share")
    pinned = marks.Badge(label="pinned", icon="x", title="by you")
    marks.badges.register(lambda _user, ids: dict.fromkeys(ids, shared))
    marks.badges.register(lambda _user, _ids: {first: pinned})

    assert marks.badges_of(ADMIN, [first, second]) == {
        first: [shared, pinned],
        second: [shared],
    }
