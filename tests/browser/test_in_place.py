"""A page takes the place of another, and is what it is where it is loaded whole."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.browser.conftest import Watch
from tests.support import cases
from tests.support.processes.installation import Installation, wait_for

pytestmark = pytest.mark.usefixtures("samples")
TABLE = "/t/samples/orders"
# What each element of the content is and where. How long ago something was is wider or
# narrower a second later, and moves what stands beside it.
LOOK = """() => {
  for (const one of document.querySelectorAll("main time")) one.textContent = "then";
  return [...document.querySelectorAll("main, main *")]
    .filter((one) => !one.closest(".dw-meta, [data-chart], svg, time, noscript"))
    .map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      const { color, backgroundColor, fontSize, display } = getComputedStyle(one);
      const box = [x, y + scrollY, width, height].map(Math.round);
      const style = [color, backgroundColor, fontSize, display];
      return [one.localName, one.className, ...box, ...style].join(" ");
    });
}"""
FRAME = """() => [document.title, ...[".dw-crumbs", ".dw-rail"].map(
  (css) => document.querySelector(css).outerHTML.replace(/\\s+/g, " "))]"""
# Which links are passed by the keyboard, quickly, before it rests on one.
PASS_BY = """name => {
  for (const tab of document.querySelectorAll(".dw-tabs a")) {
    tab.focus();
    if (tab.textContent === name) return;
  }
}"""


def mark(page: Page) -> None:
    page.evaluate("window.isTheSame = true")


def is_the_same(page: Page) -> bool:
    """Whether the document is that which was marked."""
    return page.evaluate("window.isTheSame === true")


def tab(page: Page, name: str):
    return page.locator(".dw-tabs").get_by_role("link", name=name, exact=True)


def came_to(page: Page, place: int) -> int:
    """Wait until a page is scrolled to a place, and return it."""
    near = 30
    assert wait_for(
        lambda: abs(page.evaluate("scrollY") - place) < near, timeout_s=20
    ), page.evaluate("scrollY")
    return page.evaluate("scrollY")


@contextmanager
def asked(page: Page) -> Iterator[list[Request]]:
    """Yield what a page asks of pages meanwhile."""
    found: list[Request] = []

    def on_request(request: Request) -> None:
        if request.headers.get("accept", "").startswith("text/html"):
            found.append(request)

    page.on("request", on_request)
    yield found
    page.remove_listener("request", on_request)


@cases(
    "address",
    {
        "the dashboard": "/",
        "the catalogue": "/tables/",
        "jobs": "/jobs/",
        "who somebody is": "/me/",
        "recipients": "/recipients/",
        "an overview": f"{TABLE}/",
        "an older version": f"{TABLE}/data?v=3",
        "a schema": f"{TABLE}/schema",
        "the history of columns": f"{TABLE}/schema-lanes",
        "a commit": f"{TABLE}/history/3",
        "versions beside each other": f"{TABLE}/compare/2...3",
        "an operation": f"{TABLE}/delete-rows",
        "a new table": "/tables/new",
    },
    # Of a table and of none, with a form, a grid, a chart, a tree.
    often=["the dashboard", "who somebody is", "an older version", "a commit"],
)
def test_a_page_in_place_looks_as_it_does_where_it_is_loaded(watch, server, address):
    page: Page = watch.page
    page.goto(f"{server.url}{address}")
    expect(page.locator("main [data-news*='job-end']")).to_have_count(0)
    whole, frame, url = page.evaluate(LOOK), page.evaluate(FRAME), page.url
    page.goto(f"{server.url}{TABLE}/files")  # with styles and scripts of its own
    mark(page)

    page.evaluate("address => location.assign(address)", address)
    expect(page).to_have_url(url)
    expect(page).to_have_title(frame[0])

    assert page.evaluate(FRAME) == frame
    assert is_the_same(page)
    in_place = page.evaluate(LOOK)
    if in_place != whole:  # a number that is counted from now may have another length
        page.goto(url)
        whole = page.evaluate(LOOK)
    assert in_place == whole
    assert watch.faults == []


def test_the_way_back_leads_to_the_pages_and_places_before(watch: Watch, server):
    page = watch.page
    page.goto(f"{server.url}{TABLE}/history")
    mark(page)
    commit = page.locator(f"main a[href*='{TABLE}/history/']").nth(8)
    commit.scroll_into_view_if_needed()
    scrolled = page.evaluate("scrollY")
    assert scrolled > 0

    commit.click()
    expect(page).to_have_url(re.compile("/history/\\d+$"))
    came_to(page, 0)
    tab(page, "Data").click()
    expect(page.locator(".x-grid tbody tr").first).to_be_visible()
    page.get_by_role("link", name="Next", exact=True).click()
    expect(page.get_by_text("page 2", exact=True)).to_be_visible()
    tab(page, "Files").click()
    expect(page).to_have_title(re.compile("files"))

    page.go_back()
    expect(page.get_by_text("page 2", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_text("page 1", exact=True)).to_be_visible()
    page.go_back()
    page.go_back()
    expect(page).to_have_title(re.compile("history"))
    came_to(page, scrolled)
    page.go_forward()
    expect(page).to_have_url(re.compile("/history/\\d+$"))
    assert is_the_same(page)
    assert watch.faults == []


def test_a_page_that_was_fetched_ahead_is_shown_without_another_request(watch, server):
    page: Page = watch.page
    page.goto(f"{server.url}{TABLE}/")

    with asked(page) as found:
        tab(page, "Data").hover()
        page.wait_for_event("requestfinished", lambda one: one.url.endswith("/data"))
        tab(page, "Data").click()
        expect(page.locator("table.dw-grid-t tbody tr").first).to_be_visible()

    assert [one.headers.get("purpose") for one in found] == ["prefetch"]

    with asked(page) as found:
        page.keyboard.press("Tab")
        page.evaluate(PASS_BY, "History")
        page.wait_for_event("requestfinished", lambda one: one.url.endswith("/history"))
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("/history$"))
        expect(page).to_have_title(re.compile("history"))

    assert [one.url for one in found] == [f"{server.url}{TABLE}/history"]
    assert watch.faults == []
    assert watch.foreign == []


def test_nothing_is_fetched_ahead_over_a_metered_line(watch_anew, server):
    page: Page = watch_anew.page
    page.add_init_script(
        "Object.defineProperty(navigator, 'connection', {value: {saveData: true}})"
    )
    page.goto(f"{server.url}{TABLE}/schema")

    with asked(page) as found:
        tab(page, "Data").hover()
        page.wait_for_timeout(400)

    assert found == []


def test_the_last_of_two_clicks_counts(watch: Watch, server: Installation):
    page = watch.page
    page.goto(f"{server.url}{TABLE}/settings")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/schema", hold)
    mark(page)

    tab(page, "Schema").click()
    expect(page.locator("html[data-going]")).to_have_count(1)  # that it goes on is seen
    tab(page, "History").click()
    expect(page).to_have_title(re.compile("history"))
    held[0].continue_()
    page.wait_for_timeout(300)  # for what takes its place all the same

    expect(page).to_have_url(re.compile("/history$"))
    expect(page).to_have_title(re.compile("history"))
    expect(page.locator("html[data-going]")).to_have_count(0)
    assert is_the_same(page)


def test_who_is_sent_to_a_page_twice_asks_for_it_once(watch, server):
    page: Page = watch.page
    page.goto(f"{server.url}{TABLE}/history/3")
    mark(page)

    with asked(page) as found:
        page.evaluate(
            "address => { location.assign(address); location.assign(address); }",
            f"{TABLE}/schema",
        )
        expect(page).to_have_url(re.compile("/schema$"))

    # What is said once, as that a job is done, would be in the answer not shown.
    assert [one.url for one in found] == [f"{server.url}{TABLE}/schema"]
    assert is_the_same(page)


def test_keys_of_a_table_do_nothing_where_the_page_shows_none(watch: Watch, server):
    page = watch.page
    page.goto(f"{server.url}{TABLE}/data?v=3")
    mark(page)
    page.get_by_role("link", name="Catalog").first.click()
    expect(page).to_have_url(f"{server.url}/tables/")

    page.keyboard.press("[")
    page.wait_for_timeout(200)  # for what goes elsewhere all the same

    expect(page).to_have_url(f"{server.url}/tables/")
    assert is_the_same(page)


def test_a_filter_keeps_the_focus(watch: Watch, server: Installation):
    page = watch.page
    page.goto(f"{server.url}{TABLE}/files")
    mark(page)
    link = page.locator("main thead a").first

    link.focus()
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile("sort="))
    expect(link).to_be_focused()
    assert is_the_same(page)
    assert watch.faults == []


@cases(
    "answer",
    {
        "a server that is another since": "js/shell.js",
        "a page in another frame": "data-news-url",
        "a part of a page": "</header>",
    },
    often=["a server that is another since", "a page in another frame"],
)
def test_a_page_that_does_not_fit_is_loaded_whole(watch_anew, server, answer):
    page: Page = watch_anew.page
    page.goto(f"{server.url}{TABLE}/schema")
    mark(page)

    def answer_otherwise(route: Route) -> None:
        if route.request.resource_type == "document":
            route.continue_()
            return
        text = route.fetch().text()
        if answer == "js/shell.js":
            other = "js/shell.0123456789ab.js"
            text = re.sub(r"js/shell\.[0-9a-f]{12}\.js", other, text)
        else:
            text = text.partition(answer)[0]
        route.fulfill(body=text, content_type="text/html; charset=utf-8")

    page.route("**/history", answer_otherwise)
    tab(page, "History").click()

    expect(page).to_have_url(re.compile("/history$"))
    expect(page).to_have_title(re.compile("history"))
    assert not is_the_same(page)
    assert watch_anew.faults == []


def test_a_page_that_is_not_there_says_so(watch: Watch, server: Installation):
    page = watch.page
    page.goto(f"{server.url}{TABLE}/schema")

    page.evaluate("location.assign('/t/samples/nowhere/')")

    expect(page).to_have_url(re.compile("nowhere"))
    expect(page.locator("main h1, main h2").first).to_be_visible()


def test_a_file_is_a_download_and_the_page_stays(watch: Watch, server: Installation):
    page = watch.page
    page.goto(f"{server.url}{TABLE}/history/3")
    mark(page)

    with page.expect_download() as download:
        page.evaluate(f"location.assign('{TABLE}/history/3/actions')")

    assert download.value.suggested_filename == f"{3:020d}.json"
    expect(page).to_have_url(re.compile("/history/3$"))
    assert is_the_same(page)


def test_who_is_signed_out_is_asked_to_sign_in(watch: Watch, server: Installation):
    page = watch.page
    page.goto(f"{server.url}{TABLE}/schema")
    page.context.clear_cookies()

    tab(page, "History").click()

    expect(page).to_have_url(re.compile("/sign-in/"))


def test_a_browser_without_the_navigation_api_loads_pages_whole(
    watch_anew: Watch, server: Installation
) -> None:
    page = watch_anew.page
    page.add_init_script("delete window.navigation")
    page.goto(f"{server.url}{TABLE}/data")
    mark(page)

    page.get_by_role("link", name="Next", exact=True).click()
    expect(page.get_by_text("page 2", exact=True)).to_be_visible()
    assert is_the_same(page)
    page.go_back()
    expect(page.get_by_text("page 1", exact=True)).to_be_visible()

    tab(page, "History").click()
    expect(page).to_have_title(re.compile("history"))
    assert not is_the_same(page)
