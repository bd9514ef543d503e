"""A private table does not exist for whoever has no right on it."""

import pytest
from django.test import Client

from apps.jobs.models import Job
from apps.tables.models import Table
from tests.functional.catalogue.pages import as_json, text
from tests.functional.explore_a_table.pages import PAGES
from tests.support.pages.factories import new_column, new_table, signed_in

pytestmark = pytest.mark.django_db
OTHER_PAGES = [
    *("parquet", "partitions", "schema-lanes", "schema/net_pay", "use", "history/0"),
    *("history.csv", "state", "versions/0.json", "refresh", "profile", "nothing"),
]


class TestRestricted:
    @pytest.fixture(autouse=True)
    def secret(self) -> Table:
        table = new_table("hidden.salaries", is_private=True, description="Pay slips")
        new_column(table, "net_pay")
        new_table("orders")
        return table

    @pytest.mark.parametrize("q", ["", "salaries", "net_pay", "slips", "hidden"])
    @pytest.mark.parametrize(
        "path",
        [
            "/tables/",
            "/tables.json",
            "/tables.csv",
            "/search",
            "/search.json",
            "/search.csv",
        ],
    )
    def test_viewers_miss_it_in_every_list(self, viewer: Client, path: str, q: str):
        answer = viewer.get(path, {"q": q}, follow=True)
        body = answer.getvalue() if answer.streaming else answer.content

        assert answer.status_code == 200
        assert b"hidden.salaries" not in body
        assert b"/t/hidden/" not in body
        assert b"Pay slips" not in body

    @pytest.mark.parametrize("page", [*PAGES, *OTHER_PAGES])
    def test_viewers_get_the_answer_of_a_table_that_is_not_there(self, viewer, page):
        method = viewer.post if page in {"refresh", "profile"} else viewer.get
        hidden = method(f"/t/hidden/salaries/{page}")
        missing = method(f"/t/nowhere/salaries/{page}")

        assert hidden.status_code == missing.status_code == 404
        assert (
            page == "nothing" or b"No table is named hidden.salaries" in hidden.content
        )
        assert b"Pay slips" not in hidden.content
        assert b"dw-tabs" not in hidden.content
        assert not Job.objects.exists()

    def test_administrators_see_it_marked(self) -> None:
        admin = signed_in("ada", role="ADMIN")
        shown = text(admin, "/tables/")

        assert "hidden" in shown
        assert "private" in shown
        assert as_json(admin, "/search.json", q="net_pay")["count"] == 1
