"""What every page must be: accessible, in both themes, on a phone, from one host."""

from collections.abc import Sequence
from itertools import cycle, product

import pytest
from playwright.sync_api import Page, ViewportSize

from tests.browser.conftest import Theme, Watch
from tests.support import matrix
from tests.support.processes.installation import ROOT, wait_for

DESKTOP = ViewportSize(width=1360, height=900)
PHONE = ViewportSize(width=390, height=844)
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
LOOK_INTERVAL_MS, STILL_FOR_MS, SETTLED_WITHIN_MS = 25, 100, 20_000
DRAWN_WITHIN_S = 10
# Of rules that a page keeps, axe would describe every element that they look at.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
DARK = "[data-bs-theme=dark], [data-md-color-scheme=slate]"  # or the manual's
THEMES: dict[Theme, str] = {
    "light": f"html:not(:is({DARK}), :has(> body:is({DARK})))",
    "dark": DARK,
}
PAGE = "html"
# What scrolls is made reachable by keys by a script, as a whole page is loaded; colours
# are looked at on whole pages.
FIND = """([part, rules]) => axe.run(part, {
    runOnly: rules, resultTypes: ["violations"], preload: false,
    rules: {
        "scrollable-region-focusable": {enabled: part === "html"},
        "color-contrast": {enabled: part === "html"},
    },
}).then(result => result.violations)"""
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
SERIOUS = {"serious", "critical"}
# Two texts of different elements, a letter at the end of one and at the beginning of
# the next, side by side on one line. Not of what is clipped away for screen readers.
JOINED = r"""() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const box = (node, start, end) => {
        const range = document.createRange();
        range.setStart(node, start);
        range.setEnd(node, end);
        return range.getBoundingClientRect();
    };
    const isSeen = (node) => {
        const parent = node.parentElement;
        return !parent.closest("script, style, svg, .visually-hidden, thead")
            && parent.checkVisibility() && box(node, 0, node.length).width > 1;
    };
    const found = [];
    let last = null;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (!node.length || !isSeen(node)) continue;
        const touches = last && /[\p{L}\p{N}]$/u.test(last.data)
            && /^[\p{L}\p{N}]/u.test(node.data);
        if (touches) {
            const end = box(last, last.length - 1, last.length);
            const start = box(node, 0, 1);
            const gap = start.left - end.right;
            const isBeside = start.top < end.bottom && end.top < start.bottom;
            if (isBeside && Math.abs(gap) < 1) {
                found.push(`${last.data.slice(-30)}|${node.data.slice(0, 30)}`);
            }
        }
        last = node;
    }
    return found;
}"""


def every_theme(
    paths: Sequence[str], *, seldom: Sequence[str] = ()
) -> pytest.MarkDecorator:
    """A test is asked each page in each theme: `path` and `theme`.

    Every run has each page once, in one theme and the next in the other.

    Args:
        seldom: Pages of `make test-all` alone, for others have what they are made of.
    """
    return matrix(
        "path, theme",
        product([*paths, *seldom], THEMES),
        often=[*zip(paths, cycle(THEMES), strict=False)],
    )


def assert_sound(watch: Watch, url: str, theme: Theme = "light") -> None:
    """Hold one page to it in a theme, and leave its window wide."""
    watch.show(theme)
    _open(watch, url)
    assert_open_is_sound(watch, url, theme)


def assert_open_is_sound(
    watch: Watch, url: str, theme: Theme = "light", part: str = PAGE
) -> None:
    """Hold the page that is open to it, or a part of one.

    An open page follows the system's theme, which changes its colours alone.
    """
    page = watch.page
    watch.show(theme)
    # The page hears of it by an event, some moment after this call.
    page.wait_for_selector(THEMES[theme], state="attached")
    findings = serious_findings(page, part=part)
    assert findings == [], f"{theme} {url}: {findings}"
    page.set_viewport_size(PHONE)
    _assert_no_wider(page, url)
    assert joined_words(page) == [], f"words run together on a phone: {url}"
    page.set_viewport_size(DESKTOP)
    _assert_faultless(watch)


def assert_fits(watch: Watch, url: str) -> None:
    """Hold one page to its window alone, a wide one and a phone's."""
    _open(watch, url)
    for size in (PHONE, DESKTOP):
        watch.page.set_viewport_size(size)
        _assert_no_wider(watch.page, url)
    _assert_faultless(watch)


def _open(watch: Watch, url: str) -> None:
    watch.page.set_viewport_size(DESKTOP)
    watch.page.goto(url)
    still_for_ms = 0
    for _ in range(0, SETTLED_WITHIN_MS, LOOK_INTERVAL_MS):
        watch.page.wait_for_timeout(LOOK_INTERVAL_MS)
        still_for_ms = 0 if watch.asked else still_for_ms + LOOK_INTERVAL_MS
        if still_for_ms == STILL_FOR_MS:  # what it loads late is there
            return
    # A page that asks for news is never still.


def _assert_no_wider(page: Page, name: str) -> None:
    # Charts follow the window by and by. The page's own policy forbids scripts to be
    # made of text, which waiting within the page would ask for.
    wait_for(lambda: page.evaluate(OVERFLOW) <= 0, timeout_s=DRAWN_WITHIN_S)
    overflow = page.evaluate(OVERFLOW)
    assert overflow <= 0, f"{name} is {overflow} px wider than its window"


def _assert_faultless(watch: Watch) -> None:
    assert watch.foreign == []
    assert [f for f in watch.faults if "/no/such/page" not in f] == []


def joined_words(page: Page) -> list[str]:
    """Words of the page that touch, though a word ends between them."""
    found: list[str] = page.evaluate(JOINED)
    return found


def serious_findings(page: Page, part: str = PAGE) -> list[str]:
    """What axe-core finds by WCAG 2 A and AA, serious or worse."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = page.evaluate(FIND, [part, RULES])
    return [
        f"{finding['id']}: {node['html'][:160]}"
        for finding in violations
        if finding["impact"] in SERIOUS
        for node in finding["nodes"]
    ]
