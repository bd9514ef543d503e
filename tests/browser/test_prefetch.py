"""A link that is rested on is fetched, and its page is there once it is followed."""

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.usefixtures("samples")
PASS_BY = """name => {
  for (const tab of document.querySelectorAll(".dw-tabs a")) {
    tab.focus();
    if (tab.textContent === name) return;
  }
}"""
DELIVERY = "performance.getEntriesByType('navigation')[0].deliveryType"


def wait_for_one(page: Page, states: dict[str, str]) -> str:
    """Wait until a page has been fetched ahead; return its address."""
    while "Ready" not in states.values():
        page.wait_for_timeout(50)
    return next(url for url, state in states.items() if state == "Ready")


def test_a_page_that_was_fetched_ahead_is_shown_without_another_request(
    watch_apart, server
):
    page = watch_apart.page
    session = page.context.new_cdp_session(page)
    states: dict[str, str] = {}
    session.on(
        "Preload.prefetchStatusUpdated",
        lambda told: states.update({told["prefetchUrl"]: told["status"]}),
    )
    session.send("Preload.enable")
    page.goto(f"{server.url}/t/samples/orders/")
    link = page.get_by_role("link", name="Data", exact=True).first

    link.hover()
    wait_for_one(page, states)
    link.click()

    page.wait_for_selector("table.dw-grid-t tbody tr")
    assert page.evaluate(DELIVERY) == "navigational-prefetch"

    states.clear()
    page.keyboard.press("Tab")
    page.evaluate(PASS_BY, "History")
    asked = wait_for_one(page, states)
    page.keyboard.press("Enter")

    page.wait_for_url(asked)
    assert asked.endswith("/t/samples/orders/history")
    assert page.evaluate(DELIVERY) == "navigational-prefetch"
    assert states.keys() == {asked}  # those that were passed were not fetched
    assert watch_apart.faults == []
    assert watch_apart.foreign == []
