"""A real installation and a real Chromium."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Playwright,
    Request,
    StorageState,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.support.pages.browser_sign_in import sign_in
from tests.support.processes.installation import (
    Installation,
    furnish,
    rows,
    serving,
    wait_for,
)
from tests.support.processes.node import NODE

# Playwright's own Node.js needs a library that a bare system lacks; set-up's does not.
os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", str(NODE))
NUM_SAMPLES = 4
Theme = Literal["light", "dark"]
PATIENCE_MS = 60_000  # for what takes a moment on a machine with nothing else to do
NO_FAULTS: Final = ("inline style", "htmx:sendAbort", "htmx:afterRequest")
"""What the console says that is no fault.

A page that is left aborts what its live parts asked for: htmx logs both events. A
request that fails is logged as `htmx:sendError` or `htmx:responseError` besides.
"""
WINDOW = ViewportSize(width=1360, height=900)
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="package")
def server(
    tmp_path_factory: pytest.TempPathFactory, lake: Path
) -> Iterator[Installation]:
    """`deltaweb serve` with a home of its own and the sample tables."""
    home = tmp_path_factory.mktemp("home")
    furnish(home, lake)
    with serving(
        home,
        DELTAWEB_BROWSER_READING="true",  # of the shares that are open there
        DELTAWEB_PROBE_INTERVAL_S="2",
        DELTAWEB_WEB_PROCESSES="1",
        DELTAWEB_SPARK_AFTER_S="600",  # no table here needs it
    ) as installation:
        yield installation


@pytest.fixture(scope="package")
def samples(server: Installation) -> None:
    """The sample tables, which are indexed unasked; tests add others beside them."""
    wait_for_indexes(server, "samples.", count=NUM_SAMPLES)


def register(server: Installation, name: str, folder: Path) -> None:
    """Register a table, and wait for its index.

    A page that is open meanwhile is made again, and forgets what is chosen.
    """
    server.command("table", "add", name, str(folder))
    wait_for_indexes(server, name)


def wait_for_indexes(server: Installation, beginning: str, *, count: int = 1) -> None:
    """Wait until so many tables of a beginning are registered and indexed."""

    def are_indexed() -> bool:
        tables = rows(server.home, "SELECT namespace, name, state FROM tables_table")
        states = [
            table["state"]
            for table in tables
            if f"{table['namespace']}.{table['name']}".startswith(beginning)
        ]
        return states == ["INDEXED"] * count

    assert wait_for(are_indexed, timeout_s=200), server.log


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    with chromium(playwright) as browser:
        yield browser


@contextmanager
def chromium(playwright: Playwright, *arguments: str) -> Iterator[Browser]:
    """The system's Chromium: its headless shell, where that is installed."""
    executable = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    assert executable, "no chromium here: 'make test' installs it"
    browser = playwright.chromium.launch(
        executable_path=executable,
        args=[
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            # Pages come one after another: what one has compiled serves the next.
            "--renderer-process-limit=1",
            # No script here runs long enough to earn back what is spent on it.
            "--js-flags=--no-opt --no-maglev",
            *arguments,
        ],
    )
    yield browser
    browser.close()


@dataclass
class Watch:
    """A page, and what it did that it must not do."""

    page: Page
    foreign: list[str]
    faults: list[str]
    asked: set[Request]  # and not answered yet, but for news
    theme: Theme = "light"

    def show(self, theme: Theme) -> None:
        """Have the system's theme be another, which takes as long as a small page."""
        if self.theme != theme:
            self.page.emulate_media(color_scheme=theme)
            self.theme = theme


@pytest.fixture(scope="package")
def signed_in(browser: Browser, server: Installation) -> StorageState:
    """The cookies of an administrator who came in by the link."""
    context = _patient(browser.new_context())
    sign_in(context.new_page(), server)
    state = context.storage_state()
    context.close()
    return state


def expect_said(
    page: Page, text: str | re.Pattern[str], *, within_ms: int = PATIENCE_MS
) -> None:
    """Wait until a text is seen, where a message may say beside it what a page does."""
    said = page.get_by_text(text).filter(visible=True).first
    expect(said).to_be_visible(timeout=within_ms)


@pytest.fixture(scope="package")
def signed_in_context(
    browser: Browser, signed_in: StorageState
) -> Iterator[BrowserContext]:
    """What the pages of tests have in common: files that each page loads are kept."""
    context = browser.new_context(
        viewport=WINDOW, storage_state=signed_in, reduced_motion="reduce"
    )
    yield _patient(context)
    context.close()


@pytest.fixture(scope="package")
def the_page(server: Installation, signed_in_context: BrowserContext) -> Watch:
    """The page that tests have one after another; it keeps its process running.

    Another page of its context is shown by the same process, which has the scripts of
    all pages compiled.
    """
    return watched(signed_in_context.new_page(), server)


@pytest.fixture
def watch(
    server: Installation,
    signed_in_context: BrowserContext,
    signed_in: StorageState,
    the_page: Watch,
) -> Iterator[Watch]:
    """A signed-in page that keeps foreign requests and faults of scripts."""
    page = the_page.page
    page.set_viewport_size(WINDOW)
    the_page.show("light")
    for found in (the_page.foreign, the_page.faults, the_page.asked):
        found.clear()
    yield the_page
    page.unroute_all()
    if page.url.startswith(server.url):
        page.evaluate("localStorage.clear(), sessionStorage.clear()")
    page.goto("about:blank")  # what the test has opened asks for nothing any more
    signed_in_context.clear_cookies()
    signed_in_context.add_cookies(signed_in.get("cookies", []))  # type: ignore[arg-type]  # they are what is set


@pytest.fixture
def watch_anew(
    server: Installation,
    signed_in_context: BrowserContext,
    the_page: Watch,  # noqa: ARG001 (its process shows this page)
) -> Iterator[Watch]:
    """A page as of `watch` that is new, with what it does before all scripts."""
    page = signed_in_context.new_page()
    yield watched(page, server)
    page.close()


@pytest.fixture
def watch_apart(
    browser: Browser, server: Installation, signed_in: StorageState
) -> Iterator[Watch]:
    """A page as of `watch` whose clock and whose files are its own."""
    context = _patient(browser.new_context(viewport=WINDOW, storage_state=signed_in))
    yield watched(context.new_page(), server)
    context.close()


def watched(page: Page, server: Installation) -> Watch:
    """Watch a page from here on."""
    seen = Watch(page, [], [], set())

    def on_request(request: Request) -> None:
        if "/news?" not in request.url:  # which is answered as long as a page is open
            seen.asked.add(request)
        if not request.url.startswith((server.url, "data:", "blob:")):
            seen.foreign.append(request.url)

    def on_answer(request: Request) -> None:
        seen.asked.discard(request)

    page.on("request", on_request)
    page.on("requestfinished", on_answer)
    page.on("requestfailed", on_answer)
    page.on("pageerror", lambda error: seen.faults.append(f"{page.url}: {error}"))
    page.on(
        "console",
        lambda message: (
            seen.faults.append(f"{page.url}: {message.text}")
            if message.type == "error"
            and not any(one in message.text for one in NO_FAULTS)
            else None
        ),
    )
    return seen


def _patient(context: BrowserContext) -> BrowserContext:
    context.set_default_timeout(PATIENCE_MS)
    return context
