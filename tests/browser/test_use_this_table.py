"""`Use this table` beside any page of a table, and the head of these on a phone."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watch
from tests.browser.soundness import assert_sound, every_theme, serious_findings
from tests.support.processes.installation import Installation

TABLE = "/t/samples/customers/"
HEAD_ON_A_PHONE_PX = 150  # with the bar above; unfolded it takes 265 and more
pytestmark = pytest.mark.usefixtures("samples")


def test_the_drawer_has_the_view_of_the_page_by_keyboard_too(watch, server):
    page = watch.page
    page.goto(f"{server.url}{TABLE}data?v=57&col=customer_id&f=customer_id:le:9")
    button = page.get_by_role("link", name="Use this table")
    button.focus()
    button.press("Enter")
    drawer = page.get_by_role("dialog", name="Use this table")

    expect(drawer.get_by_label("Code for pandas", exact=True)).to_contain_text(
        "version=57"
    )
    # Beside pandas there is one more where another test has shared the table.
    drawer.get_by_role("radio", name="PySpark").first.focus()
    page.keyboard.press("ArrowLeft")
    expect(drawer.get_by_role("radio", name="Spark SQL").first).to_be_checked()
    code = drawer.get_by_label("Code for Spark SQL", exact=True).first
    expect(code).to_contain_text("SELECT `customer_id`")
    expect(code).to_contain_text("WHERE `customer_id` <= 9")
    assert serious_findings(page) == []
    expect(code).to_contain_text("VERSION AS OF 57")
    drawer.get_by_role("link", name="Always the newest").click()
    expect(code).not_to_contain_text("VERSION AS OF")
    expect(drawer.get_by_role("radio", name="Spark SQL").first).to_be_checked()
    expect(code).to_contain_text("WHERE `customer_id` <= 9")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(button).to_be_focused()


def test_the_code_is_copied(watch: Watch, server: Installation) -> None:
    page = watch.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{server.url}{TABLE}schema?v=57")
    page.get_by_role("link", name="Use this table").click()
    page.get_by_role("button", name="Copy the code for Spark SQL").last.click()

    expect(page.locator("#live")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"RESTORE TABLE delta\.`.+` TO VERSION AS OF 57$", copied)


def test_an_old_version_leads_to_its_restore(watch: Watch, server: Installation):
    page = watch.page
    page.goto(f"{server.url}{TABLE}history/57")

    page.get_by_role("link", name="Restore v57").click()

    expect(page.get_by_role("radio", name="v57")).to_be_checked()
    expect(page.get_by_role("button", name="Show what would happen")).to_be_visible()


@every_theme([f"{TABLE}use?v=57&f=customer_id:le:9"])
def test_the_page_of_its_own_is_sound(watch, server, path, theme):
    assert_sound(watch, f"{server.url}{path}", theme)


def test_without_a_script_the_button_leads_to_the_page(watch, server):
    browser = watch.page.context.browser
    assert browser is not None
    state = watch.page.context.storage_state()
    context = browser.new_context(java_script_enabled=False, storage_state=state)
    page = context.new_page()
    page.goto(f"{server.url}{TABLE}schema?v=57")

    page.get_by_role("link", name="Use this table").click()

    page.get_by_role("radio", name="DuckDB").check()
    expect(page.get_by_label("Code for DuckDB", exact=True)).to_be_visible()
    expect(page.get_by_label("Code for pandas", exact=True)).to_be_hidden()
    context.close()


def test_on_a_phone_the_head_is_one_line_that_unfolds(watch, server):
    page = watch.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}{TABLE}schema")
    tabs = page.get_by_role("navigation", name="Table")

    box = tabs.bounding_box()
    assert box is not None
    assert box["y"] < HEAD_ON_A_PHONE_PX
    expect(page.locator(".dw-vt")).to_be_hidden()
    page.get_by_label("Show the versions and facts of the table").check()
    expect(page.locator(".dw-vt")).to_be_visible()
    page.goto(f"{server.url}{TABLE}")
    expect(page.locator(".dw-vt")).to_be_visible()
