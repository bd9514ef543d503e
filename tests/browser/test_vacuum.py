"""The what-if of a vacuum in a real browser: a slider instead of a request."""

from pathlib import Path

import pyarrow as pa
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watch, register
from tests.browser.soundness import serious_findings
from tests.support.files.aged_files import age, age_removed
from tests.support.processes.installation import Installation
from tests.support.tables.table_builder import TableBuilder

VACUUM = "/t/web/vacuumable/vacuum"
WITHIN_MS = 120_000
SCHEMA = pa.schema([("p", pa.string()), ("id", pa.int64())])


@pytest.fixture
def folder(server: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of six versions one needs a file that left 3 days ago; one of 10 days is lost."""
    folder = tmp_path_factory.mktemp("lake") / "vacuumable"
    table = TableBuilder(folder).columns(SCHEMA).partitioned_by("p").build()
    for number, partition in enumerate("aab"):
        table.append(pa.table({"p": [partition], "id": [number]}, schema=SCHEMA))
    (gone,) = (path for path in folder.glob("p=b/*.parquet"))
    table.delete("p = 'b'")
    table.set_properties({"delta.deletedFileRetentionDuration": "interval 0 days"})
    age_removed(folder, str(gone.relative_to(folder)), version=4, days=3)
    orphan = folder / "p=a" / "part-lost.parquet"
    orphan.write_bytes(b"x" * 20)
    age(orphan, days=10)
    register(server, "web.vacuumable", folder)
    return folder


@pytest.mark.usefixtures("folder")
def test_the_slider_shows_what_each_retention_takes(watch: Watch, server: Installation):
    page = watch.page
    page.goto(f"{server.url}{VACUUM}")
    page.get_by_role("button", name="List what could be deleted").click()
    slider = page.get_by_role("slider", name="Keep removed files for, in hours")
    expect(slider).to_be_visible(timeout=WITHIN_MS)
    files, size = page.locator("[data-num-files]"), page.locator("[data-size]")
    lost, readable = page.locator("[data-lost]"), page.locator("[data-after]")
    hatched = page.locator("[data-band-lost]")
    delete = page.locator("[data-whatif-act] button")
    field = page.get_by_label("Keep removed files for", exact=True)

    slider.press("Home")

    expect(field).to_have_value("0")
    expect(files).to_have_text("2")
    expect(readable).to_have_text("5")
    expect(lost).to_contain_text("between v3 and v3")
    expect(delete).to_contain_text("Delete 2 files")
    expect(delete).to_be_enabled()
    assert hatched.get_attribute("width") != "0%"

    field.fill("100")

    expect(page.get_by_text("= 4 days 4 hours")).to_be_visible()
    expect(slider).to_have_value("100")
    expect(slider).to_have_attribute("aria-valuetext", "4 days 4 hours")
    expect(files).to_have_text("1")
    expect(size).to_have_text("20 B")
    expect(readable).to_have_text("6")
    expect(lost).to_be_hidden()
    expect(page.get_by_text("Every version that is readable now")).to_be_visible()
    expect(delete).to_have_text("Delete 1 file, 20 B")
    assert hatched.get_attribute("width") == "0%"

    slider.press("End")

    expect(files).to_have_text("0")
    expect(delete).to_be_disabled()
    expect(page.locator("[data-bar].w-go")).to_have_count(0)
    assert serious_findings(page) == []
    assert watch.faults == []
