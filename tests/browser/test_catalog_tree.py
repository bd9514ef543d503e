"""The tree of the catalog: loaded when opened, walked by keys, remembered, a sheet."""

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser.conftest import Watch
from tests.support.processes.installation import Installation

PHONE = ViewportSize(width=390, height=844)
pytestmark = pytest.mark.usefixtures("samples")


ASIDE = '.dw-facets > aside [data-branch="samples"]'
SHEET = '.dw-bottom [data-branch="samples"]'


def table(page: Page, name: str, branch: str = ASIDE) -> Locator:
    """The link to a table of the samples in the tree."""
    return page.locator(branch).get_by_role("link", name=name, exact=True)


def test_a_branch_loads_its_tables_and_stays_open(watch: Watch, server: Installation):
    page = watch.page
    page.goto(f"{server.url}/tables/")
    link = table(page, "customers")
    expect(link).to_have_count(0)

    page.locator(f"{ASIDE} > summary").click()
    expect(link).to_be_visible()
    page.goto(f"{server.url}/tables/?sort=-size")
    expect(link).to_be_visible()

    page.locator(f"{ASIDE} > summary").click()
    page.reload()
    expect(page.locator(ASIDE)).not_to_have_attribute("open", "")
    assert watch.faults == []


def test_it_is_walked_with_the_arrow_keys(watch: Watch, server: Installation) -> None:
    page = watch.page
    page.goto(f"{server.url}/tables/")
    name = page.locator('.dw-facets > aside [data-tree] a[href*="namespace=samples"]')
    first = table(page, "customers")

    name.first.focus()
    page.keyboard.press("ArrowRight")
    expect(first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(first).to_be_hidden()
    expect(page.locator(f"{ASIDE} > summary")).to_be_focused()


def test_it_is_a_sheet_on_a_phone(watch: Watch, server: Installation) -> None:
    page = watch.page
    page.set_viewport_size(PHONE)
    page.goto(f"{server.url}/tables/")
    expect(page.locator(".dw-bottom")).to_be_hidden()

    page.get_by_text("Namespaces and filters").click()
    page.locator(f"{SHEET} > summary").click()
    expect(table(page, "orders", SHEET)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]

    page.keyboard.press("Escape")
    expect(page.locator(".dw-bottom")).to_be_hidden()
    page.get_by_text("Namespaces and filters").click()
    page.mouse.click(195, 60)  # above the sheet
    expect(page.locator(".dw-bottom")).to_be_hidden()


def test_rows_have_36_pixels(watch: Watch, server: Installation) -> None:
    page = watch.page
    page.goto(f"{server.url}/tables/")

    rows = page.locator(".dw-cat tbody tr")
    heights = rows.evaluate_all("rows => rows.map(row => row.offsetHeight)")

    assert len(heights) >= 4
    assert {*heights} <= {36, 37}
