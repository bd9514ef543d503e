"""A restricted table is for viewers one that is not there."""

import pytest
from django.test import Client

from deltaweb.web.jobs.models import Job
from deltaweb.web.tables.models import Table
from tests.functional.catalogue.pages import as_json, text
from tests.support.pages.factories import new_column, new_table

pytestmark = pytest.mark.django_db


class TestRestricted:
    @pytest.fixture(autouse=True)
    def secret(self) -> Table:
        table = new_table("hidden.salaries", restricted=True, description="Pay slips")
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

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("get", "/t/hidden/salaries/"),
            ("get", "/t/hidden/salaries.json"),
            ("get", "/t/hidden/salaries/data"),
            ("get", "/t/hidden/salaries/schema"),
            ("get", "/t/hidden/salaries/history"),
            ("get", "/t/hidden/salaries/history.csv"),
            ("get", "/t/hidden/salaries/files"),
            ("get", "/t/hidden/salaries/state"),
            ("get", "/t/hidden/salaries/versions/0.json"),
            ("post", "/t/hidden/salaries/refresh"),
        ],
    )
    def test_viewers_get_the_answer_of_a_table_that_is_not_there(
        self, viewer: Client, method: str, path: str
    ) -> None:
        hidden = getattr(viewer, method)(path)
        missing = getattr(viewer, method)(path.replace("hidden", "nowhere"))

        assert hidden.status_code == missing.status_code == 404
        assert not Job.objects.exists()

    def test_editors_see_it_marked(self, editor: Client) -> None:
        shown = text(editor, "/tables/")

        assert "hidden" in shown
        assert "restricted" in shown
        assert as_json(editor, "/search.json", q="net_pay")["count"] == 1
