"""Recipients in a real browser: their pages, links shown once, activation."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, expect

from tests.browser.conftest import Watch, expect_said
from tests.browser.soundness import assert_sound, every_theme, serious_findings
from tests.support.processes.installation import Installation

RECIPIENT = "/recipients/hooli/"
PAGES = [
    *("/recipients/", "/recipients/new", RECIPIENT, f"{RECIPIENT}settings"),
    *(f"{RECIPIENT}seen", f"{RECIPIENT}tokens/rotate"),
]
SELDOM = [f"{RECIPIENT}grants", f"{RECIPIENT}tokens/new"]  # forms as those


@pytest.fixture(scope="module", autouse=True)
def hooli(server: Installation) -> None:
    """A recipient with a token in use and one that replaces it."""
    server.command("share", "create", "wholesale")
    server.command(
        *("share", "add-table", "wholesale", "sales.orders"),
        *("--table", "samples.orders"),
    )
    profile = server.home / "hooli.share"
    server.command(
        *("recipient", "create", "hooli", "--share", "wholesale"),
        *("--profile", str(profile)),
    )
    server.command("recipient", "rotate", "hooli", "--keep-old", "7d")


@every_theme(PAGES, seldom=SELDOM)
def test_every_page_is_sound_in_both_themes_and_on_a_phone(watch, server, path, theme):
    assert_sound(watch, f"{server.url}{path}", theme)


def test_a_link_is_shown_once_and_downloads_the_profile_once(
    watch_anew: Watch, browser: Browser, server: Installation
) -> None:
    page = watch_anew.page
    asked: list[str] = []

    def on_dialog(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", on_dialog)
    page.goto(f"{server.url}{RECIPIENT}tokens/new")
    page.get_by_role("button", name="Make the token").click()
    link = page.locator("#link").inner_text()
    assert serious_findings(page) == []

    with page.expect_event("dialog"):
        page.get_by_role("link", name="Catalog").click()
    assert asked == ["beforeunload"]
    assert page.locator("#link").inner_text() == link
    page.get_by_label("I have copied it").check()
    page.get_by_role("button", name="Done").click()
    page.wait_for_url(re.compile(r"/recipients/hooli/$"))
    assert asked == ["beforeunload"]
    assert link.rpartition("/")[2] not in page.content()

    outside = browser.new_context(accept_downloads=True)
    theirs = outside.new_page()
    theirs.goto(link)
    assert serious_findings(theirs) == []
    expect(theirs.get_by_label("Code for pandas", exact=True)).to_be_visible()
    theirs.get_by_role("radio", name="DuckDB").check()
    expect(theirs.get_by_label("Code for DuckDB", exact=True)).to_be_visible()
    expect(theirs.get_by_label("Code for pandas", exact=True)).to_be_hidden()
    with theirs.expect_download() as started:
        theirs.get_by_role("button", name="Download profile").click()
    profile = json.loads(Path(started.value.path()).read_text())
    assert started.value.suggested_filename == "hooli.share"
    assert profile["endpoint"] == f"{server.url}/delta-sharing/"
    expect_said(theirs, "This link no longer works")
    expect(theirs.get_by_text("Download your profile.")).to_be_hidden()
    expect(theirs.get_by_text("You have your profile")).to_be_visible()
    theirs.reload()
    expect(theirs.locator("h1")).to_have_text("This link has been used")
    assert serious_findings(theirs) == []
    outside.close()


def test_activation_works_without_a_script(browser: Browser, server: Installation):
    shown = server.command("recipient", "link", "hooli", "--json")
    found = re.search(r"http://[^\"\s]+/activate/[\w-]+", shown)
    assert found is not None
    context = browser.new_context(java_script_enabled=False, accept_downloads=True)
    page = context.new_page()

    page.goto(found[0])
    page.get_by_role("radio", name="curl").check()
    expect(page.get_by_label("Code for curl", exact=True)).to_be_visible()
    with page.expect_download() as started:
        page.get_by_role("button", name="Download profile").click()

    assert started.value.suggested_filename == "hooli.share"
    context.close()
