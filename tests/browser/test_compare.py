"""The journey of a comparison: two commits ticked, an estimate, changed rows, swap."""

import csv
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch, expect_said
from tests.browser.soundness import assert_sound, every_theme
from tests.support.processes.installation import Installation

CUSTOMERS = "/t/samples/customers/"
ORDERS = "/t/samples/orders/"
VERSIONS = "52...59"
VIEWS = ("", "?view=rows&key=customer_id")
MORE_VIEWS = ("?view=schema", "?view=properties")
pytestmark = pytest.mark.usefixtures("samples")


@pytest.fixture(scope="module")
def address(server: Installation, the_page: Watch) -> str:
    """Of the rows of two versions, which are compared by their key."""
    page = the_page.page
    page.goto(f"{server.url}{CUSTOMERS}compare/{VERSIONS}?view=rows")
    page.get_by_role("button", name="Compare rows").click()
    page.wait_for_url("**key=customer_id")
    expect(page.get_by_role("heading", name="Rows", exact=True)).to_be_visible()
    return page.url


@pytest.fixture
def compared(watch: Watch, address: str) -> Page:
    """The page of rows that are compared."""
    watch.page.goto(address)
    return watch.page


def test_rows_are_compared_after_an_estimate_and_without_a_reload(watch, server):
    page = watch.page
    page.goto(f"{server.url}{CUSTOMERS}history")
    for version in VERSIONS.split("..."):
        page.get_by_label(f"Compare version {version}", exact=True).check()
    page.get_by_role("button", name="Compare ticked").click()
    page.wait_for_url(f"**/compare/{VERSIONS}")
    page.get_by_role("link", name="Rows", exact=True).click()

    expect_said(page, re.compile(r"This reads \d+ files?, "))
    expect(page.get_by_label("Key columns")).to_have_value("customer_id")
    reason = page.get_by_text("customer_id, the key of the merge of version 57.")
    expect(reason).to_be_visible()
    assert page.locator("tr.c-ins, tr.c-del, tr.c-upd").count() == 0

    page.get_by_role("button", name="Compare rows").click()
    page.wait_for_url("**key=customer_id")
    page.evaluate("window.notReloaded = true")

    expect(page.get_by_role("heading", name="Rows", exact=True)).to_be_visible()
    assert page.evaluate("window.notReloaded") is True
    changed = page.locator("tr.c-upd td.c-chg").first
    expect(changed.locator("del")).to_be_visible()
    expect(changed.locator("ins")).to_be_visible()
    for word, kind in (("inserted", "c-ins"), ("deleted", "c-del")):
        page.get_by_role("link", name=re.compile(rf"\d {word}")).click()
        expect(page.locator(f"tr.{kind}").first).to_be_visible()
        expect(page.locator("tr.c-upd")).to_have_count(0)
    assert watch.foreign == []
    assert watch.faults == []


def test_swapped_versions_turn_inserts_into_deletes(compared: Page) -> None:
    forth = compared.get_by_role("link", name=re.compile("inserted")).inner_text()
    compared.get_by_role("link", name="Swap the versions").click()
    compared.wait_for_url("**/compare/59...52**")
    compared.get_by_role("button", name="Compare rows").click()

    back = compared.get_by_role("link", name=re.compile("deleted"))
    expect(back).to_have_text(forth.replace("inserted", "deleted"))


def test_all_changed_rows_are_downloaded(compared: Page, tmp_path: Path) -> None:
    for name, path in (("Parquet", tmp_path / "a"), ("CSV", tmp_path / "b")):
        with compared.expect_download() as download:
            compared.get_by_role("link", name=name, exact=True).click()
        download.value.save_as(path)

    rows = pq.read_table(tmp_path / "a")
    with (tmp_path / "b").open(newline="") as file:
        lines = list(csv.reader(file))
    assert rows.num_rows == len(lines) - 1 > 0
    assert set(rows["_change_type"].to_pylist()) == {line[0] for line in lines[1:]}


@every_theme(
    [
        *(f"{CUSTOMERS}compare/{VERSIONS}{view}" for view in VIEWS),
        f"{CUSTOMERS}schema/lifetime_value",
        *(f"{ORDERS}files", f"{ORDERS}partitions?picture=treemap"),
        f"{ORDERS}skipping?where=country='DE' AND year(placed_at) = 2026",
    ],
    seldom=[
        *(f"{CUSTOMERS}compare/{VERSIONS}{view}" for view in MORE_VIEWS),
        f"{ORDERS}partitions",
    ],
)
@pytest.mark.usefixtures("address")
def test_every_view_is_sound_in_both_themes_and_on_a_phone(watch, server, path, theme):
    assert_sound(watch, f"{server.url}{path}", theme)
