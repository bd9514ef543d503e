"""The catalogue, the search and the head of a table over HTTP: pages, JSON, CSV."""

import csv
import io
import json
import re
from typing import Any

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries, Settings

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.tables import services
from apps.tables.models import Table
from tests.factories import (
    NOW,
    new_column,
    new_commit,
    new_table,
    new_unindexed_table,
    new_user,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def viewer() -> Client:
    client = Client()
    client.force_login(new_user("vera"))
    return client


@pytest.fixture
def editor() -> Client:
    client = Client()
    client.force_login(new_user("ed", role=User.Role.EDITOR))
    return client


def text(client: Client, path: str, **query: str) -> str:
    answer = client.get(path, query)
    assert answer.status_code == 200, answer.content.decode()
    return answer.content.decode()


def as_json(client: Client, path: str, **query: str) -> Any:  # noqa: ANN401 (any document)
    return json.loads(text(client, path, **query))


def as_csv(client: Client, path: str, **query: str) -> list[list[str]]:
    answer = client.get(path, query)
    assert answer["Content-Type"] == "text/csv"
    return list(csv.reader(io.StringIO(answer.getvalue().decode())))


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
        assert "v2 by <bdi>etl-nightly</bdi>" in shown
        assert "1 table in 1 namespace" in re.sub(r"\s+", " ", shown)

    def test_unknown_numbers_are_said_to_be_unknown(self, viewer: Client) -> None:
        new_table("orders", num_records=None)

        assert "unknown" in text(viewer, "/tables/")

    def test_what_tables_say_of_themselves_is_never_markup(
        self, viewer: Client
    ) -> None:
        table = new_table("orders", description="<script>alert(1)</script>")
        new_column(table, "<img src=x>")

        shown = text(viewer, "/tables/", q="<img")

        assert "<script>alert" not in shown
        assert "<img src=x>" not in shown

    def test_htmx_gets_the_list_alone(self, viewer: Client) -> None:
        new_table("orders")

        answer = viewer.get("/tables/", headers=HTMX)

        assert "<html" not in answer.content.decode()
        assert "HX-Request" in answer["Vary"]

    def test_asks_again_while_a_table_waits_for_its_index(self, viewer: Client) -> None:
        new_unindexed_table("orders")
        assert "hx-trigger" in text(viewer, "/tables/").split('id="table-rows"')[1]

        Table.objects.update(state=Table.State.INDEXED)
        rows = text(viewer, "/tables/").split('id="table-rows"')[1]
        assert "hx-trigger" not in rows

    def test_tells_none_yet_from_none_that_match(
        self, viewer: Client, editor: Client
    ) -> None:
        assert "No tables yet" in text(viewer, "/tables/")
        assert "Register a table" not in text(viewer, "/tables/")
        assert "Register a table" in text(editor, "/tables/")

        new_table("orders")
        shown = text(viewer, "/tables/", q="nothing")
        assert "No table matches this filter" in shown
        assert "Clear the filters" in shown

    def test_json_pages_through_every_table(self, viewer: Client) -> None:
        for number in range(120):
            new_table(f"t{number:03d}")

        names, path = [], "/tables.json?sort=name"
        while path:
            page = json.loads(viewer.get(path).content)
            assert page["count"] == 120
            names += [table["name"] for table in page["tables"]]
            path = page["next"]
            assert path is None or path.startswith("http://testserver/tables.json?")

        assert names == [f"t{number:03d}" for number in range(120)]

    def test_json_keeps_large_numbers_exact(self, viewer: Client) -> None:
        new_table("orders", num_records=2**62 + 1, size_bytes=2**61 + 1)

        table = as_json(viewer, "/tables.json")["tables"][0]

        assert table["num_records"] == 2**62 + 1
        assert table["size_bytes"] == 2**61 + 1
        assert table["indexed_at"].endswith("Z")

    def test_csv_holds_every_row_of_the_filter(self, viewer: Client) -> None:
        for number in range(60):
            new_table(f"sales.t{number}")
        new_table("web.t")

        rows = as_csv(viewer, "/tables.csv", namespace="sales")

        assert len(rows) == 61
        assert rows[0][0] == "name"

    def test_names_the_parameter_that_makes_no_sense(self, viewer: Client) -> None:
        answer = viewer.get("/tables.json", {"page": "x"})

        assert answer.status_code == 400
        assert json.loads(answer.content)["error"] == "query-invalid"
        assert "page" in json.loads(answer.content)["message"]

    @pytest.mark.parametrize("number_of_tables", [5, 60])
    def test_the_page_asks_the_database_as_often_for_few_tables_as_for_many(
        self,
        viewer: Client,
        django_assert_max_num_queries: DjangoAssertNumQueries,
        number_of_tables: int,
    ) -> None:
        for number in range(number_of_tables):
            new_commit(new_table(f"t{number}"), 2)
        text(viewer, "/tables/")

        with django_assert_max_num_queries(8):
            text(viewer, "/tables/")


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
    def test_viewers_miss_it_in_every_list(
        self, viewer: Client, path: str, q: str
    ) -> None:
        answer = viewer.get(path, {"q": q})
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


class TestTableHead:
    def test_shows_an_old_version_under_a_ribbon(self, viewer: Client) -> None:
        table = new_table("sales.orders", version=9, summary={})
        for version in range(10):
            new_commit(table, version)

        shown = text(viewer, "/t/sales/orders/", v="4")

        assert "You are looking at <b>v4</b>" in shown
        assert "5 commits behind" in shown
        assert 'href="/t/sales/orders/schema?v=4"' in shown

    def test_the_timeline_is_a_form_that_works_without_script(
        self, viewer: Client
    ) -> None:
        table = new_table("orders")
        for version in range(3):
            new_commit(table, version)

        shown = text(viewer, "/t/default/orders/")

        strip = shown.split("data-timeline")[1].split("</form>")[0]
        assert 'type="range"' in strip
        assert 'name="v"' in strip
        assert 'max="2"' in strip
        assert "<button" in strip.split("<noscript>")[1]
        assert "style=" not in strip

    def test_the_timelines_tip_says_who_made_a_version(self, viewer: Client) -> None:
        new_commit(new_table("orders"), 1, operation="MERGE", user_name="etl")

        tip = as_json(viewer, "/t/default/orders/versions/1.json")

        assert (tip["operation"], tip["user"]) == ("MERGE", "etl")
        unknown = viewer.get(f"/t/default/orders/versions/{'9' * 40}.json")
        assert unknown.status_code == 404

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            pytest.param(
                {"latest_version_seen": 5}, "the source is at", id="newer commits"
            ),
            pytest.param(
                {"error_code": "location-unreachable", "error": "The disk is gone."},
                "The disk is gone.",
                id="source unreachable",
            ),
            pytest.param(
                {"state": Table.State.UNSUPPORTED, "error_code": "unsupported-feature"},
                "Metadata only.",
                id="a feature that we do not read",
            ),
        ],
    )
    def test_says_what_is_wrong_in_one_banner(
        self, viewer: Client, fields: dict[str, Any], words: str
    ) -> None:
        new_commit(new_table("orders", **fields), 2)

        shown = text(viewer, "/t/default/orders/")

        assert words in shown
        assert shown.count('id="table-state"') == 1

    def test_a_first_index_shows_its_progress_and_then_the_page(
        self, viewer: Client
    ) -> None:
        table = new_unindexed_table("orders")
        services.refresh_table(table, now=NOW)

        assert "for the first time" in text(viewer, "/t/default/orders/")
        state = "/t/default/orders/state?since="
        assert "hx-get" in viewer.get(state).content.decode()
        Table.objects.update(indexed_at=NOW, version=0, state=Table.State.INDEXED)
        assert "page-moved-on" in viewer.get(state)["HX-Trigger"]

    def test_a_failed_first_index_says_where_and_offers_another_try(
        self, viewer: Client
    ) -> None:
        table = new_unindexed_table("orders", state=Table.State.FAILED)
        services.refresh_table(table, now=NOW)
        Job.objects.update(
            state=Job.State.FAILED, step="Replaying the log", error="Commit 5 is gone."
        )

        shown = text(viewer, "/t/default/orders/")

        assert "failed at: Replaying the log" in shown
        assert "Commit 5 is gone." in shown
        viewer.post("/t/default/orders/refresh")
        assert Job.objects.filter(state=Job.State.QUEUED).count() == 1


