"""Two companies read their own rows of three tables, after at most twelve clicks."""

import re
from functools import partial
from pathlib import Path
from typing import Any, Final

import delta_sharing
import pyarrow as pa
import pytest
import requests
from playwright.sync_api import Browser, Page, expect

from deltaweb.table import DeltaTable
from tests.browser.conftest import Watch, register
from tests.browser.soundness import assert_open_is_sound, assert_sound
from tests.browser.test_sharing import activate, bearer
from tests.support.pages.clicks import count_clicks, num_clicks
from tests.support.processes.installation import Installation, wait_for

SHARE: Final = "own_rows"
TABLES: Final = ("samples.customers", "samples.orders", "crm.visits")
COMPANIES: Final = {"vandelay": "DE", "umbrella": "FR"}
MOST_CLICKS: Final = 12
VISITS: Final = pa.table({"id": [1, 2, 3, 4], "country": ["DE", "FR", "DE", None]})

pytestmark = [
    pytest.mark.usefixtures("samples"),
    pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning"),
]


def share_by_clicks(page: Page, server: Installation) -> int:
    """Share the tables with the companies, and return how many clicks it took."""
    count_clicks(page)
    page.goto(server.url)
    page.get_by_role("link", name="Shares", exact=True).first.click()
    page.get_by_role("link", name="New share").first.click()
    page.get_by_label("Name of the share").fill(SHARE)
    page.get_by_role("button", name="Next: tables").click()
    for name in TABLES:
        page.locator("li", has_text=name).get_by_role("checkbox").check()
    page.get_by_role("button", name="Next: recipients").click()
    first, second = COMPANIES
    page.get_by_label("Name", exact=True).fill(first)
    page.get_by_label("Properties").fill(f"country={COMPANIES[first]}")
    page.get_by_role("button", name="Add to the share").click()
    # The form is exchanged in place, which nothing else waits for.
    expect(page.get_by_label("Properties")).to_have_value("")
    page.get_by_label("Name", exact=True).fill(second)
    page.get_by_role("button", name="Next: what they see").click()
    # Typed, left by the Tab key: the part shows at once what it means.
    page.get_by_label("Condition").fill("country = recipient.country")
    page.keyboard.press("Tab")
    blind = page.locator("tr", has_text=second)
    expect(blind).to_contain_text("0 rows")
    expect(blind).to_contain_text("Set country")
    page.get_by_label(f"country of {second}").fill(COMPANIES[second])
    page.keyboard.press("Tab")
    expect(blind).not_to_contain_text("0 rows")
    expect(page.locator("#rows-where")).to_be_checked()
    page.get_by_label("Use these rows for the other 2 tables").check()
    page.get_by_role("button", name="Next: review").click()
    expect(page.locator("main")).not_to_contain_text("0 rows")
    page.get_by_role("button", name="Create the share").click()
    expect(page.locator("#link-2")).to_be_visible()
    return num_clicks(page)


def read(profile: Path, name: str) -> Any:  # noqa: ANN401 (a frame)
    """The rows of a table as its recipient's own client reads them."""
    return delta_sharing.load_as_pandas(f"{profile}#{SHARE}.{name}")


def test_two_companies_read_their_own_rows_of_three_tables(
    watch: Watch, server: Installation, browser: Browser, lake: Path, tmp_path: Path
) -> None:
    page = watch.page
    visits = DeltaTable.create(str(tmp_path / "visits"), VISITS.schema)
    visits.append(VISITS)
    register(server, "crm.visits", tmp_path / "visits")

    assert share_by_clicks(page, server) <= MOST_CLICKS

    profiles = {}
    for number, name in enumerate(COMPANIES, start=1):
        (tmp_path / name).mkdir()
        link = page.locator(f"#link-{number}").inner_text()
        profiles[name] = activate(browser, link, tmp_path / name)
    page.get_by_label("I have copied").check()
    page.get_by_role("button", name="Done").click()
    for company, country in COMPANIES.items():
        profile = profiles[company]
        assert wait_for(partial(is_ready, server, profile))
        for name in TABLES:
            rows = read(profile, name)
            assert len(rows) > 0
            assert set(rows["country"]) == {country}
            assert len(rows) == num_rows(name, country, lake, visits)
    assert watch.foreign == []
    assert watch.faults == []


def is_ready(server: Installation, profile: Path) -> bool:
    """Whether every table of the share is prepared for a recipient."""
    answers = []
    for name in TABLES:
        schema, _, table = name.partition(".")
        path = f"shares/{SHARE}/schemas/{schema}/tables/{table}/query"
        address = f"{server.url}/delta-sharing/{path}"
        asked = requests.post(address, json={}, headers=bearer(profile), timeout=60)
        answers.append(asked.status_code)
    return set(answers) == {200}


def num_rows(name: str, country: str, lake: Path, visits: DeltaTable) -> int:
    """How many rows of a table are of a country, by reading all of it."""
    schema, _, table = name.partition(".")
    held = visits if schema == "crm" else DeltaTable(str(lake / table))
    return held.snapshot().read()["country"].to_pylist().count(country)


def test_the_page_of_a_shared_table_changes_its_rule(
    watch: Watch, server: Installation
) -> None:
    page = watch.page
    condition = ("--where", "country = recipient.country")
    server.command("share", "create", "partly")
    for name, more in {"samples.orders": condition, "samples.customers": ()}.items():
        server.command("share", "add-table", "partly", name, "--table", name, *more)
    for name, country in {"soylent": "DE", "tyrell": "FR"}.items():
        values = ("--property", f"country={country}", "--expires", "30d")
        server.command("recipient", "create", name, "--share", "partly", *values)
    page.goto(f"{server.url}/shares/partly/")
    page.get_by_role("link", name="What soylent sees of samples.orders").click()
    line = page.locator("tr", has_text="tyrell")
    expect(line).to_contain_text(re.compile(r"[1-9][0-9,]* rows"))
    assert_open_is_sound(watch, "what recipients see")
    assert_sound(watch, page.url, "dark")

    page.get_by_label("View as").select_option("tyrell")
    expect(page.locator("#part-rows-title")).to_contain_text("As tyrell sees it")
    page.locator("#column-0").uncheck()
    expect(page.locator("#part-columns ~ span")).to_contain_text("9 of 10 are seen")
    page.get_by_role("button", name="samples.customers").click()
    expect(page.locator("main")).to_contain_text("Save the changes of this table first")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("main")).to_contain_text("samples.orders is changed.")
    expect(page.locator("#column-0")).not_to_be_checked()
    page.get_by_role("button", name="samples.customers").click()
    expect(page.locator(".dw-meta")).to_contain_text("partly.samples.customers")
    # Chromium reports the page that says what is not saved yet.
    assert [fault for fault in watch.faults if "422" not in fault] == []
