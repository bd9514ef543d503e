"""A recipient without a program: from its link to rows, changes and a sheet."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import openpyxl
import pyarrow as pa
import pytest
from playwright.sync_api import Browser, expect

from deltaweb.table import DeltaTable
from tests.browser.conftest import WINDOW, Watch, register, watched
from tests.browser.soundness import assert_open_is_sound, assert_sound, every_theme
from tests.support.processes.installation import Installation

SHARE: Final = "depots"
NAME: Final = "logistics.depots"
TABLE: Final = f"/portal/t/{SHARE}/logistics/depots"
NUM_ROWS: Final = 60
CITY: Final = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"
DEPOTS: Final = pa.table(
    {
        "id": range(NUM_ROWS),
        "city": [CITY if number == 7 else f"city {number}" for number in range(60)],
        "rent": [None if number == 9 else number * 1.5 for number in range(NUM_ROWS)],
    }
)
PAGES: Final = [
    *("/portal/", TABLE, f"{TABLE}?f=city:contains:city&sort=-id"),
    *(f"{TABLE}/changes", f"{TABLE}?f=id:eq:999", "/portal/rotate"),
]
SELDOM: Final = [
    *("/portal/?q=nothing+of+this+name", f"{TABLE}/file?format=csv"),
    *("/portal/t/no/such/page", "/portal/sign-in"),
]


@pytest.fixture(scope="module")
def link(server: Installation, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The link of a recipient of a table that keeps its changes."""
    folder = tmp_path_factory.mktemp("lake") / "depots"
    feed = {"delta.enableChangeDataFeed": "true"}
    table = DeltaTable.create(str(folder), DEPOTS.schema, properties=feed)
    table.append(DEPOTS)
    table.update({"rent": "999.5"}, "id = 3")
    table.delete("id = 59")
    register(server, NAME, folder)
    server.command("share", "create", SHARE)
    server.command("share", "add-table", SHARE, NAME, "--table", NAME)
    server.command("share", "browser", SHARE)
    made = server.command("recipient", "create", "stark", "--share", SHARE)
    server.command("recipient", "own-rotation", "stark")
    server.command("recipient", "limit", "stark", "--hard", "1GB")
    found = re.search(r"http://\S+/activate/[\w-]+", made)
    assert found is not None, made
    return found[0]


@pytest.fixture(scope="module")
def opened(browser: Browser, server: Installation, link: str) -> Iterator[Watch]:
    """The page of the recipient, who has no account and came by the link."""
    context = browser.new_context(viewport=WINDOW, reduced_motion="reduce")
    visitor = watched(context.new_page(), server)
    visitor.page.goto(link)
    assert_open_is_sound(visitor, link)
    visitor.page.get_by_role("button", name="Open in the browser").click()
    visitor.page.wait_for_url("**/portal/")
    yield visitor
    context.close()


@pytest.fixture
def visitor(opened: Watch) -> Watch:
    """That page, of whose faults before nothing is known."""
    for found in (opened.foreign, opened.faults, opened.asked):
        found.clear()
    return opened


def test_a_link_leads_to_rows_changes_and_an_opened_sheet(
    visitor: Watch, server: Installation, tmp_path: Path
) -> None:
    page = visitor.page
    page.goto(f"{server.url}/portal/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("1 table from")
    expect(page.locator(".po-me")).to_contain_text("stark")
    page.get_by_role("link", name=NAME).click()

    grid = page.get_by_role("region", name="Rows 1 to 50")
    expect(grid.locator("tbody tr")).to_have_count(50)
    page.get_by_role("link", name="Next rows").click()
    last = page.get_by_role("region", name="Rows 51 to 59")
    expect(last.locator("tbody tr")).to_have_count(9)
    page.get_by_role("combobox", name="Column").select_option("id")
    page.get_by_role("combobox", name="Operator").select_option("<")
    page.get_by_placeholder("value").fill("10")
    page.get_by_role("button", name="Add filter").click()
    page.get_by_role("link", name="id", exact=True).click()
    page.get_by_role("link", name="id", exact=True).click()
    rows = page.get_by_role("region", name="Rows 1 to 10").locator("tbody tr")
    expect(rows).to_have_count(10)
    expect(rows.first).to_contain_text("city 9")
    assert_open_is_sound(visitor, "filtered rows")

    with page.expect_download() as download:
        page.get_by_role("button", name="XLSX").click()
    download.value.save_as(tmp_path / "depots.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "depots.xlsx").active
    head, *body = sheet.iter_rows(values_only=True)
    assert download.value.suggested_filename == "logistics.depots.xlsx"
    assert head == ("id", "city", "rent")
    assert [row[0] for row in body] == [*range(9, -1, -1)]
    rents = {row[0]: row[2] for row in body}
    assert (rents[9], rents[3], rents[2]) == (None, 999.5, 3.0)
    assert body[2][1] == CITY

    page.get_by_role("link", name="Changes", exact=True).click()
    changes = page.get_by_role("region", name="Changed rows")
    expect(changes.locator("tbody tr").first).to_contain_text("deleted")
    expect(changes).to_contain_text("updated")
    expect(changes).to_contain_text("999.5")
    assert_open_is_sound(visitor, "changes", "dark")


@every_theme(PAGES, seldom=SELDOM)
def test_every_page_is_sound_in_both_themes_and_on_a_phone(
    visitor, server, path, theme
):
    assert_sound(visitor, f"{server.url}{path}", theme)


def test_the_sign_in_says_what_is_wrong_and_takes_the_profile(
    visitor: Watch, browser: Browser, server: Installation, link: str, tmp_path: Path
) -> None:
    del visitor  # the link has opened the browser, and still gives the profile
    context = browser.new_context(viewport=WINDOW)
    theirs = watched(context.new_page(), server)
    page = theirs.page
    page.goto(link)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download profile").click()
    download.value.save_as(tmp_path / "stark.share")
    page.goto(f"{server.url}/portal/")
    expect(page).to_have_url(re.compile("/portal/sign-in"))
    page.get_by_label("Or the token").fill("dwt_made_up")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    theirs.faults.clear()  # Chromium reports the answer that refuses
    assert_open_is_sound(theirs, "a refused token")

    page.get_by_label("Your profile file").set_input_files(tmp_path / "stark.share")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".po-me")).to_contain_text("stark")
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/portal/sign-in"))
    page.goto(f"{server.url}{TABLE}")
    expect(page).to_have_url(re.compile("/portal/sign-in"))
    assert theirs.foreign == []
    assert theirs.faults == []
    context.close()