class TestSettings:
    def test_renames_describes_and_restricts(self, editor: Client) -> None:
        new_table("orders")

        answer = editor.post(
            "/t/default/orders/settings",
            {"name": "sales.orders", "description": "All", "restricted": "on"},
        )

        table = Table.objects.get()
        assert answer["Location"] == "/t/sales/orders/settings"
        assert (table.full_name, table.description) == ("sales.orders", "All")
        assert table.restricted

    def test_a_refused_name_changes_nothing(self, editor: Client) -> None:
        new_table("orders")
        new_table("items")

        answer = editor.post(
            "/t/default/orders/settings", {"name": "items", "description": "x"}
        )

        assert answer.status_code == 422
        assert "already registered" in answer.content.decode()
        assert Table.objects.get(name="orders").description == ""

    @pytest.mark.parametrize(
        ("refresh", "interval_s", "words"),
        [
            pytest.param("1d", 86_400, ", refreshed every day", id="an interval"),
            pytest.param("never", 0, ", refreshed only when asked", id="never"),
        ],
    )
    def test_a_schedule_is_set_and_told_of_on_every_page_of_the_table(
        self, editor: Client, refresh: str, interval_s: int, words: str
    ) -> None:
        new_commit(new_table("orders"), 2)
        path = "/t/default/orders/settings"
        assert ", refreshed" not in text(editor, "/t/default/orders/")

        editor.post(path, {"name": "orders", "refresh": refresh})
        editor.post(path, {"name": "orders"})  # which says nothing of it

        assert Table.objects.get().refresh_interval_s == interval_s
        assert words in text(editor, "/t/default/orders/")
        shown = editor.get(path).content.decode()
        assert f'<option value="{refresh}" selected>' in shown
        assert shown.count(" selected>") == 1

    def test_takes_a_schedule_back(self, editor: Client) -> None:
        new_table("orders", refresh_interval_s=0)

        editor.post(
            "/t/default/orders/settings", {"name": "orders", "refresh": "default"}
        )

        assert Table.objects.get().refresh_interval_s is None

    def test_a_schedule_that_is_not_listed_changes_nothing(
        self, editor: Client
    ) -> None:
        new_table("orders")

        answer = editor.post(
            "/t/default/orders/settings",
            {"name": "orders", "description": "x", "refresh": "7s"},
        )

        assert answer.status_code == 422
        assert "Choose one of the listed schedules." in answer.content.decode()
        table = Table.objects.get()
        assert (table.description, table.refresh_interval_s) == ("", None)

    def test_scripts_read_the_schedule(
        self, editor: Client, settings: Settings
    ) -> None:
        settings.PROBE_INTERVAL_S = 90
        new_table("orders")
        new_table("items", refresh_interval_s=0)

        usual = as_json(editor, "/t/default/orders/settings.json")
        never = as_json(editor, "/t/default/items/settings.json")

        assert (usual["refresh"], usual["refresh_interval_s"]) == ("default", 90)
        assert (never["refresh"], never["refresh_interval_s"]) == ("never", None)


