"""The page of Health: a finding open, muted, mended and closed, and nothing to do."""

import re
from typing import Final

import pyarrow as pa
import pytest
from playwright.sync_api import Page, expect

from deltaweb.table import DeltaTable
from tests.browser.conftest import Watch, expect_said, register
from tests.browser.soundness import assert_open_is_sound, assert_sound
from tests.support.processes.installation import Installation

NAMESPACE: Final = "clinic"
HEALTH: Final = "/health/"
CLUSTERED: Final = f"{NAMESPACE}.visits"
SMALL: Final = f"{NAMESPACE}.drugs"
KEPT: Final = "delta.dataSkippingStatsColumns"
LIMITS: Final = {"files_without_statistics": "2", "small_files": "3"}
WITHIN_MS: Final = 120_000
ROWS: Final = pa.table({"id": range(8), "country": ["DE", "FR"] * 4})


@pytest.fixture(scope="module", autouse=True)
def tables(server: Installation, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A table whose rule reads a column without statistics, and one of small files."""
    lake = tmp_path_factory.mktemp("lake")
    visits = DeltaTable.create(
        str(lake / "visits"), ROWS.schema, properties={KEPT: "id"}
    )
    for _ in range(3):
        visits.append(ROWS)
    visits.set_properties({KEPT: "id,country"})
    drugs = DeltaTable.create(str(lake / "drugs"), ROWS.schema)
    for _ in range(6):
        drugs.append(ROWS)
    for name in (CLUSTERED, SMALL):
        register(server, name, lake / name.rpartition(".")[2])
    server.command("share", "create", NAMESPACE)
    server.command(
        *("share", "add-table", NAMESPACE, CLUSTERED, "--table", CLUSTERED),
        *("--where", "country = 'DE'"),
    )


def set_thresholds(page: Page, url: str) -> None:
    """Have the tables examined with limits of their own, on the page of rules."""
    for name, value in LIMITS.items():
        page.goto(f"{url}{HEALTH}rules")
        page.get_by_role("combobox", name="Namespace").select_option(NAMESPACE)
        page.get_by_role("combobox", name="Threshold").select_option(name)
        page.get_by_label("Value").fill(value)
        page.get_by_role("button", name="Save").click()
        expect_said(page, f"{name} of {NAMESPACE} is {value}.")


def test_a_finding_is_opened_muted_and_shown_again_in_both_themes(
    watch: Watch, server: Installation
) -> None:
    page = watch.page
    set_thresholds(page, server.url)
    assert_open_is_sound(watch, "rules")
    page.goto(f"{server.url}{HEALTH}?namespace={NAMESPACE}")
    line = page.locator("article", has_text=SMALL)
    line.get_by_role("link", name="Evidence").click()
    expect(line).to_contain_text("After Optimize, about")
    for theme in ("light", "dark"):
        assert_open_is_sound(watch, "an open finding", theme)

    page.get_by_label("Muted until").fill("7d")
    page.get_by_role("button", name="Save").click()
    expect_said(page, "Saved.")
    page.goto(f"{server.url}{HEALTH}?namespace={NAMESPACE}")
    expect(page.locator("article", has_text=CLUSTERED)).to_be_visible()
    expect(line).to_have_count(0)
    page.get_by_role("link", name=re.compile("Muted [1-9]")).click()
    expect(line).to_contain_text("muted until")
    assert_open_is_sound(watch, "muted findings", "dark")
    assert watch.faults == []


def test_its_button_opens_the_operation_filled_in_which_closes_it(
    watch: Watch, server: Installation
) -> None:
    page = watch.page
    set_thresholds(page, server.url)
    page.goto(f"{server.url}{HEALTH}?namespace={NAMESPACE}")
    finding = page.locator("article", has_text=CLUSTERED)
    expect(finding).to_contain_text("country has no statistics in any of 3 files")
    finding.get_by_role("link", name="Optimize").click()
    expect(page.get_by_label("Cluster by")).to_have_value("country")
    page.get_by_role("button", name="Show what would happen").click()
    pack = page.get_by_role("button", name=re.compile("Pack 3 files into about 1"))
    pack.click(timeout=WITHIN_MS)
    expect(page.locator(".dw-meta").first).to_contain_text(
        "version 5", timeout=WITHIN_MS
    )

    page.goto(f"{server.url}{HEALTH}?namespace={NAMESPACE}&state=closed")
    closed = page.locator("article", has_text=CLUSTERED)
    expect(closed).to_contain_text("by v5")
    assert_open_is_sound(watch, "closed findings")
    page.goto(f"{server.url}{HEALTH}?namespace={NAMESPACE}")
    expect(page.locator("article", has_text=CLUSTERED)).to_have_count(0)
    page.goto(f"{server.url}/t/{NAMESPACE}/visits/")
    expect(page.locator(".he-card")).to_contain_text("rules found nothing")
    assert_open_is_sound(watch, "the overview of a quiet table", "dark")
    assert watch.faults == []


def test_a_page_without_findings_says_that_there_is_nothing_to_do(
    watch: Watch, server: Installation
) -> None:
    page = watch.page
    page.goto(f"{server.url}{HEALTH}")
    while page.get_by_role("link", name=re.compile("^Evidence")).count():
        page.get_by_role("link", name=re.compile("^Evidence")).first.click()
        page.get_by_label("Muted until").fill("1d")
        page.get_by_role("button", name="Save").click()
        expect_said(page, "Saved.")
        page.goto(f"{server.url}{HEALTH}")

    quiet = page.locator("#finding-rows")
    expect(quiet).to_contain_text("Nothing to do")
    expect(quiet).to_contain_text(re.compile(r"found nothing but \d+ muted finding"))
    for theme in ("light", "dark"):
        assert_sound(watch, f"{server.url}{HEALTH}", theme)
    assert_sound(watch, f"{server.url}{HEALTH}?q=nothing+of+this+name", "dark")
    assert watch.faults == []
