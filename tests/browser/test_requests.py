"""A person requests access, is answered, and reads the rows or the reason."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE_MS, WINDOW, Theme, Watch, register, watched
from tests.browser.soundness import assert_open_is_sound, assert_sound
from tests.support.pages.browser_sign_in import sign_in
from tests.support.processes.installation import Installation

pytestmark = pytest.mark.usefixtures("samples")
TABLE = "asked.orders"
PAGE = "/t/asked/orders/"
SHARE = "asked-retail"
PEOPLE = ("petra", "tom", "vera")


@pytest.fixture(scope="module")
def people(
    browser: Browser, server: Installation, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Watch]]:
    """Petra and Vera, who see nothing of a listed table, and Tom, who owns it."""
    folder = tmp_path_factory.mktemp("asked") / "orders"
    shutil.copytree(server.home / "samples" / "orders", folder)
    register(server, TABLE, folder)
    server.command("access", "set", TABLE, "--private", "--listed")
    for name in PEOPLE:
        server.command("user", "add", name, "--role", "viewer")
    server.command("grant", "own", "tom", TABLE)
    server.command("share", "create", SHARE)
    server.command("share", "add-table", SHARE, TABLE, "--table", TABLE)
    server.command("share", "update", SHARE, "--listed", "--description", "All shops")
    contexts = [browser.new_context(viewport=WINDOW) for _ in PEOPLE]
    pages = {}
    for name, context in zip(PEOPLE, contexts, strict=True):
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        sign_in(page, server, name)
        pages[name] = watched(page, server)
    yield pages
    for context in contexts:
        context.close()


def ask(page: Page, server: Installation, purpose: str) -> None:
    """Open a table that cannot be viewed, and request it from there."""
    page.goto(f"{server.url}{PAGE}")
    page.get_by_role("link", name="Request access").first.click()
    page.get_by_label("What for").fill(purpose)
    page.get_by_role("button", name="Request access").click()
    expect(page.get_by_role("cell", name="pending")).to_be_visible()


def open_notification(page: Page, server: Installation, text: str) -> None:
    """Follow the newest notification of a text, once it has come."""
    row = page.get_by_role("link", name=text).first
    for _ in range(60):
        page.goto(f"{server.url}/notifications/")
        if row.count():
            break
        page.wait_for_timeout(500)
    row.click()


def test_a_rejected_requester_reads_why_and_an_approved_one_reads_rows(
    people: dict[str, Watch], server: Installation
) -> None:
    petra, tom = people["petra"].page, people["tom"].page

    ask(petra, server, "Refunds per month")
    open_notification(tom, server, "petra requests view of asked.orders")
    expect(tom.get_by_text("Refunds per month")).to_be_visible()
    assert_open_is_sound(people["tom"], tom.url)
    tom.get_by_text("Reject…").click()
    tom.locator("[id^=why-]").fill("Use samples.orders")
    tom.get_by_role("button", name="Reject").click()
    expect(tom.get_by_text("Rejected the request of petra")).to_be_visible()
    open_notification(petra, server, "tom rejected the request")
    expect(petra.get_by_text("rejected by tom: Use samples.orders")).to_be_visible()

    ask(petra, server, "Delivery times per region")
    open_notification(tom, server, "Delivery times per region")
    tom.get_by_label("Duration for petra").select_option("30d")
    tom.get_by_role("button", name="Approve the request of petra").click()
    expect(tom.get_by_text("petra can view asked.orders until")).to_be_visible()
    open_notification(petra, server, "tom approved, for a shorter time")
    expect(petra.get_by_text("shortened by tom, until")).to_be_visible()
    petra.goto(f"{server.url}{PAGE}data")
    expect(petra.locator(".x-grid tbody tr").first).to_be_visible()
    assert people["petra"].foreign == people["tom"].foreign == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_their_pages_are_sound(
    people: dict[str, Watch],
    server: Installation,
    theme: Theme,
    watch: Watch,
) -> None:
    asked = ("access", "request", f"share:{SHARE}", "--user", "vera")
    server.command(*asked, "--purpose", theme)
    for path in ("/requests/", "/requests/listed", f"/shares/{SHARE}/request"):
        assert_sound(people["vera"], f"{server.url}{path}", theme)
    for path in (f"/shares/{SHARE}/", f"/shares/{SHARE}/settings"):
        assert_sound(watch, f"{server.url}{path}", theme)
    watch.page.goto(f"{server.url}/shares/{SHARE}/#requests")
    watch.page.get_by_text("Reject…").click()
    watch.page.locator("[id^=why-]").fill("Later")
    watch.page.get_by_role("button", name="Reject").click()
    expect(watch.page.get_by_text("Rejected the request of vera")).to_be_visible()
