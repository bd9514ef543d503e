"""A file and a folder become tables in a real browser: seen first, then made."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from playwright.sync_api import FilePayload, Page, expect

from deltaweb.table import DeltaTable
from tests.browser.conftest import Watch, expect_said
from tests.browser.soundness import serious_findings
from tests.support.processes.installation import Installation

WITHIN_MS = 120_000
CSV = b"id;refund\n1;49,90\n2;n/a\n3;7,00\n"


def begin(page: Page, address: str, *, name: str, place: Path) -> None:
    """Open the page that makes a table, and say which and where."""
    page.goto(address)
    page.locator("input[name=name]").fill(name)
    page.locator("input[name=location]").fill(str(place))


def agree(watch: Watch, button: str, *, name: str) -> None:
    """Press the button of a look, and wait for the table that is opened."""
    page = watch.page
    wanted = page.get_by_role("button", name=button)
    expect(wanted).to_be_visible(timeout=WITHIN_MS)
    assert serious_findings(page) == []
    wanted.click()
    expect(page.locator("h1")).to_contain_text(name, timeout=WITHIN_MS)
    expect_said(page, "Done")
    assert (watch.faults, watch.foreign) == ([], [])


def test_a_file_that_is_brought_becomes_a_table_after_a_type_was_changed(
    watch: Watch, server: Installation, tmp_path: Path
) -> None:
    page, place = watch.page, tmp_path / "returns"
    begin(
        page, f"{server.url}/tables/new/import", name="web.brought_returns", place=place
    )
    brought = FilePayload(name="returns.csv", mimeType="text/csv", buffer=CSV)
    page.get_by_label("Decimal sign").select_option(",")
    page.locator("input[type=file]").set_input_files(brought)  # which checks it
    expect(page.get_by_role("button", name="Import 3 rows")).to_be_visible(
        timeout=WITHIN_MS
    )
    assert not place.exists()

    page.locator("[name=column_type]").nth(1).select_option("decimal(12,2)")
    page.get_by_role("button", name="Check again").click()
    expect_said(page, "1 row does not fit", within_ms=WITHIN_MS)
    agree(watch, "Import 2 rows", name="brought_returns")

    rows = DeltaTable(str(place)).snapshot().read().to_pylist()
    assert [(row["id"], str(row["refund"])) for row in rows] == [
        (1, "49.90"),
        (3, "7.00"),
    ]


def test_a_folder_becomes_a_table_where_it_lies(watch, server, tmp_path):
    page, place = watch.page, tmp_path / "events"
    (place / "day=2026-01-31").mkdir(parents=True)
    pq.write_table(pa.table({"id": [1, 2]}), place / "day=2026-01-31" / "a.parquet")
    begin(page, f"{server.url}/tables/new/convert", name="web.converted", place=place)

    page.get_by_role("button", name="Show what would happen").click()
    agree(watch, "Convert 1 file into web.converted", name="converted")

    snapshot = DeltaTable(str(place)).snapshot()
    assert snapshot.metadata.partition_columns == ["day"]
    assert snapshot.read().num_rows == 2


def test_a_table_is_created_of_the_columns_of_a_file(watch, server, tmp_path):
    page, place = watch.page, tmp_path / "shaped"
    begin(page, f"{server.url}/tables/new/create", name="web.shaped", place=place)
    brought = FilePayload(name="returns.csv", mimeType="text/csv", buffer=CSV)
    page.locator("input[type=file]").set_input_files(brought)
    page.get_by_role("button", name="Show what would happen").click()
    kind = page.get_by_label("Type of column 2")
    expect(kind).to_have_value("string", timeout=WITHIN_MS)

    kind.fill("decimal(12,2)")
    page.get_by_role("button", name="Preview again").click()
    expect(page.locator("main")).to_contain_text("decimal(12,2)", timeout=WITHIN_MS)
    agree(watch, "Create web.shaped", name="shaped")

    assert DeltaTable(str(place)).snapshot().num_files == 0


def test_a_column_with_two_readings_is_asked_for(
    watch: Watch, server: Installation, tmp_path: Path
) -> None:
    page, place = watch.page, tmp_path / "readings"
    begin(page, f"{server.url}/tables/new/import", name="web.readings", place=place)
    rows = b"id;day;price;weight\n1;01.02.2026;12,50;1,234\n2;03.04.2026;abc;2,500\n"
    rows += b"3;05.06.2026;7,10;3,100\n"
    brought = FilePayload(name="readings.csv", mimeType="text/csv", buffer=rows)
    page.locator("input[type=file]").set_input_files(brought)
    expect(page.get_by_text("Nothing can be imported yet")).to_be_visible(
        timeout=WITHIN_MS
    )
    assert serious_findings(page) == []
    for button in ("DD.MM.YYYY for day", "Decimal comma for weight", "Take double"):
        page.get_by_role("button", name=button).click()
        expect(page.get_by_role("button", name=button)).to_have_count(
            0, timeout=WITHIN_MS
        )
    agree(watch, "Import 2 rows", name="readings")

    found = DeltaTable(str(place)).snapshot().read().sort_by("id").to_pylist()
    assert [(r["id"], str(r["day"]), r["price"], r["weight"]) for r in found] == [
        (1, "2026-02-01", 12.5, 1.234),
        (3, "2026-06-05", 7.1, 3.1),
    ]
