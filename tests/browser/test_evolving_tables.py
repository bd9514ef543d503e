"""The pages of what became of a table, and of who reads it, on screens of any size."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watch
from tests.browser.soundness import assert_sound
from tests.support.processes.installation import Installation, wait_for
from tests.support.tables.fed_table import renamed_things

TABLE = "/t/web/things"


@pytest.fixture
def things(server: Installation, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a table that records its changes, once it is indexed."""
    folder = renamed_things().on_disk(tmp_path_factory.mktemp("things") / "t")
    server.command("table", "add", "web.things", str(folder))

    def is_indexed() -> bool:
        tables = json.loads(server.command("table", "list", "--json"))
        return ("web.things", "INDEXED") in {(t["name"], t["state"]) for t in tables}

    # A page that is open meanwhile is made again, and forgets what is chosen.
    assert wait_for(is_indexed, timeout_s=200), server.log
    return f"{server.url}{TABLE}"


def test_changes_readers_and_lanes_are_sound(watch: Watch, things: str) -> None:
    page = watch.page
    page.goto(f"{things}/changes?from=1&to=3")
    expect(page.locator(".dw-feed tr.c-upd ins")).to_have_text("z")
    page.get_by_label("Column that changed").select_option("name")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.locator(".dw-feed tr[data-row]")).to_have_count(1)

    for path in ("changes?from=1&to=3", "readers", "schema-lanes", "use?newest=1"):
        assert_sound(watch, f"{things}/{path}")
