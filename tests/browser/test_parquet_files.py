"""The page of a Parquet file, and of all of a table's, as a person uses them."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.soundness import assert_open_is_sound, assert_sound
from tests.support.processes.installation import Installation

TABLE = "/t/samples/device_readings"


@pytest.fixture(scope="module")
def address(server: Installation, the_page: Watch) -> str:
    """The page of the table's largest file, once its footer is read."""
    page = the_page.page
    page.goto(f"{server.url}{TABLE}/files")
    page.locator("a.x-name").first.click()
    expect(page.locator("#file-schema")).to_be_visible()
    return page.url


@pytest.fixture
def page(watch: Watch, address: str) -> Page:
    watch.page.goto(address)
    return watch.page


def test_a_file_is_shown_when_it_is_read_with_a_column_and_its_first_rows(page: Page):
    expect(page.locator("#group")).to_contain_text("Row group 0")
    expect(page.get_by_text("One row group, ")).to_be_visible()  # no picture of one bar
    # The tree of its schema is walked as that of a table is: `test_schema_tree.py`.
    box = page.get_by_placeholder("Filter", exact=True)
    name = page.locator("#schema-tree tbody tr").last.locator(".dw-name").inner_text()

    box.press_sequentially(name.strip())
    expect(page.locator("#schema-tree tbody")).to_contain_text(name.strip())
    box.fill("no such column")
    expect(page.locator("#file-schema-rows")).to_contain_text("No node matches")
    expect(box).to_be_focused()

    page.locator("#group tbody a").first.click()
    expect(page.locator("#column")).to_contain_text(re.compile("range", re.IGNORECASE))
    page.get_by_role("link", name="First rows").click()
    expect(page.locator("#file-rows table")).to_be_visible()


def test_the_pages_are_sound(watch: Watch, address: str, server: Installation) -> None:
    parquet = f"{server.url}{TABLE}/parquet"
    watch.page.goto(parquet)
    expect(watch.page.get_by_role("heading", name="Writers")).to_be_visible()

    assert_open_is_sound(watch, parquet, "dark")
    tried = "column=0&rows=1&op=ge&a=3"
    assert_sound(watch, f"{address}{'&' if '?' in address else '?'}{tried}")


def test_a_file_of_no_table_is_looked_into(watch: Watch, server: Installation) -> None:
    samples = (server.home / "samples").rglob("*.parquet")
    file = next(path for path in samples if "_delta_log" not in path.parts)
    page = watch.page
    page.goto(f"{server.url}/parquet")

    page.get_by_label("Location").fill(str(file))
    page.get_by_role("button", name="Inspect it").click()

    expect(page.locator("#file-schema")).to_be_visible()
    assert_open_is_sound(watch, page.url, "dark")
