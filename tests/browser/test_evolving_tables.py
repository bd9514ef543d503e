"""The pages of what became of a table, and of who reads it, on screens of any size."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watch, register
from tests.browser.soundness import assert_sound
from tests.support.processes.installation import Installation
from tests.support.tables.fed_table import renamed_things

TABLE = "/t/web/things"


@pytest.fixture
def things(server: Installation, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a table that records its changes, once it is indexed."""
    folder = renamed_things().on_disk(tmp_path_factory.mktemp("things") / "t")
    register(server, "web.things", folder)
    return f"{server.url}{TABLE}"


def test_changes_readers_and_lanes_are_sound(watch: Watch, things: str) -> None:
    page = watch.page
    page.goto(f"{things}/changes?from=1&to=3")
    expect(page.locator(".dw-feed tr.c-upd ins")).to_have_text("z")
    page.get_by_label("Column that changed").select_option("name")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.locator(".dw-feed tr[data-row]")).to_have_count(1)

    assert_sound(watch, f"{things}/changes?from=1&to=3")
    assert_sound(watch, f"{things}/readers", "dark")
    assert_sound(watch, f"{things}/schema-lanes")
