"""Lists in a real browser: search while one types, headers, filters, days and ticks."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.soundness import assert_sound, every_theme
from tests.support.processes.installation import Installation

HISTORY = "/t/samples/orders/history"
pytestmark = pytest.mark.usefixtures("samples")


def test_a_search_is_answered_while_one_types_and_chosen_by_keys(watch, server):
    page = watch.page
    page.goto(f"{server.url}/jobs/")
    box = page.get_by_role("combobox", name="Search", exact=False).first
    expect(box).to_have_attribute("aria-expanded", "false")

    page.keyboard.press("/")
    page.keyboard.type("order")
    options = page.locator("#search-hits [role=option]")
    expect(options.first).to_be_visible()
    expect(box).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#search-hits")).to_contain_text("order_id in samples.orders")

    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    assert box.get_attribute("aria-activedescendant") == options.last.get_attribute(
        "id"
    )

    page.keyboard.press("Escape")
    expect(page.locator("#search-hits")).to_be_hidden()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/t/samples/orders/$"))
    assert watch.faults == []


def test_the_page_of_the_search_follows_its_box(watch: Watch, server: Installation):
    page = watch.page
    page.goto(f"{server.url}/search")

    page.locator("main input[name=q]").press_sequentially("return", delay=20)
    expect(page.locator("#results .dw-hits")).not_to_have_count(0)
    expect(page).to_have_url(f"{server.url}/search?q=return")
    page.keyboard.press("ArrowDown")

    expect(page.locator("#results .dw-hits a").first).to_be_focused()
    assert watch.faults == []


def test_headers_sort_and_forms_leave_no_empty_parts(watch, server):
    page = watch.page
    page.goto(f"{server.url}/tables/")

    page.get_by_role("link", name="Size", exact=True).click()
    expect(page).to_have_url(f"{server.url}/tables/?sort=-size")
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Size")

    page.locator("main input[name=q]").fill("samples")
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_url(f"{server.url}/tables/?q=samples&sort=-size")
    page.locator("main input[name=q]").fill("")
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_url(f"{server.url}/tables/?sort=-size")


def test_days_go_into_the_address_in_one_form_and_ticks_are_needed(watch_anew, server):
    page: Page = watch_anew.page
    page.emulate_media(reduced_motion="no-preference")
    page.add_init_script(
        "addEventListener('transitionrun', () => { document.title = 'moved'; })"
    )
    page.goto(f"{server.url}{HISTORY}")
    compare = page.get_by_role("button", name="Compare ticked")
    expect(compare).to_be_disabled()
    assert page.title() != "moved"  # the browser would paint frame after frame
    page.locator("input[name=pick]").first.check()
    expect(compare).to_be_enabled()

    page.locator("input[name=from]").fill("2 Jan 2020")
    page.get_by_role("button", name="Filter").click()

    expect(page).to_have_url(f"{server.url}{HISTORY}?from=2020-01-02")
    expect(page.locator("input[name=from]")).to_have_value("2 Jan 2020")


@every_theme(
    [
        "/tables/?sort=-size&feature=changeDataFeed",
        "/jobs/?q=samples&sort=-finished",
        "/t/samples/orders/no/such/page",
    ]
)
def test_lists_are_sound(watch, server, path, theme):
    assert_sound(watch, f"{server.url}{path}", theme)


def test_an_empty_filter_leaves_the_address_as_it_is(watch, server):
    page = watch.page
    page.goto(f"{server.url}/jobs/?state=done")
    page.get_by_label("State", exact=True).select_option(label="any state")
    expect(page).to_have_url(f"{server.url}/jobs/")

    page.goto(f"{server.url}/tables/?q=orders")
    page.locator("a.dw-pillx").first.click()
    expect(page).to_have_url(f"{server.url}/tables/")
    assert watch.faults == []


def test_a_number_and_its_unit_are_read_as_two_words(watch, server):
    page = watch.page
    page.goto(f"{server.url}/t/samples/orders/")

    said = page.locator(".dw-kpis").first.aria_snapshot()

    assert re.search(r"\d of \d", said), said
    assert re.search(r"\d [KM]iB", said), said


def test_pages_of_rows_turn_in_place_and_back(watch: Watch, server: Installation):
    page = watch.page
    page.goto(f"{server.url}/t/samples/orders/data")
    first = page.locator(".x-grid tbody tr").first
    expect(first).to_be_visible()
    shown = first.inner_text()
    page.evaluate("window.isTheSame = true")

    page.get_by_role("link", name="Next", exact=True).click()
    expect(page.get_by_text("page 2", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("page=2"))
    assert page.evaluate("window.isTheSame")
    assert first.inner_text() != shown

    page.go_back()
    expect(page.get_by_text("page 1", exact=True)).to_be_visible()
    assert first.inner_text() == shown
    assert watch.faults == []
