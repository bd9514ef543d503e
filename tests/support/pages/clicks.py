"""The number of clicks of a person, counted by the browser, without typing."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.sync_api import Page

COUNT: Final = """addEventListener("pointerdown", (event) => {
    if (event.isTrusted) sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1;
}, true)"""


def count_clicks(page: "Page") -> None:
    """Count the clicks on the pages that are opened from now on."""
    page.add_init_script(COUNT)


def num_clicks(page: "Page") -> int:
    """Return how often a button of the mouse was pressed in the window."""
    return int(page.evaluate("sessionStorage.clicks ?? 0"))
