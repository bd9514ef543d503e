"""The tree of a schema, walked with the arrow keys, its filter in the address."""

import re
from pathlib import Path

import pyarrow as pa
import pytest
from playwright.sync_api import Locator, Page, expect

from deltaweb.table import DeltaTable
from tests.browser.conftest import Watch, register
from tests.support.processes.installation import Installation

SCHEMA = "/t/samples/device_readings/schema"


@pytest.fixture
def page(watch: Watch, server: Installation) -> Page:
    watch.page.goto(f"{server.url}{SCHEMA}")
    return watch.page


def row(page: Page, path: str) -> Locator:
    return page.locator(f'#schema-tree tr[data-column="{path}"]')


def test_is_walked_with_the_arrow_keys(page: Page) -> None:
    branch = page.locator("#schema-tree tr[aria-expanded]").first
    path = str(branch.get_attribute("data-column"))
    child = page.locator(f'#schema-tree tr[data-column^="{path}."]').first

    branch.focus()
    page.keyboard.press("ArrowRight")
    expect(child).to_be_focused()

    page.keyboard.press("ArrowLeft")
    expect(branch).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(branch).to_have_attribute("aria-expanded", "false")
    expect(child).to_be_hidden()

    page.keyboard.press("ArrowRight")
    expect(child).to_be_visible()
    expect(branch).to_be_focused()

    page.keyboard.press("ArrowDown")
    expect(child).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(branch).to_be_focused()

    page.keyboard.press("End")
    expect(page.locator("#schema-tree tbody tr").last).to_be_focused()
    page.keyboard.press("Home")
    expect(page.locator("#schema-tree tbody tr").first).to_be_focused()


def test_one_row_alone_is_in_the_order_of_tab(page: Page) -> None:
    rows = page.locator("#schema-tree tbody tr")

    rows.first.focus()
    page.keyboard.press("ArrowDown")

    expect(page.locator("#schema-tree tbody tr[tabindex='0']")).to_have_count(1)
    expect(rows.nth(1)).to_have_attribute("tabindex", "0")


def test_enter_opens_the_column(page: Page) -> None:
    page.locator("#schema-tree tbody tr").first.focus()
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(r"/schema/\w+$"))


def test_a_filter_is_in_the_address_and_stays_when_the_page_is_loaded_again(page: Page):
    first = str(
        page.locator("#schema-tree tbody tr").first.get_attribute("data-column")
    )

    page.get_by_label("Filter columns").fill(first)
    expect(page).to_have_url(re.compile(rf"\?q={first}$"))
    page.reload()

    expect(page.get_by_label("Filter columns")).to_have_value(first)
    expect(row(page, first)).to_be_visible()

    page.get_by_label("Filter columns").fill("")
    expect(page).to_have_url(re.compile(rf"{SCHEMA}$"))


def test_shows_every_column_of_its_table_on_a_wide_window(
    watch: Watch, server: Installation, tmp_path: Path
) -> None:
    names = [f"a_rather_long_name_of_a_column_{number}" for number in range(6)]
    made = DeltaTable.create(
        str(tmp_path / "long"), pa.schema([(name, pa.string()) for name in names])
    )
    made.append(pa.table({name: ["value " + "x" * 60, "z" * 60] for name in names}))
    register(server, "sales.long_values", tmp_path / "long")
    page = watch.page
    page.set_viewport_size({"width": 1360, "height": 900})

    page.goto(f"{server.url}/t/sales/long_values/schema")

    expect(page.get_by_role("columnheader", name="Covered")).to_be_in_viewport(ratio=1)
    table = page.locator(".dw-scroll:has(#schema-tree)")
    assert table.evaluate("part => part.scrollWidth <= part.clientWidth")
