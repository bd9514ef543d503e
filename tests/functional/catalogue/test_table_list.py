"""The list of tables: what matters of each, in three forms."""

import re

import pytest
from django.test import Client

from apps.tables.models import StoredFinding, Table
from tests.functional.catalogue.pages import as_csv, as_json, text
from tests.support import cases
from tests.support.pages.factories import (
    new_column,
    new_commit,
    new_table,
    new_unindexed_table,
)
from tests.support.pages.findings import finding, stored
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


class TestList:
    def test_shows_what_matters_of_each_table(self, viewer: Client) -> None:
        table = new_table(
            "sales.orders", description="Every order", num_records=18_400_000
        )
        new_commit(table, 2, user_name="etl-nightly")

        shown = text(viewer, "/tables/")

        assert 'href="/t/sales/orders/"' in shown
        assert "Every order" in shown
        assert "18.4 M" in shown
        assert "v2 by etl-nightly" in words(shown)
        assert "1 table in 1 namespace" in re.sub(r"\s+", " ", shown)

    def test_a_table_with_findings_leads_to_them(self, viewer: Client) -> None:
        stored(new_table("sales.orders"), finding(), finding("log-gap"))
        muted = stored(new_table("sales.quiet"))[0]
        StoredFinding.objects.filter(id=muted.id).update(
            muted_until="2999-01-01T00:00Z"
        )

        shown = text(viewer, "/tables/")

        assert 'href="/health/?q=sales.orders"' in shown
        assert "2 findings" in words(shown)
        assert "/health/?q=sales.quiet" not in shown

    def test_a_state_has_one_word_in_the_row_the_facet_and_the_chip(self, viewer):
        new_unindexed_table("orders")
        new_table("visits")

        shown = text(viewer, "/tables/", status="new")

        assert len(re.findall(r">not indexed yet\b", shown)) == 3
        assert "waiting" not in shown

    def test_what_tables_say_of_themselves_is_never_markup(self, viewer: Client):
        table = new_table("orders", description="<script>alert(1)</script>")
        new_column(table, "<img src=x>")

        shown = text(viewer, "/tables/", q="<img")

        assert "<script>alert" not in shown
        assert "<img src=x>" not in shown

    def test_asks_again_while_a_table_waits_for_its_index(self, viewer: Client) -> None:
        new_unindexed_table("orders")
        assert "hx-trigger" in text(viewer, "/tables/").split('id="table-rows"')[1]

        Table.objects.update(state=Table.State.INDEXED)
        rows = text(viewer, "/tables/").split('id="table-rows"')[1]
        assert "hx-trigger" not in rows

    def test_offers_to_make_one_to_who_may(self, viewer: Client, editor: Client):
        assert "New table" not in text(viewer, "/tables/")
        assert "New table" in text(editor, "/tables/")

        new_table("orders")
        assert "Clear the filters" in text(viewer, "/tables/", q="nothing")

    def test_json_keeps_large_numbers_exact(self, viewer: Client) -> None:
        new_table("orders", num_records=2**62 + 1, size_bytes=2**61 + 1)

        table = as_json(viewer, "/tables.json")["tables"][0]

        assert table["num_records"] == 2**62 + 1
        assert table["size_bytes"] == 2**61 + 1
        assert table["indexed_at"].endswith("Z")

    @pytest.mark.parametrize(("query", "num_queries"), [({}, 10), ({"q": "t"}, 11)])
    def test_asks_the_database_a_fixed_number_of_times(
        self, viewer, django_assert_max_num_queries, query, num_queries
    ):
        for number in range(60):
            new_commit(new_table(f"t{number}"), 2)
        text(viewer, "/tables/")

        with django_assert_max_num_queries(num_queries):
            text(viewer, "/tables/", **query)


class TestOrder:
    @cases(
        "sort, direction, expected",
        {
            "by name": ("name", "ascending", ["a", "b", "c"]),
            "by name, turned": ("-name", "descending", ["c", "b", "a"]),
            "the largest first": ("-size", "descending", ["b", "a", "c"]),
            "unknown last": ("size", "ascending", ["a", "b", "c"]),
            "by state": ("state", "ascending", ["c", "a", "b"]),
        },
    )
    def test_headers_sort_the_page_and_its_machine_forms_both_ways(
        self, viewer: Client, sort: str, direction: str, expected: list[str]
    ) -> None:
        new_table("a", size_bytes=1)
        new_table("b", size_bytes=2)
        new_table("c", size_bytes=None, state=Table.State.FAILED)

        shown = text(viewer, "/tables/", sort=sort)
        headers = re.findall(
            r'<th [^>]*aria-sort="(\w+)"[^>]*><a class="dw-sort" href="(.+?)"', shown
        )

        turned = sort.removeprefix("-") if sort.startswith("-") else f"-{sort}"
        assert headers == [(direction, f"/tables/?sort={turned}")]
        names = re.findall(r'class="dw-tname"\s+href="/t/default/(\w)/"', shown)
        assert names == expected

        tables = as_json(viewer, "/tables.json", sort=sort)["tables"]
        assert [table["name"] for table in tables] == expected
        rows = as_csv(viewer, "/tables.csv", sort=sort)
        assert [row[0] for row in rows[1:]] == expected

    def test_a_filter_may_be_called_as_the_page_calls_it(self, viewer: Client) -> None:
        new_table("a", state=Table.State.UNSUPPORTED)
        new_table("b")

        by_word = as_json(viewer, "/tables.json", status="metadata only")
        by_value = as_json(viewer, "/tables.json", status="unsupported")

        assert [table["name"] for table in by_word["tables"]] == ["a"]
        assert by_value == by_word
