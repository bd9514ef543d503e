"""Answers are few clicks from the dashboard, as a newcomer finds them.

A text that is typed is no click, and neither is what the system's own dialog of files
takes.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest
import requests
from playwright.sync_api import FilePayload, Locator, Page, expect

from deltaweb.table import DeltaTable
from tests.browser.conftest import Watch, expect_said, register
from tests.browser.test_sharing import bearer
from tests.support.pages.clicks import count_clicks, num_clicks
from tests.support.processes.installation import Installation

MOST: Final = 4
MOST_OF_AN_IMPORT: Final = 5
WITHIN_MS: Final = 120_000
ROWS: Final = pa.table({"id": range(8), "country": ["DE", "FR"] * 4})
CSV: Final = FilePayload(
    name="more.csv", mimeType="text/csv", buffer=b"id,country\n8,DE\n9,FR\n10,DE\n"
)
Made = Callable[[str], str]
"""Makes a table of five versions that is registered by a name; returns this name."""

pytestmark = pytest.mark.usefixtures("samples")


@pytest.fixture
def made(server: Installation, tmp_path: Path) -> Made:
    def make(name: str) -> str:
        place = str(tmp_path / name)
        table = DeltaTable.create(place, ROWS.schema, partition_by=["country"])
        for first in range(0, 32, 8):
            ids = pa.array(range(first, first + 8))
            table.append(ROWS.set_column(0, "id", ids))
        register(server, f"clicks.{name}", Path(place))
        return f"clicks.{name}"

    return make


@pytest.fixture
def page(watch_anew: Watch) -> Page:
    count_clicks(watch_anew.page)
    return watch_anew.page


def newest(page: Page, server: Installation, name: str) -> Locator:
    """Open the dashboard, and return the line of the newest commit of a table."""
    page.goto(f"{server.url}/")
    return page.locator("article.x-latest", has_text=name)


def open_tab(page: Page, label: str) -> None:
    page.get_by_role("navigation", name="Table").get_by_role("link", name=label).click()


def assert_clicks(page: Page, expected: int, *, most: int = MOST) -> None:
    """Fail if it took another number of clicks, or more than a newcomer should need."""
    assert num_clicks(page) == expected
    assert expected <= most


def test_the_table_of_a_column(page: Page, server: Installation) -> None:
    page.goto(f"{server.url}/")
    page.locator("#search").click()
    page.keyboard.type("lifetime_value")
    page.get_by_role("option", name="lifetime_value in samples.customers").click()
    page.wait_for_url("**/t/samples/customers/**")
    assert_clicks(page, 2)


def test_rows_and_a_filter_and_their_csv(
    page: Page, server: Installation, made: Made
) -> None:
    line = newest(page, server, made("rows"))
    line.get_by_role("link", name="clicks.rows").click()
    open_tab(page, "Data")
    expect(page.locator("table.dw-grid-t tbody tr")).to_have_count(32)
    assert_clicks(page, 2)

    page.get_by_role("group", name="Values of country").get_by_text("DE").click()
    expect(page.get_by_role("heading", name="Rows where country = DE")).to_be_visible()
    assert_clicks(page, 3)

    with page.expect_download() as found:
        page.get_by_role("link", name="CSV", exact=True).first.click()
    assert len(found.value.path().read_text().splitlines()) == 1 + 16
    assert_clicks(page, 4)


def test_the_changed_rows_of_a_commit(
    page: Page, server: Installation, made: Made
) -> None:
    newest(page, server, made("changed")).get_by_role("link", name="v4").click()
    page.get_by_role("button", name="Changed rows").click()
    expect(page.locator("tr.c-ins")).to_have_count(8)
    assert_clicks(page, 2)


def test_the_rows_of_two_versions(page: Page, server: Installation, made: Made) -> None:
    line = newest(page, server, made("compared"))
    line.get_by_role("link", name="commits").click()
    for version in (1, 3):
        page.get_by_label(f"Compare version {version}", exact=True).click()
    page.get_by_role("button", name="Compare rows").click()
    expect(page.locator("tr.c-ins")).to_have_count(16)
    assert_clicks(page, 4)


def test_an_undo_of_the_newest_commit(
    page: Page, server: Installation, made: Made
) -> None:
    newest(page, server, made("undone")).get_by_role("link", name="v4").click()
    page.get_by_role("button", name="Undo this commit").click()
    page.get_by_role("button", name="Undo v4").click(timeout=WITHIN_MS)
    expect_said(page, "Committed version 5", within_ms=WITHIN_MS)
    assert_clicks(page, 3)


def test_an_undo_of_an_older_commit(
    page: Page, server: Installation, made: Made
) -> None:
    line = newest(page, server, made("reverted"))
    line.get_by_role("link", name="commits").click()
    page.get_by_role("link", name="v2", exact=True).click()
    page.get_by_role("button", name="Undo this commit").click()
    page.get_by_role("button", name="Undo v2").click(timeout=WITHIN_MS)
    expect_said(page, "Committed version 5", within_ms=WITHIN_MS)
    assert_clicks(page, 4)


def test_to_compact(page: Page, server: Installation, made: Made) -> None:
    line = newest(page, server, made("small"))
    line.get_by_role("link", name="clicks.small").click()
    open_tab(page, "Maintenance")
    page.get_by_role("button", name="Optimize…").click()
    page.get_by_role("button", name="Pack 8 files into about 2").click(
        timeout=WITHIN_MS
    )
    expect_said(page, "Committed version 5", within_ms=WITHIN_MS)
    assert_clicks(page, 4)


@pytest.fixture
def reader(server: Installation, tmp_path: Path, made: Made) -> str:
    """A recipient who has read a table."""
    table = made("read")
    for words in (
        ("share", "create", "clicks"),
        ("share", "add-table", "clicks", table, "--table", table),
    ):
        server.command(*words)
    profile = tmp_path / "wernham.share"
    server.command(
        *("recipient", "create", "wernham", "--share", "clicks"),
        *("--profile", str(profile)),
    )
    place = "/delta-sharing/shares/clicks/schemas/clicks/tables/read/metadata"
    answer = requests.get(server.url + place, headers=bearer(profile), timeout=60)
    assert answer.status_code == 200
    return "wernham"


def test_who_read_what_and_to_rotate_a_token(
    page: Page, server: Installation, reader: str
) -> None:
    rail = page.get_by_role("navigation", name="Main")
    page.goto(f"{server.url}/")
    rail.get_by_role("link", name="Activity").click()
    expect(page.locator("main")).to_contain_text(f"{reader} read the schema")
    assert_clicks(page, 1)

    rail.get_by_role("link", name="Recipients").click()
    page.get_by_role("link", name=reader).click()
    page.get_by_role("link", name="Rotate…").first.click()
    page.get_by_role("button", name="Rotate and make the link").click()
    expect(page.locator("#link")).to_be_visible()
    assert_clicks(page, 1 + 4, most=1 + MOST)


def choose(page: Page) -> None:
    with page.expect_file_chooser() as found:
        page.locator("input[type=file]").click()
    found.value.set_files(CSV)


def test_to_import_a_file_into_a_table(
    page: Page, server: Installation, made: Made
) -> None:
    line = newest(page, server, made("grown"))
    line.get_by_role("link", name="clicks.grown").click()
    page.get_by_label("More actions").click()
    page.get_by_role("link", name="Import a file…").click()
    choose(page)
    page.get_by_role("button", name="Import 3 rows").click(timeout=WITHIN_MS)
    expect_said(page, "Done", within_ms=WITHIN_MS)
    assert_clicks(page, 5, most=MOST_OF_AN_IMPORT)


def test_to_import_a_file_as_a_new_table(
    page: Page, server: Installation, tmp_path: Path
) -> None:
    page.goto(f"{server.url}/")
    page.get_by_role("navigation", name="Main").get_by_role(
        "link", name="Catalog"
    ).click()
    page.get_by_role("link", name="New table").click()
    page.get_by_role("link", name="Import a file").click()
    page.wait_for_url("**/tables/new/import")
    page.locator("input[name=name]").fill("clicks.brought")
    page.locator("input[name=location]").fill(str(tmp_path / "brought"))
    choose(page)
    page.get_by_role("button", name="Import 3 rows").click(timeout=WITHIN_MS)
    expect_said(page, "Done", within_ms=WITHIN_MS)
    assert_clicks(page, 5, most=MOST_OF_AN_IMPORT)
