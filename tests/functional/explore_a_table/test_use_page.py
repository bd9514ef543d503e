"""`Use this table`: the page, and the button that every page of a table has."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.sharing.models import SharedTable
from apps.tables.models import Commit, Table
from tests.factories import (
    new_commit,
    new_share,
    new_shared_table,
    new_table,
    new_unindexed_table,
    new_user,
)
from tests.functional.explore_a_table.pages import HTMX, TABLE, json_of, text_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]

VIEW = "v=1&col=order_id&col=country&f=country:eq:DE"


@pytest.mark.usefixtures("orders")
class TestThePage:
    def test_has_the_version_columns_and_filter_of_its_address(
        self, viewer: Client
    ) -> None:
        page = json_of(viewer, f"{TABLE}orders/use.json?{VIEW}")

        assert page["columns"] == ["order_id", "country"]
        assert page["filters"] == ["`country` = 'DE'"]
        snippets = dict(page["snippets"])  # type: ignore[call-overload]  # JSON
        assert set(snippets) == {"pandas", "sql", "pyspark", "polars", "duckdb", "curl"}
        assert "VERSION AS OF 1\nWHERE `country` = 'DE'" in snippets["sql"]
        assert 'pc.field("country") == "DE"' in snippets["pandas"]

    def test_curl_asks_for_the_same_rows(self, viewer: Client) -> None:
        page = json_of(viewer, f"{TABLE}orders/use.json?{VIEW}")
        curl = dict(page["snippets"])["curl"]  # type: ignore[call-overload]  # JSON

        url = urlsplit(re.findall(r"'(http[^']+)'", curl)[0])
        assert url.path == f"{TABLE}orders/data.json"
        assert parse_qs(url.query) == parse_qs(VIEW)

    def test_brings_an_old_version_back_and_the_newest_not(
        self, viewer: Client
    ) -> None:
        old = text_of(viewer, f"{TABLE}orders/use?v=1")
        newest = text_of(viewer, f"{TABLE}orders/use")

        assert "Bring v1 back" in old
        assert "TO VERSION AS OF" in old
        assert "TO VERSION AS OF" not in newest

    def test_leads_who_may_to_restore_with_the_version_filled_in(
        self, viewer: Client, client: Client
    ) -> None:
        restore = f'href="{TABLE}orders/restore?version=1"'
        places = f"{TABLE}orders/use?v=1", f"{TABLE}orders/history/1"
        for place in places:
            assert restore not in text_of(viewer, place)
        client.force_login(new_user("eve", role=User.Role.EDITOR))

        for place in places:
            assert restore in text_of(client, place)
        assert 'value="1"' in text_of(client, f"{TABLE}orders/restore?version=1")

    def test_is_a_part_of_a_page_for_the_drawer(self, viewer: Client) -> None:
        part = text_of(viewer, f"{TABLE}orders/use?{VIEW}", **HTMX)

        assert "<html" not in part
        assert "Rows where" in part

    @pytest.mark.parametrize("part", ["col=nothing", "f=country:odd:1", "v=99"])
    def test_refuses_what_the_version_has_not(self, viewer: Client, part: str) -> None:
        assert viewer.get(f"{TABLE}orders/use?{part}").status_code in {400, 404}


class TestWhereThereIsNothingToRead:
    def test_a_table_without_an_index_says_so(self, viewer: Client) -> None:
        new_unindexed_table()

        assert "is not indexed yet" in text_of(viewer, f"{TABLE}orders/use")

    def test_nobody_else_is_told_of_a_restricted_table(self, viewer: Client) -> None:
        new_table(restricted=True)

        assert viewer.get(f"{TABLE}orders/use").status_code == 404


class TestAShareOfTheTable:
    @pytest.mark.parametrize(
        ("role", "with_history", "is_shown"),
        [
            pytest.param(User.Role.EDITOR, True, True, id="an editor reads it so"),
            pytest.param(User.Role.VIEWER, True, False, id="a viewer knows no share"),
            pytest.param(User.Role.EDITOR, False, False, id="no version is shared"),
        ],
    )
    def test_is_one_more_way_in(
        self,
        client: Client,
        orders: Table,
        role: User.Role,
        with_history: bool,  # noqa: FBT001 (a case)
        is_shown: bool,  # noqa: FBT001 (a case)
    ) -> None:
        client.force_login(new_user("eve", role=role))
        shared = new_shared_table(new_share(), table=orders, with_history=with_history)

        page = json_of(client, f"{TABLE}orders/use.json?v=1")

        name = f"{shared.share.name}.{shared.schema}.{shared.name}"
        snippets = dict(page["snippets"])  # type: ignore[call-overload]  # JSON
        assert (f"#{name}" in snippets.get("sharing", "")) is is_shown
        assert SharedTable.objects.count() == 1


class TestTheButton:
    @pytest.mark.parametrize(
        ("page", "query"),
        [
            pytest.param("", "v=2", id="the newest version by its number"),
            pytest.param("history?v=1", "v=1", id="an old version"),
            pytest.param("history/1", "v=1", id="the version of a commit"),
            pytest.param(f"data?{VIEW}", VIEW, id="columns and filters"),
            pytest.param("files?v=1&partition=a=1", "v=1", id="nothing else"),
        ],
    )
    def test_takes_the_view_with_it(
        self, viewer: Client, page: str, query: str
    ) -> None:
        table = new_table(version=2, summary={})
        for version in range(3):
            new_commit(table, version, readability=Commit.Readability.READABLE)

        text = text_of(viewer, f"{TABLE}orders/{page}")

        (address,) = re.findall(r'dw-short"\s+href="([^"]+)"', text)
        assert parse_qs(urlsplit(unescape(address)).query) == parse_qs(query)


class TestTheHeadOnAPhone:
    def test_is_one_line_that_unfolds_on_all_pages_but_the_overview(
        self, viewer: Client, orders: Table
    ) -> None:
        del orders
        label = "Show the versions and facts of the table"

        assert label in text_of(viewer, f"{TABLE}orders/history")
        assert label not in text_of(viewer, f"{TABLE}orders/")
