"""The tabs of a table's pages: an app registers its own when Django is ready.

An app may also register a button for the head of these pages.
"""

from collections.abc import Callable
from dataclasses import dataclass

from apps.pages.frame import AnyUser
from apps.pages.registry import Registry
from apps.tables.models import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """One tab of a table: a page that takes `namespace`, `name` and `?v=`.

    `also` are the names of pages below the tab, on which it counts as current;
    `picks` are those of them whose own address takes the version that is picked on the
    timeline; `is_for_owners` whether it is of no use for a table that belongs to
    somebody else; `visible` says who finds the tab, which guards no page; `right` is
    one that the user needs on the table to find it, such as `edit`; `or_right` is one
    that shows the tab to users for whom `visible` is false; `count` is the number at
    the tab for a user, of what `counted` says; 0 is not shown.
    """

    label: str
    url_name: str
    order: int
    also: tuple[str, ...] = ()
    picks: tuple[str, ...] = ()
    is_for_owners: bool = False
    right: str = ""
    or_right: str = ""
    visible: Callable[[AnyUser], bool] = lambda user: user.is_authenticated
    count: Callable[[AnyUser, Table], int] = lambda _user, _table: 0
    counted: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadButton:
    """A button in the head: a link to a page of the table.

    Attributes:
        keeps: The parts of the address that the link takes with it; with them it
            leads to the version that the page shows.
        order: Where it stands, from the left.
        is_primary: Whether it stands out; one button of a page may.
        is_drawer: Whether the page opens beside the one that is shown.
        is_for_owners: As that of a tab.
        visible: Who finds it; it guards no page.
    """

    label: str
    icon: str
    url_name: str
    anchor: str = ""
    keeps: tuple[str, ...] = ()
    is_primary: bool = True
    is_drawer: bool = False
    is_for_owners: bool = False
    order: int = 100
    visible: Callable[[AnyUser], bool] = lambda user: user.is_authenticated


tabs: Registry[Tab] = Registry(key=lambda tab: tab.url_name)
buttons: Registry[HeadButton] = Registry(key=lambda button: button.url_name)


def registered() -> list[Tab]:
    """Return the tabs in order."""
    return sorted(tabs, key=lambda tab: tab.order)


def tabs_for(
    user: AnyUser, table: Table | None = None, *, is_received: bool = False
) -> list[Tab]:
    """Return the tabs that `user` finds, in order.

    Args:
        user: The user.
        table: The table, after `note_rights` of the user; None if no right counts.
        is_received: Whether the table is received from a provider.
    """

    def has(right: str) -> bool:
        return bool(right) and getattr(table, f"may_{right}", False)

    return [
        tab
        for tab in registered()
        if _is_found(tab, user, is_received)
        or (has(tab.or_right) and not (is_received and tab.is_for_owners))
    ]


def buttons_for(user: AnyUser, *, is_received: bool = False) -> list[HeadButton]:
    """Return the buttons that `user` finds, as `tabs_for` does."""
    found = [button for button in buttons if _is_found(button, user, is_received)]
    return sorted(found, key=lambda button: button.order)


def _is_found(one: Tab | HeadButton, user: AnyUser, is_received: bool) -> bool:  # noqa: FBT001 (as it came)
    return one.visible(user) and not (is_received and one.is_for_owners)


def current_tab(view_name: str) -> Tab | None:
    """Return the tab that the page `view_name` belongs to, if any."""
    for tab in registered():
        if view_name == tab.url_name or view_name in tab.also:
            return tab
    return None
