"""Every page of the manual, as the server shows it."""

import pytest

from tests.browser.conftest import Watch
from tests.browser.soundness import assert_sound
from tests.support.processes.installation import ROOT, Installation

SITE = ROOT / "docs" / "site"  # set-up builds it
PAGES = sorted(
    page.parent.relative_to(SITE).as_posix() for page in SITE.rglob("index.html")
)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_sound(watch: Watch, server: Installation, page: str) -> None:
    assert_sound(watch, f"{server.url}/help/{page}/")


def test_the_manual_is_there() -> None:
    assert {".", "five-minutes", "how-to", "reference/commands"} <= set(PAGES)
