"""Signing in with a real browser by a link of `deltaweb user link`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.processes.installation import Installation


def sign_in(page: "Page", server: "Installation", name: str = "admin") -> None:
    """Open a link of a user, and click its button."""
    page.goto(server.command("user", "link", name).split()[-1])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{server.url}/")
