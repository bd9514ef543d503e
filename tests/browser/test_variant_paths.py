"""A path of a variant becomes a column of the rows, by the chooser and by a record."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watch, register
from tests.browser.soundness import serious_findings
from tests.support.processes.installation import Installation
from tests.support.tables.variant_tables import USER_ID, ZIP_CODE, write_events

DATA = "/t/web/events/data"
WITHIN_MS = 120_000


@pytest.fixture(autouse=True)
def events(server: Installation, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A registered and indexed table of five events with variants."""
    folder = write_events(tmp_path_factory.mktemp("lake") / "events", shredded=True)
    register(server, "web.events", folder)


def test_a_path_is_added_as_a_column(watch: Watch, server: Installation) -> None:
    page = watch.page
    page.goto(f"{server.url}{DATA}")
    rows = page.locator("#rows tr[data-row]")
    headers = page.locator("#rows thead th")
    expect(rows).to_have_count(5, timeout=WITHIN_MS)
    page.locator("summary", has_text="Columns").click()
    page.get_by_label("Path in the variant").fill("$.user.id")
    page.get_by_label("Type of its values").select_option("bigint")
    assert serious_findings(page) == []

    page.locator(".x-path").get_by_role("button", name="Add").click()

    expect(headers.last).to_contain_text(USER_ID, timeout=WITHIN_MS)
    expect(headers.last).to_contain_text("bigint")
    expect(page.locator("#rows td:last-child")).to_have_text(
        ["42", "7", "NULL", "100", "NULL"]
    )
    page.locator("summary", has_text="Columns").click()
    expect(page.get_by_label(USER_ID)).to_be_checked()

    page.get_by_label("Row 1 as a record").click()
    page.get_by_role("link", name=ZIP_CODE).click(timeout=WITHIN_MS)

    expect(headers.last).to_contain_text(ZIP_CODE, timeout=WITHIN_MS)
    expect(rows.first).to_contain_text("10115")
    assert watch.faults == []
