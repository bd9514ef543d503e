"""The search while one types: parts of its page for its own box and the top bar."""

import re

import pytest
from django.test import Client

from tests.functional.catalogue.pages import text
from tests.support.pages.factories import new_column, new_table

pytestmark = pytest.mark.django_db
TOP_BAR = {"HX-Request": "true", "HX-Target": "search-hits"}
PAGE = {"HX-Request": "true", "HX-Target": "results"}


def part(client: Client, q: str, headers: dict[str, str]) -> str:
    answer = client.get("/search", {"q": q}, headers=headers, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_top_bar_offers_tables_and_columns_with_their_tables(viewer: Client):
    new_column(new_table("sales.orders"), "order_id")

    shown = part(viewer, "order", TOP_BAR)

    options = re.findall(
        r'<a role="option"[^>]*?href="([^"]+)">(.*?)</a>', shown, re.DOTALL
    )
    words = [re.sub(r"<[^>]+>|\s+", " ", words).split() for _, words in options]
    assert "<html" not in shown
    assert [href for href, _ in options] == [
        "/t/sales/orders/",
        "/t/sales/orders/schema?q=order_id",
        "/search?q=order",
    ]
    assert words[1] == ["order_id", "in", "sales.orders"]
    assert words[2] == ["All", "2", "results"]


def test_the_top_bar_offers_the_one_result(viewer: Client) -> None:
    new_table("sales.orders")

    shown = part(viewer, "order", TOP_BAR)

    assert "Show the one result" in shown
    assert "1 results" not in shown


def test_the_top_bar_says_that_nothing_matches(viewer: Client) -> None:
    shown = part(viewer, "nothing", TOP_BAR)

    assert shown.count('role="option"') == 1
    assert "Nothing matches" in shown


def test_the_top_bar_offers_nothing_for_nothing(viewer: Client) -> None:
    new_table("orders")

    assert part(viewer, "", TOP_BAR).strip() == ""


def test_the_page_swaps_the_results_that_it_shows_without_a_script(viewer: Client):
    new_column(new_table("sales.orders"), "order_id")

    results = part(viewer, "order", PAGE)
    page = text(viewer, "/search", q="order")

    assert results.strip().startswith('<div id="results"')
    assert re.sub(r"\s+", " ", results.strip()) in re.sub(r"\s+", " ", page)


def test_what_is_called_so_comes_first(viewer: Client) -> None:
    for name in ("a.canonical_or", "b.order_items", "c.or"):
        new_column(new_table(name), name.partition(".")[2])

    shown = part(viewer, "or", TOP_BAR)

    hrefs = re.findall(r'href="/t/(\w)/', shown)
    assert hrefs == ["c", "b", "a", "c", "b", "a"]
