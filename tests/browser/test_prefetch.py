"""A link that the pointer rests on is fetched, and its page is there with the click."""

import pytest

pytestmark = pytest.mark.usefixtures("samples")
DELIVERY = "performance.getEntriesByType('navigation')[0].deliveryType"


def test_a_page_that_was_fetched_ahead_is_shown_without_another_request(watch, server):
    page = watch.page
    session = page.context.new_cdp_session(page)
    states: list[str] = []
    session.on(
        "Preload.prefetchStatusUpdated", lambda told: states.append(told["status"])
    )
    session.send("Preload.enable")
    page.goto(f"{server.url}/t/samples/orders/")
    link = page.get_by_role("link", name="Data", exact=True).first

    link.hover()
    while "Ready" not in states:
        page.wait_for_timeout(50)
    link.click()

    page.wait_for_selector("table.dw-grid-t tbody tr")
    assert page.evaluate(DELIVERY) == "navigational-prefetch"
    assert watch.faults == []
    assert watch.foreign == []
