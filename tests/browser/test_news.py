"""Pages hear what has happened, and ask for nothing by themselves."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.conftest import PATIENCE_MS, Watch
from tests.support import matrix
from tests.support.pages.browser_sign_in import sign_in
from tests.support.processes.installation import Installation

ORDERS = "/t/samples/orders/"
A_WHILE_MS = 50_000  # longer than any page waited before it asked again
NEWS = re.compile("/news[?]")
MOST = {"data": 2, "news": 3, "progress": 4, "chip": 4}
pytestmark = pytest.mark.usefixtures("samples")


@contextmanager
def asked(page: Page) -> Iterator[list[str]]:
    """What a page asks for meanwhile, but for files of every page."""
    found: list[str] = []

    def note(request: Request) -> None:
        if "/static/" not in request.url:
            found.append(request.url)

    page.on("request", note)
    yield found
    page.remove_listener("request", note)


def last_word(address: str) -> str:
    """What an address ends with, before its query."""
    return address.partition("?")[0].rstrip("/").rpartition("/")[2]


@matrix(
    "path",
    ["/", "/tables/", "/jobs/", ORDERS, f"{ORDERS}data", f"{ORDERS}compare/0...1"],
    often=["/", "/jobs/", f"{ORDERS}data"],
)
def test_a_page_where_nothing_happens_asks_for_nothing(watch_apart, server, path):
    page = watch_apart.page
    page.goto(f"{server.url}{path}")
    expect(page.locator("main .dw-job[id^=job-]")).to_have_count(0, timeout=PATIENCE_MS)
    page.clock.install()
    page.goto(f"{server.url}{path}")
    if path in {ORDERS, f"{ORDERS}data"}:  # of the newest version
        page.wait_for_selector("#table-news[data-news]", state="attached")
    expect(page.locator("#job-chip a, main [data-every='3']")).to_have_count(
        0, timeout=PATIENCE_MS
    )

    with asked(page) as found:
        page.clock.run_for(A_WHILE_MS)
        page.title()  # what it asked for would be known by now

    assert [address for address in found if not NEWS.search(address)] == []
    assert len(found) <= 1
    assert watch_apart.faults == []


def test_a_page_asks_for_its_rows_at_most_once_more(
    watch_anew: Watch, server: Installation
):
    page = watch_anew.page

    with asked(page) as found:
        page.goto(f"{server.url}{ORDERS}data?v=3&f=country%3Aeq%3ADE")
        expect(page.locator(".x-grid tbody tr").first).to_be_visible()
        expect(page.locator("#job-chip a")).to_have_count(0, timeout=PATIENCE_MS)

    counts = Counter(map(last_word, found))
    assert {word: n for word, n in counts.items() if n > MOST.get(word, 0)} == {}
    assert watch_anew.faults == []


def test_a_page_beside_the_one_that_signs_out_is_left_at_once(browser, server):
    server.command("user", "add", "nora", "--role", "viewer")
    context = browser.new_context()
    here, beside = context.new_page(), context.new_page()
    sign_in(here, server, "nora")
    with beside.expect_response(NEWS):
        beside.goto(f"{server.url}{ORDERS}")

    here.locator(".dw-avatar").click()
    here.get_by_role("button", name="Sign out").click()

    beside.wait_for_url("**/sign-in/**", timeout=PATIENCE_MS)
    context.close()


def test_a_content_that_is_exchanged_asks_for_what_was_told_of_the_one_before(
    watch: Watch, server: Installation
) -> None:
    page = watch.page
    page.goto(f"{server.url}{ORDERS}")
    page.wait_for_selector("#table-news[data-news]", state="attached")
    with page.expect_request(NEWS):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    with page.expect_request(NEWS) as asked_anew:
        page.evaluate("document.dispatchEvent(new CustomEvent('page-moved-on'))")

    shown = page.locator("#table-news").get_attribute("data-news")
    assert quote(str(shown), safe="") in asked_anew.value.url
    assert watch.faults == []


def test_a_page_stays_where_its_server_is_away_for_a_moment(
    watch: Watch, server: Installation
) -> None:
    page = watch.page
    page.goto(f"{server.url}{ORDERS}")
    page.evaluate("window.isTheSame = true")
    page.route(f"**{ORDERS}", lambda route: route.abort(), times=1)

    page.evaluate("document.dispatchEvent(new CustomEvent('page-moved-on'))")

    expect(page.locator("#live")).to_have_text("The page is up to date")
    assert page.evaluate("window.isTheSame")


def test_what_was_said_of_an_action_stays_where_the_page_moves_on(
    watch: Watch, server: Installation
) -> None:
    page = watch.page
    page.goto(f"{server.url}/me/")
    page.get_by_label("Time zone").fill("Asia/Kolkata")
    page.get_by_role("button", name="Save").first.click()
    said = page.locator("#messages [role=status]").first
    expect(said).to_be_visible()

    page.evaluate("document.dispatchEvent(new CustomEvent('page-moved-on'))")
    expect(page.locator("#live")).to_have_text("The page is up to date")

    expect(said).to_be_visible()


def test_what_is_pressed_meanwhile_is_done_where_the_page_moves_on(
    watch: Watch, server: Installation
) -> None:
    page = watch.page
    page.goto(f"{server.url}/me/")
    page.get_by_label("Time zone").fill("Asia/Kolkata")
    page.get_by_role("button", name="Save").first.hover()
    page.mouse.down()
    with page.expect_response("**/me/"):
        page.evaluate("document.dispatchEvent(new CustomEvent('page-moved-on'))")
    page.wait_for_timeout(300)  # for what exchanges the button all the same
    page.mouse.up()

    expect(page.locator("#messages [role=status]").first).to_be_visible()


def test_what_is_typed_and_focused_stays_where_the_page_moves_on(
    watch: Watch, server: Installation
) -> None:
    page = watch.page
    page.goto(f"{server.url}{ORDERS}data")
    value = page.get_by_placeholder("value")
    value.fill("half a w")

    page.evaluate("document.dispatchEvent(new CustomEvent('page-moved-on'))")
    expect(page.locator("#live")).to_have_text("The page is up to date")

    expect(value).to_have_value("half a w")
    expect(value).to_be_focused()
