"""A page that is open while another version is indexed: it says so, and stays."""

from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from apps.tables.index.refresh import refresh_table
from apps.tables.models import Table
from tests.support.pages.factories import (
    new_commit,
    new_metadata,
    new_protocol,
    new_table,
    new_unindexed_table,
)
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db
PAGE = "/t/default/orders/"
STATE = f"{PAGE}state"
ASKS = f'hx-get="{STATE}?shown='


@pytest.fixture
def table() -> Table:
    table = new_table("orders")  # at version 2
    new_protocol(table)
    new_metadata(table)
    for version in range(3):
        new_commit(table, version)
    return table


def text(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, response.content[:500]
    return unescape(" ".join(response.content.decode().split()))


class TestAPageOfTheNewestVersion:
    @pytest.mark.usefixtures("table")
    @pytest.mark.parametrize("tab", ["", "data", "schema", "history", "files"])
    def test_asks_for_news_and_tells_of_none(self, viewer: Client, tab: str) -> None:
        page = text(viewer, f"{PAGE}{tab}")

        assert f'{ASKS}2"' in page
        assert "was just committed." not in page

    @pytest.mark.usefixtures("table")
    @pytest.mark.parametrize(
        "path", ["?v=1", "?v=2", "data?v=2", "history/2", "compare/1...2?view=schema"]
    )
    def test_whose_address_names_a_version_does_not_ask(self, viewer, path):
        assert ASKS not in text(viewer, f"{PAGE}{path}")

    def test_leaves_it_to_the_index_that_it_sees_at_work(self, viewer, table):
        refresh_table(table, now=timezone.now())

        page = text(viewer, PAGE)

        assert ASKS not in page
        assert f"{STATE}?since=" in page

    def test_of_a_table_without_an_index_asks_too(self, viewer: Client) -> None:
        new_unindexed_table("orders")

        assert f'{ASKS}"' in text(viewer, PAGE)


class TestTheAnswer:
    @pytest.mark.usefixtures("table")
    def test_without_news_asks_again(self, viewer: Client) -> None:
        answer = text(viewer, f"{STATE}?shown=2")

        assert f'{ASKS}2"' in answer
        assert "was just committed." not in answer

    def test_with_news_names_the_version_and_leads_there(self, viewer, table):
        Table.objects.filter(id=table.id).update(version=15)

        answer = text(viewer, f"{STATE}?shown=2")

        assert "Version 15 was just committed." in words(answer)
        assert "This page shows v2." in answer
        assert '<a href="">Show it</a>' in answer
        assert f'{ASKS}2"' in answer  # a later version is told of, too

    def test_tells_of_the_first_version(self, viewer: Client) -> None:
        table = new_unindexed_table("orders")
        before = text(viewer, f"{STATE}?shown=")
        Table.objects.filter(id=table.id).update(version=0)

        assert "was just committed." not in before
        assert "was just committed." in text(viewer, f"{STATE}?shown=")

    def test_is_not_for_who_may_not_see_the_table(self, viewer: Client) -> None:
        new_table("orders", is_private=True)

        assert viewer.get(f"{STATE}?shown=2").status_code == 404
