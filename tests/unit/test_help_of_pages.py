"""Every page has a link to its how-to, which is in the manual."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import URLResolver, get_resolver

from apps.pages.frame import help_of, helps
from tests.support.pages.factories import new_table, signed_in

MANUAL = Path(__file__).parents[2] / "docs" / "manual"


def pages(at: URLResolver, prefix: str = "") -> Iterator[str]:
    """The URL names of all pages: of what has a form for people."""
    for one in at.url_patterns:
        if isinstance(one, URLResolver):
            space = f"{one.namespace}:" if one.namespace else ""
            yield from pages(one, prefix + space)
        elif one.default_args.get("fmt") == "html":
            yield f"{prefix}{one.name}"


PAGES = [*pages(get_resolver())]


def source_of(place: str) -> Path:
    """The file of a page of the manual."""
    path = place.partition("#")[0].rstrip("/")
    file = MANUAL / f"{path}.md"
    return file if file.is_file() else MANUAL / path / "index.md"


def slug(title: str) -> str:
    """The anchor of a heading, as mkdocs makes it."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())


def test_every_page_has_a_how_to() -> None:
    assert len(PAGES) > 70
    assert [name for name in PAGES if not help_of(name)] == []


def test_no_page_that_is_gone_has_one() -> None:
    assert [one.url_name for one in helps if one.url_name not in PAGES] == []


def test_each_is_in_the_manual() -> None:
    gone = []
    for one in helps:
        source, anchor = source_of(one.place), one.place.partition("#")[2]
        text = source.read_text() if source.is_file() else ""
        titles = {slug(title) for title in re.findall(r"^#+ (.*)", text, re.MULTILINE)}
        if not text or (anchor and anchor not in titles):
            gone.append(one)
    assert gone == []


@pytest.mark.django_db
def test_a_page_links_to_its_own() -> None:
    new_table("sales.orders")
    viewer = signed_in("vera")

    shown = viewer.get("/t/sales/orders/history").content.decode()

    assert re.search(r'href="/help/how-to/who-changed-a-table/"\s+data-help', shown)
