"""The list of shares: what is in each and who read it, in three forms."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests.functional.sharing_pages.pages import as_json, new_read, page
from tests.support import cases
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]


class TestList:
    def test_shows_what_is_in_each_share_and_who_read_it(self, admin: Client) -> None:
        share = new_share("retail", comment="Every order")
        new_shared_table(share, "crm.orders")
        new_grant(share, new_recipient())
        new_read(share)

        shown = page(admin, "/shares/")

        assert 'href="/shares/retail/"' in shown
        assert "Every order" in shown
        assert "crm.orders" in shown
        assert "just now" in shown
        assert "1 request in 30 days" in shown

    def test_searches_names_comments_and_tables(self, admin: Client) -> None:
        new_shared_table(new_share("one"), "crm.orders")
        new_share("two", comment="about orders")
        new_share("three")

        found = as_json(admin, "/shares.json", q="ORDERS")["shares"]

        assert {share["name"] for share in found} == {"one", "two"}

    def test_orders_by_what_was_read_last(self, admin: Client) -> None:
        old, new = new_share("a_old"), new_share("b_new")
        new_share("c_never")
        new_read(old, at=timezone.now() - timedelta(days=3))
        new_read(new)
        new_read(old, status=404)

        names = [
            share["name"]
            for share in as_json(admin, "/shares.json", sort="-read")["shares"]
        ]

        assert names == ["b_new", "a_old", "c_never"]

    @cases(
        "sort, expected",
        {
            "by name": ("name", ["a", "b", "c"]),
            "by name, turned": ("-name", ["c", "b", "a"]),
            "the most tables first": ("-tables", ["b", "a", "c"]),
            "the fewest tables first": ("tables", ["a", "c", "b"]),
            "the longest unread first": ("read", ["a", "b", "c"]),
        },
    )
    def test_headers_sort_the_page_and_its_machine_forms_both_ways(
        self, admin: Client, sort: str, expected: list[str]
    ) -> None:
        shares = {name: new_share(name) for name in "abc"}
        new_shared_table(shares["b"], "crm.orders")
        new_read(shares["a"], at=timezone.now() - timedelta(days=3))
        new_read(shares["b"])

        shown = page(admin, "/shares/", sort=sort)
        rows = admin.get("/shares.csv", {"sort": sort}).getvalue().decode()

        assert re.findall(r'class="dw-tname" href="/shares/(\w)/"', shown) == expected
        assert shown.count("aria-sort=") == 1
        found = as_json(admin, "/shares.json", sort=sort)["shares"]
        assert [share["name"] for share in found] == expected
        assert [row[0] for row in csv.reader(io.StringIO(rows))][1:] == expected

    def test_asks_the_database_a_fixed_number_of_times(
        self, admin: Client, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        for number in range(40):
            share = new_share(f"s{number}")
            new_shared_table(share, f"crm.t{number}")
            new_grant(share, new_recipient(f"r{number}"))

        with django_assert_max_num_queries(10):
            page(admin, "/shares/")
