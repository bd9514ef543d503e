"""Every page of the manual, as the server shows it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.conftest import Watch, watched
from tests.browser.soundness import assert_open_is_sound, assert_sound, every_theme
from tests.support import matrix
from tests.support.processes.installation import ROOT, Installation

SITE = ROOT / "docs" / "site"  # set-up builds it
PAGES = sorted(
    page.parent.relative_to(SITE).as_posix() for page in SITE.rglob("index.html")
)
# What is around the text is one template's, and its colours one style sheet's; of the
# commands it has the longest list, of Python code in all its colours.
WHOLE = [".", "tour", "reference/commands", "five-minutes"]
CODE = re.compile("<code.*?</code>", re.DOTALL)
# As the manual's own theme turns pages where that is asked for.
TURN = """async url => {
    const answer = await fetch(url);
    const text = await answer.text();
    const next = new DOMParser().parseFromString(text, "text/html");
    history.pushState(null, "", url);
    document.querySelector("main").replaceWith(next.querySelector("main"));
    await Promise.all([...document.images].map((image) => image.decode()));
    return answer.status;
}"""


@pytest.fixture(scope="module")
def reader(signed_in_context: BrowserContext, server: Installation) -> Iterator[Watch]:
    """A page of the manual that turns to others, without what is around their text."""
    page = signed_in_context.new_page()
    page.goto(f"{server.url}/help/")
    yield watched(page, server)
    page.close()


def kinds_of(path: str) -> set[str]:
    """What the text of a page is made of: its elements, with their classes."""
    text = (SITE / path / "index.html").read_text(encoding="utf-8")
    article = text.partition("<article")[2].partition("</article>")[0]
    return {*re.findall(r'<\w+(?:[^>]*?\sclass="[^"]*")?', CODE.sub("", article))}


IN_WHOLE_PAGES = {kind for path in PAGES if path in WHOLE for kind in kinds_of(path)}


@matrix("path", PAGES, by=lambda path: kinds_of(path) - IN_WHOLE_PAGES)
def test_the_text_of_a_page_is_sound(reader: Watch, server: Installation, path: str):
    url = f"{server.url}/help/{path}/"
    assert reader.page.evaluate(TURN, url) == 200

    assert_open_is_sound(reader, url, part="article")


@every_theme(WHOLE)
def test_a_whole_page_is_sound(watch, server, path, theme):
    assert_sound(watch, f"{server.url}/help/{path}/", theme)


def test_the_manual_is_there() -> None:
    assert {*WHOLE} <= set(PAGES)


def test_every_page_has_a_title_and_a_language_and_words_for_its_pictures() -> None:
    texts = {
        path: (SITE / path / "index.html").read_text(encoding="utf-8") for path in PAGES
    }
    pictures = [
        one for text in texts.values() for one in re.findall("<img[^>]*>", text)
    ]

    assert [path for path, text in texts.items() if "<title>" not in text] == []
    assert [path for path, text in texts.items() if '<html lang="en"' not in text] == []
    assert pictures
    assert [one for one in pictures if not re.search(r'\salt="[^"]+"', one)] == []
