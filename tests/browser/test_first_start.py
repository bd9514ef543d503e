"""The journey of a first start: sign in, look around, register, see it indexed."""

import shutil

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watch, expect_said
from tests.browser.soundness import (
    PHONE,
    assert_open_is_sound,
    assert_sound,
    every_theme,
)
from tests.support.processes.installation import Installation, rows, wait_for

TABLE = "/t/samples/customers/"
PAGES = [
    *("/", "/tables/new", "/search?q=customer"),
    *(TABLE, f"{TABLE}schema?v=0", f"{TABLE}history/1"),
    "/t/samples/returns/history",
    *(f"{TABLE}data", f"{TABLE}settings"),
    *("/shares/new", "/me/", "/admin-area/", "/status", "/no/such/page"),
]
# Some are looked at by other tests, when there is more on them.
SELDOM = [
    *("/tables/new/scan", "/tables/lakes/", f"{TABLE}?v=0"),
    *(f"{TABLE}files", f"{TABLE}sharing"),
]
pytestmark = pytest.mark.usefixtures("samples")


@every_theme(PAGES, seldom=SELDOM)
def test_every_page_is_sound_in_both_themes_and_on_a_phone(watch, server, path, theme):
    assert_sound(watch, f"{server.url}{path}", theme)


def test_a_phone_reaches_every_place_by_more(watch, server):
    page = watch.page
    page.set_viewport_size(PHONE)
    page.goto(f"{server.url}/jobs/")
    rail = page.get_by_role("navigation", name="Main")

    rail.get_by_text("More").click()

    for place in ("Activity", "Jobs", "Admin", "Help"):
        expect(rail.get_by_role("link", name=place)).to_be_in_viewport()


def test_a_table_is_registered_and_indexed_without_a_reload(watch, server, tmp_path):
    location = tmp_path / "bookings"
    shutil.copytree(server.home / "samples" / "orders", location)
    page = watch.page
    page.goto(f"{server.url}/tables/new")

    page.get_by_label("Location").first.fill(str(location))
    page.get_by_label("Name").first.fill("web.bookings")
    page.get_by_role("button", name="Check").first.click()
    expect_said(page, "10 columns")
    page.get_by_role("button", name="Register").first.click()
    page.wait_for_url("**/t/web/bookings/**")
    page.evaluate("window.notReloaded = true")

    expect_said(page, "Commits per day", within_ms=120_000)
    assert page.evaluate("window.notReloaded") is True
    assert watch.foreign == []
    assert watch.faults == []


def test_a_lake_is_scanned_and_its_page_is_sound(watch, server, tmp_path):
    shutil.copytree(server.home / "samples" / "orders", tmp_path / "shop" / "orders")
    page = watch.page
    page.goto(f"{server.url}/tables/new/scan")

    page.get_by_label("Folder or URL").fill(str(tmp_path))
    page.get_by_label("Namespace").fill("scanned")
    page.get_by_role("button", name="Scan", exact=True).click()

    expect_said(page, "1 table registered", within_ms=120_000)
    assert_open_is_sound(watch, page.url)
    shutil.rmtree(tmp_path / "shop")
    page.get_by_role("button", name="Scan now").click()
    gone = page.get_by_role("link", name="scanned.shop_orders").first
    expect(gone).to_be_visible(timeout=120_000)
    assert_open_is_sound(watch, page.url, "dark")


def test_a_new_commit_is_noticed_unasked(watch, server, tmp_path):
    location = tmp_path / "late"
    shutil.copytree(server.home / "samples" / "orders", location)
    log = location / "_delta_log"
    newest = max(log.glob("*.json"))
    held = newest.read_bytes()
    newest.unlink()
    server.command("table", "add", "web.late", str(location))

    def version() -> object:
        (table,) = rows(server.home, "SELECT * FROM tables_table WHERE name = 'late'")
        return table["version"]

    assert wait_for(lambda: version() is not None, timeout_s=120)
    before = version()
    newest.write_bytes(held)

    assert wait_for(lambda: version() != before, timeout_s=120)
    page = watch.page
    page.goto(f"{server.url}/t/web/late/")
    expect(page.locator("body")).to_contain_text(f"version {newest.stem.lstrip('0')}")


def test_pages_work_without_a_script(browser, server, signed_in):
    context = browser.new_context(java_script_enabled=False, storage_state=signed_in)
    page = context.new_page()

    page.goto(f"{server.url}{TABLE}?v=3")
    expect(page.locator("body")).to_contain_text("You are looking at")
    page.goto(f"{server.url}{TABLE}history")
    assert page.locator("article.dw-commit").count() > 10
    page.goto(f"{server.url}{TABLE}schema")
    expect(page.locator("body")).to_contain_text("customer_id")
    context.close()


def test_the_keyboard_reaches_search_and_versions(watch: Watch, server: Installation):
    page = watch.page
    page.goto(f"{server.url}{TABLE}")

    page.keyboard.press("[")
    page.wait_for_url("**?v=58")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("email")
    page.keyboard.press("Enter")

    page.wait_for_url("**/search?q=email")
    expect(page.locator("main")).to_contain_text("customers")


def test_the_keyboard_walks_through_the_rows_of_a_list(watch, server):
    page = watch.page
    page.goto(f"{server.url}/tables/?namespace=samples")

    for key in "jjk":
        page.keyboard.press(key)
    assert page.locator("tr.is-at").count() == 1
    page.keyboard.press("Enter")

    page.wait_for_url("**/t/samples/customers/")


def test_keys_rest_while_a_dialog_is_open(watch: Watch, server: Installation) -> None:
    page = watch.page
    page.goto(f"{server.url}{TABLE}")

    page.keyboard.press("?")
    page.keyboard.press("c")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("c")

    page.wait_for_url("**/compare/58...59")


def test_the_current_tab_is_in_sight_on_a_phone(watch: Watch, server: Installation):
    page = watch.page
    page.set_viewport_size({"width": 390, "height": 844})

    page.goto(f"{server.url}{TABLE}sharing")

    tab = page.get_by_role("navigation", name="Table").get_by_role(
        "link", name="Sharing"
    )
    expect(tab).to_be_in_viewport(ratio=0.9)  # its lower edge lies under the line
