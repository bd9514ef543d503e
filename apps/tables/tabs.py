"""The tabs of a table's pages: an app registers its own when Django is ready."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """One tab of a table: a page that takes `namespace`, `name` and `?v=`.

    `also` are the names of pages below the tab, on which it counts as current.
    """

    label: str
    url_name: str
    order: int
    also: tuple[str, ...] = ()


_tabs: dict[str, Tab] = {}


def register(tab: Tab) -> None:
    """Add a tab; registering the same URL name again replaces it."""
    _tabs[tab.url_name] = tab


def registered() -> list[Tab]:
    """Return the tabs in order."""
    return sorted(_tabs.values(), key=lambda tab: tab.order)


def current_tab(view_name: str) -> Tab | None:
    """Return the tab that the page `view_name` belongs to, if any."""
    for tab in registered():
        if view_name == tab.url_name or view_name in tab.also:
            return tab
    return None
