"""Values, suggestions, downloads and profiles, as an analyst meets them."""

import io
from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.soundness import THEMES, assert_open_is_sound, assert_sound
from tests.support.processes.installation import Installation

ORDERS = "/t/samples/orders"


@pytest.fixture
def page(watch: Watch, server: Installation) -> Page:
    watch.page.goto(f"{server.url}{ORDERS}/data")
    return watch.page


def test_a_value_is_a_click_and_the_address_keeps_it(page: Page) -> None:
    values = page.get_by_role("group", name="Values of country")

    values.get_by_role("link", name="DE").click()

    expect(page.get_by_role("heading", name="Rows where country = DE")).to_be_visible()
    assert "f=country%3Aeq%3ADE" in page.url
    expect(values.locator("[aria-current]")).to_have_text("DE 2,484")
    expect(
        page.get_by_role("status").filter(has_text="1 to 50 of 2,484")
    ).to_be_visible()


def test_the_field_of_a_value_suggests_values(page: Page) -> None:
    page.get_by_label("Column to filter by").select_option("country")
    page.get_by_label("Value", exact=True).press_sequentially("d")

    options = page.locator("#filter-values option")
    expect(options).to_have_count(1)
    expect(options).to_have_attribute("value", "DE")


def test_rows_are_downloaded_as_a_sheet(page: Page, tmp_path: Path) -> None:
    page.goto(f"{page.url}?f=country:eq:DE")
    with page.expect_download() as found:
        page.get_by_role("link", name="XLSX").click()
    found.value.save_as(tmp_path / "rows.xlsx")

    book = openpyxl.load_workbook(io.BytesIO((tmp_path / "rows.xlsx").read_bytes()))

    assert found.value.suggested_filename == "samples-orders-v21.xlsx"
    assert book["Rows"].max_row == 1 + 2_484


def test_matching_rows_are_counted_exactly_in_place(page: Page) -> None:
    page.goto(f"{page.url}?f=order_id:gt:100600&col=order_id")
    status = page.get_by_role("status").filter(has_text="1 to 50 of at least 501")
    expect(status).to_be_visible()

    page.get_by_role("link", name="Count exactly").click()

    counted = page.get_by_role("status").filter(has_text="1 to 50 of 4,968")
    expect(counted).to_be_visible(timeout=30_000)
    expect(page.get_by_role("link", name="Count exactly")).to_have_count(0)


def test_all_columns_are_profiled_by_a_click(
    watch: Watch, server: Installation
) -> None:
    page = watch.page
    page.goto(f"{server.url}{ORDERS}/schema")
    page.get_by_role("button", name="Profile all columns").click()

    expect(page.get_by_role("columnheader", name="Most frequent")).to_be_visible(
        timeout=60_000
    )
    assert_open_is_sound(watch, f"{ORDERS}/schema")

    page.goto(f"{server.url}{ORDERS}/schema/amount")
    expect(page.get_by_role("heading", name="Histogram")).to_be_visible()
    expect(page.locator("[data-chart=histogram] svg").first).to_be_visible()
    for theme in THEMES:
        assert_open_is_sound(watch, f"{ORDERS}/schema/amount", theme)
    # The columns with few values are offered beside the rows then.
    for theme in THEMES:
        assert_sound(watch, f"{server.url}{ORDERS}/data?f=status:eq:paid", theme)
    expect(page.get_by_role("group", name="Values of express")).to_be_visible()
