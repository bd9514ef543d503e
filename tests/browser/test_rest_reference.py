"""The reference of the REST API: opened operations are sound, and calls are made."""

import json
import re
from typing import Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Watch
from tests.browser.soundness import THEMES, assert_open_is_sound, serious_findings
from tests.support.processes.installation import Installation

REFERENCE: Final = "/api/reference/"
PIN: Final = "/api/v1/me/pins/{namespace}/{name}"
OPENED: Final = (("put", PIN), ("post", "/api/v1/shares"), ("get", "/api/v1/tables"))

pytestmark = pytest.mark.usefixtures("samples")


@pytest.fixture
def page(watch: Watch, server: Installation) -> Page:
    watch.page.goto(f"{server.url}{REFERENCE}")
    return watch.page


def opened(page: Page, method: str, path: str) -> Locator:
    """Open an operation, and return it."""
    block = page.locator(f".opblock-{method}").filter(
        has=page.locator(f'[data-path="{path}"]')
    )
    if not block.count():
        page.locator(f'.opblock-tag[data-tag="{path.split("/")[3]}"]').click()
    block.locator(".opblock-summary-control").click()
    block.get_by_role("button", name="Try it out").click()
    return block


def pin(page: Page) -> Locator:
    """Send a call that writes, and return the status of its answer."""
    block = opened(page, "put", PIN)
    block.get_by_placeholder("namespace").fill("samples")
    block.get_by_placeholder("name", exact=True).fill("orders")
    block.get_by_role("button", name="Execute").click()
    return block.locator(".live-responses-table .response-col_status").last


def test_opened_operations_are_sound_in_both_themes(watch: Watch, page: Page) -> None:
    for method, path in OPENED:
        opened(page, method, path)
    for theme in THEMES:
        assert_open_is_sound(watch, "opened operations", theme)


def test_a_signed_in_person_makes_a_call_that_writes(watch: Watch, page: Page) -> None:
    expect(pin(page)).to_contain_text("200")
    assert serious_findings(page) == []
    assert watch.faults == []


def test_a_call_is_made_with_a_key_within_its_scopes(
    page: Page, server: Installation
) -> None:
    for scope, status in (("read", "403"), ("write", "200")):
        made = server.command("user", "key", "admin", "--scope", scope, "--json")
        page.reload()
        page.get_by_role("button", name=re.compile("^Authorize")).first.click()
        page.get_by_label("auth-bearer-value").fill(json.loads(made)["key"])
        page.get_by_role("button", name="Apply credentials").click()
        page.get_by_role("button", name="Close").first.click()
        expect(pin(page)).to_contain_text(status)