PARAMETERS = ["q", "namespace", "status", "sort", "page", "kind", "v", "check", "scan"]
PATHS = [
    "/tables/",
    "/tables.json",
    "/tables.csv",
    "/tables/new",
    "/search",
    "/search.json",
    "/search.csv",
    "/t/default/orders/settings",
    "/t/default/orders/state",
]


@settings(max_examples=150)
@given(
    path=st.sampled_from(PATHS),
    query=st.dictionaries(
        st.sampled_from(PARAMETERS) | st.text(max_size=5),
        st.text(max_size=300)
        | st.integers().map(str)
        | st.sampled_from(["%00", "\x00", "'; DROP TABLE", "9" * 400, "\ud7ff", "NaN"]),
        max_size=4,
    ),
)
def test_a_hostile_query_string_has_an_answer(
    editor: Client, path: str, query: dict[str, str]
) -> None:
    if not Table.objects.exists():
        new_column(new_table("orders"), "id")

    answer = editor.get(path, query)

    assert answer.status_code in {200, 204, 400, 404}
    if answer.streaming:
        assert answer.getvalue()


@pytest.mark.parametrize("raw", ["q=%ff%fe", "q[]=1&q=2", "page=1&page=x", "&&==", "%"])
def test_a_malformed_query_string_has_an_answer(editor: Client, raw: str) -> None:
    answer = editor.get("/tables/", QUERY_STRING=raw)

    assert answer.status_code in {200, 400}
