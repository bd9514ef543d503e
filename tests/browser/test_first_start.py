"""The journey of a first start: sign in, look around, register, see it indexed."""

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Watch
from tests.installation import ROOT, Installation

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = {"serious", "critical"}
TABLE = "/t/samples/orders/"
PAGES = [
    pytest.param("/", id="dashboard"),
    pytest.param("/tables/", id="catalog"),
    pytest.param("/tables/new", id="register"),
    pytest.param("/search?q=order", id="search"),
    pytest.param(TABLE, id="overview"),
    pytest.param(f"{TABLE}?v=0", id="an old version"),
    pytest.param(f"{TABLE}schema", id="schema"),
    pytest.param(f"{TABLE}history", id="history"),
    pytest.param(f"{TABLE}history/1", id="one commit"),
    pytest.param(f"{TABLE}files", id="files"),
    pytest.param(f"{TABLE}data", id="data"),
    pytest.param(f"{TABLE}settings", id="settings"),
    pytest.param("/jobs/", id="jobs"),
    pytest.param("/me/", id="account"),
    pytest.param("/admin-area/", id="users"),
    pytest.param("/status", id="status"),
    pytest.param("/no/such/page", id="not found"),
]


def serious_findings(page: Page) -> list[str]:
    """What axe-core finds by WCAG 2 A and AA, serious or worse."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
    result = page.evaluate("rules => axe.run(document, {runOnly: rules})", rules)
    return [
        f"{finding['id']}: {node['html'][:160]}"
        for finding in result["violations"]
        if finding["impact"] in SERIOUS
        for node in finding["nodes"]
    ]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_sound_in_both_themes_and_on_a_phone(
    watch: Watch, server: Installation, path: str
) -> None:
    page = watch.page
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": 1360, "height": 900})
        page.goto(f"{server.url}{path}", wait_until="networkidle")
        assert serious_findings(page) == [], f"{theme} {path}"
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_timeout(150)
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, f"{theme} {path} is {overflow} px too wide for a phone"
    assert watch.foreign == []
    assert [f for f in watch.faults if "/no/such/page" not in f] == []
