"""A table in the browser: every page of the samples, at any version, in three forms."""

import csv
import io
import json
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.jobs.models import Job, Worker
from apps.tables import tasks
from apps.tables.models import Table
from deltaweb.samples import make_samples
from tests.factories import (
    NOW,
    new_commit,
    new_metadata,
    new_table,
    new_unindexed_table,
    new_user,
)
from tests.indexed_tables import new_indexed_table

pytestmark = pytest.mark.django_db
TABLE = "/t/default/"
PAGES = ["", "data", "schema", "history", "files"]
HTMX = {"HX-Request": "true"}
RUN = {
    "tables.preview_rows": tasks.preview_rows,
    "tables.list_version_files": tasks.list_version_files,
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample tables, made by the project's own writer."""
    folder = tmp_path_factory.mktemp("lake")
    make_samples(folder, NOW)
    return folder


@pytest.fixture
def viewer(client: Client) -> Client:
    client.force_login(new_user("vera"))
    return client


@pytest.fixture
def orders(lake: Path) -> Table:
    return new_indexed_table("orders", lake / "orders")


def work() -> None:
    """Do what waits, as a worker does."""
    for job in Job.objects.filter(state=Job.State.QUEUED):
        RUN[job.kind](job_id=str(job.id))


def text_of(client: Client, path: str, **headers: str) -> str:
    response = client.get(path, headers=headers)
    assert response.status_code == 200, response.content[:500]
    return response.content.decode()


def json_of(client: Client, path: str, status: int = 200) -> dict[str, object]:
    response = client.get(path)
    assert response.status_code == status
    return dict(json.loads(response.content))


def csv_of(client: Client, path: str) -> list[list[str]]:
    response = client.get(path)
    assert response.status_code == 200
    text = b"".join(response).decode()
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.usefixtures("orders")
class TestOverview:
    def test_shows_what_the_table_holds(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/")

        assert "5,568" in page
        assert "84 files in 84 partitions" in page
        assert "Commits per day" in page
        assert "order_id" in page

    def test_an_older_version_stays_on_every_tab(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/?v=3")

        assert "You are looking at <b>v3</b>" in page
        assert all(f"{TABLE}orders/{tab}?v=3" in page for tab in PAGES)

    def test_the_json_form_tells_the_version(self, viewer: Client) -> None:
        data = json_of(viewer, f"{TABLE}orders.json?v=3")

        assert (data["version"], data["latest_version"]) == (3, 21)
        assert data["protocol"]["min_reader_version"] == 1  # type: ignore[index]  # JSON
        assert data["partition_columns"] == ["order_date", "country"]

    def test_charts_have_their_numbers_without_script(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/")

        assert page.count("Show as table") == 3
        assert '<script id="commits-per-day" type="application/json">' in page
        assert " style=" not in page

    def test_asks_the_database_a_bounded_number_of_questions(
        self,
        viewer: Client,
        django_assert_max_num_queries: DjangoAssertNumQueries,
    ) -> None:
        for path, limit in [("", 14), ("schema", 10), ("history", 13), ("files", 10)]:
            with django_assert_max_num_queries(limit):
                viewer.get(f"{TABLE}orders/{path}")


@pytest.mark.usefixtures("orders")
class TestHistory:
    def test_says_each_commit_in_plain_words(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/history")

        assert "Appended <b>261</b> rows" in page
        assert "22 commits" in page

    def test_filters_are_chips_that_can_be_removed(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/history?op=WRITE&q=261")

        assert "1 of 22 commits" in page
        assert f'href="{TABLE}orders/history?q=261"' in page

    def test_none_matching_is_not_none_at_all(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/history?q=nowhere")

        assert "No commit matches these filters" in page
        assert "Clear the filters" in page

    def test_htmx_gets_the_next_rows_alone(self, viewer: Client) -> None:
        part = text_of(viewer, f"{TABLE}orders/history?before=5", **HTMX)

        assert "<html" not in part
        assert "v4</a>" in part
        assert "v5</a>" not in part

    def test_the_json_form_counts_and_pages(self, viewer: Client) -> None:
        table = new_table("long", version=59)
        for version in range(60):
            new_commit(table, version)

        first = json_of(viewer, f"{TABLE}long/history.json")
        second = json_of(viewer, str(first["next"]))

        assert first["count"] == 60
        commits = second["commits"]
        assert isinstance(commits, list)
        assert [commit["version"] for commit in commits] == [*range(9, -1, -1)]
        assert second["next"] is None

    def test_the_csv_form_has_every_row_of_the_filter(self, viewer: Client) -> None:
        lines = csv_of(viewer, f"{TABLE}orders/history.csv?op=WRITE")

        assert lines[0][0] == "version"
        assert len(lines) == 22


@pytest.mark.usefixtures("orders")
class TestCommit:
    def test_shows_files_metrics_and_raw_actions(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/history/21")

        assert "Files added" in page
        assert "Raw actions" in page
        assert "Output rows" in page

    def test_the_actions_can_be_downloaded(self, viewer: Client) -> None:
        response = viewer.get(f"{TABLE}orders/history/21/actions")

        lines = response.content.decode().splitlines()
        assert all(json.loads(line) for line in lines)
        assert "00000000000000000021.json" in response["Content-Disposition"]

    def test_storage_that_went_away_leaves_the_index(self, viewer: Client) -> None:
        Table.objects.update(location="/nowhere/at/all")

        page = text_of(viewer, f"{TABLE}orders/history/21")

        assert "cannot be read now" in page
        assert "Output rows" in page
        assert viewer.get(f"{TABLE}orders/history/21/actions").status_code == 503


@pytest.mark.usefixtures("orders")
class TestSchema:
    def test_shows_the_tree_and_the_code(self, viewer: Client, lake: Path) -> None:
        new_indexed_table("devices", lake / "device_readings")

        page = text_of(viewer, f"{TABLE}devices/schema")

        assert "CREATE TABLE" in page
        assert "StructType" in page
        assert "pa.schema" in page
        assert 'data-depth="1"' in page

    def test_a_filter_works_without_script(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/schema?q=amount")

        assert 'data-column="amount"' in page
        assert 'data-column="status"' not in page

    def test_a_schema_that_cannot_be_read_is_shown_as_it_is(
        self, viewer: Client
    ) -> None:
        table = new_table("odd")
        kind = {"name": "shape", "type": "geography", "nullable": True, "metadata": {}}
        new_metadata(
            table, schema_string=json.dumps({"type": "struct", "fields": [kind]})
        )

        page = text_of(viewer, f"{TABLE}odd/schema")

        assert "This schema cannot be read" in page
        assert "geography" in page


@pytest.mark.usefixtures("orders")
class TestFiles:
    def test_lists_sorts_and_filters(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/files?partition=country=FR&sort=path")

        assert "21 of 84" in page
        assert 'aria-sort="ascending"' in page
        assert "country=DE" not in page.partition('id="files"')[2]

    def test_an_older_version_is_listed_by_a_job(self, viewer: Client) -> None:
        waiting = text_of(viewer, f"{TABLE}orders/files?v=3")
        work()
        done = text_of(viewer, f"{TABLE}orders/files?v=3", **HTMX)

        assert "Listing the files of this version" in waiting
        assert "12, " in done
        assert "<html" not in done
        assert Job.objects.count() == 1

    def test_a_lost_index_does_not_change_the_answer(self, viewer: Client) -> None:
        Table.objects.update(index_name="gone")
        json_of(viewer, f"{TABLE}orders/files.json", status=202)
        work()

        assert json_of(viewer, f"{TABLE}orders/files.json")["count"] == 84

    def test_the_csv_form_has_every_file(self, viewer: Client) -> None:
        lines = csv_of(viewer, f"{TABLE}orders/files.csv?partition=country=FR")

        assert lines[0][:3] == ["path", "order_date", "country"]
        assert len(lines) == 22


@pytest.mark.usefixtures("orders")
class TestData:
    def read(self, viewer: Client, path: str) -> dict[str, object]:
        viewer.get(path)
        work()
        return json_of(viewer, path)

    def test_waits_for_its_job_and_shows_its_rows(self, viewer: Client) -> None:
        waiting = text_of(viewer, f"{TABLE}orders/data")
        work()
        page = text_of(viewer, f"{TABLE}orders/data")

        assert "Reading rows" in waiting
        assert "timestamp, UTC" in page
        assert '<span class="c-null">NULL</span>' in page
        assert "Scanned" in page
        assert Job.objects.count() == 1

    def test_longs_and_decimals_are_text_in_json(self, viewer: Client) -> None:
        data = self.read(viewer, f"{TABLE}orders/data.json?col=order_id&col=amount")

        row = data["rows"][0]  # type: ignore[index]  # JSON
        assert [type(row[name]) for name in ("order_id", "amount")] == [str, str]

    def test_filters_are_of_the_rows_and_shown_in_words(self, viewer: Client) -> None:
        path = f"{TABLE}orders/data?f=country:eq:FR&v=21"
        data = self.read(viewer, path.replace("data", "data.json"))

        found = data["rows"]
        assert isinstance(found, list)
        assert {row["country"] for row in found} == {"FR"}
        assert "Rows where country = FR, version 21" in text_of(viewer, path)

    def test_the_filter_form_leads_to_one_address(self, viewer: Client) -> None:
        response = viewer.get(f"{TABLE}orders/data?fc=country&fo=eq&fv=FR&page=3")

        assert response.status_code == 302
        assert response["Location"] == f"{TABLE}orders/data?f=country%3Aeq%3AFR"

    def test_a_failed_job_stays_until_it_is_retried(self, viewer: Client) -> None:
        Table.objects.update(location="/nowhere/at/all")
        viewer.get(f"{TABLE}orders/data")
        work()

        page = text_of(viewer, f"{TABLE}orders/data")
        data = json_of(viewer, f"{TABLE}orders/data.json", status=422)

        assert "The rows could not be read" in page
        assert data["error"] == "location-not-found"
        assert Job.objects.count() == 1

    def test_a_table_made_anew_at_the_same_place_shows_no_rows_of_the_old_one(
        self, viewer: Client
    ) -> None:
        viewer.get(f"{TABLE}orders/data")
        viewer.get(f"{TABLE}orders/files?v=3")
        work()
        assert "Scanned" in text_of(viewer, f"{TABLE}orders/data")

        Table.objects.update(delta_id="another log")

        assert "Scanned" not in text_of(viewer, f"{TABLE}orders/data")
        waiting = text_of(viewer, f"{TABLE}orders/files?v=3")
        assert "Listing the files of this version" in waiting

    def test_a_retry_leads_back_to_the_page_that_waits(self, viewer: Client) -> None:
        folder = Path(Table.objects.get().location)
        away = folder.rename(folder.with_name("away"))
        try:
            viewer.get(f"{TABLE}orders/data")
            work()
        finally:
            away.rename(folder)
        retry = f"/jobs/{Job.objects.get().id}/retry"

        response = viewer.post(retry, {"next": f"{TABLE}orders/data"})
        elsewhere = viewer.post(retry, {"next": "//elsewhere.example/"})
        work()

        assert response["Location"] == f"{TABLE}orders/data"
        assert elsewhere["Location"].startswith("/jobs/")
        assert "Scanned" in text_of(viewer, f"{TABLE}orders/data")

    def test_a_result_that_was_cleaned_up_is_read_again(self, viewer: Client) -> None:
        self.read(viewer, f"{TABLE}orders/data.json")
        for result in (Path(settings.HOME) / "results").iterdir():
            result.unlink()

        json_of(viewer, f"{TABLE}orders/data.json", status=202)

        assert Job.objects.filter(state=Job.State.QUEUED).count() == 1

    def test_an_empty_table_has_no_rows(self, viewer: Client, lake: Path) -> None:
        new_indexed_table("returns", lake / "returns")
        viewer.get(f"{TABLE}returns/data")
        work()

        assert "No rows" in text_of(viewer, f"{TABLE}returns/data")

    def test_the_csv_form_has_every_row_of_the_version(self, viewer: Client) -> None:
        assert viewer.get(f"{TABLE}orders/data.csv").status_code == 409
        work()

        lines = csv_of(viewer, f"{TABLE}orders/data.csv?page=3")

        assert len(lines) == 1 + 5_568

    def test_the_csv_form_waits_for_a_worker_that_is_there(
        self, viewer: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = timezone.now()
        Worker.objects.create(name="w1", started_at=now, seen_at=now)
        monkeypatch.setattr("apps.explorer.services.time.sleep", lambda _s: work())

        assert len(csv_of(viewer, f"{TABLE}orders/data.csv")) == 1 + 5_568
        assert len(csv_of(viewer, f"{TABLE}orders/files.csv?v=3")) > 1

    def test_an_export_that_grows_too_large_fails_and_leaves_nothing(
        self, viewer: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("apps.tables.reading.MAX_EXPORT_BYTES", 1 << 10)
        viewer.get(f"{TABLE}orders/data.csv")
        work()

        answer = json_of(viewer, f"{TABLE}orders/data.csv", status=422)

        assert answer["error"] == "result-too-large"
        job = Job.objects.get()
        assert not list((Path(settings.HOME) / "results").glob(f"{job.id}*"))

    def test_the_csv_form_of_few_rows_is_what_the_page_has_read(
        self, viewer: Client
    ) -> None:
        asked = "?f=order_id:lt:100004&col=order_id"
        self.read(viewer, f"{TABLE}orders/data.json{asked}")

        lines = csv_of(viewer, f"{TABLE}orders/data.csv{asked}")

        assert lines == [["order_id"], ["100001"], ["100002"], ["100003"]]


@pytest.mark.parametrize("page", ["", "history", "history/2", "schema"])
def test_names_that_turn_the_direction_of_text_end_where_they_end(
    viewer: Client, page: str
) -> None:
    new_commit(new_table(summary={}), 2, user_name="\u202eeve", operation="MERGE")

    text = text_of(viewer, f"{TABLE}orders/{page}")

    assert "by <bdi>\u202eeve</bdi> (<bdi>MERGE</bdi>)" in text


@pytest.mark.parametrize("page", ["data.csv", "files.csv"])
def test_a_download_of_a_table_that_could_not_be_indexed_says_why(
    viewer: Client, page: str
) -> None:
    new_unindexed_table(error="Commit 1 is missing.")

    answer = json_of(viewer, f"{TABLE}orders/{page}", status=409)

    assert answer["message"] == "Commit 1 is missing."


class TestDashboard:
    def test_an_empty_install_is_shown_how_to_begin(self, client: Client) -> None:
        client.force_login(new_user("eve", role=User.Role.EDITOR))

        page = text_of(client, "/")

        assert "Register a table" in page
        assert "Load the sample tables" in page

    @pytest.mark.usefixtures("orders")
    def test_shows_the_newest_commits_of_all_tables(self, viewer: Client) -> None:
        page = text_of(viewer, "/")

        assert "Latest commits" in page
        assert json_of(viewer, "/dashboard.json")["tables"] == 1


class TestStates:
    @pytest.mark.parametrize("page", PAGES)
    def test_a_table_that_is_not_indexed_yet_says_so(
        self, viewer: Client, page: str
    ) -> None:
        new_unindexed_table()

        assert "has not been indexed yet" in text_of(viewer, f"{TABLE}orders/{page}")

    @pytest.mark.parametrize("page", PAGES)
    @pytest.mark.parametrize("version", ["22", "-1", "x", "9" * 40, "1e3"])
    def test_an_unknown_version_is_a_404_with_the_range(
        self, viewer: Client, page: str, version: str
    ) -> None:
        new_table(version=21, summary={})

        response = viewer.get(f"{TABLE}orders/{page}?v={version}")

        assert response.status_code == 404
        assert "from 0 to 21" in response.content.decode()

    @pytest.mark.parametrize("page", [*PAGES, "history/0"])
    def test_a_viewer_may_not_know_of_a_restricted_table(
        self, viewer: Client, page: str
    ) -> None:
        new_commit(new_table(restricted=True))

        response = viewer.get(f"{TABLE}orders/{page}")

        assert response.status_code == 404
        assert "No table is named orders" in response.content.decode()

    def test_a_version_that_is_gone_offers_one_that_is_not(
        self, viewer: Client
    ) -> None:
        runs = [[0, 1, "GONE", "the log was cleaned"], [2, 2, "READABLE", ""]]
        new_metadata(new_table(summary={"readable_runs": runs}), 0)

        page = text_of(viewer, f"{TABLE}orders/data?v=1")

        assert "the log was cleaned" in page
        assert "Rows of v2, the nearest" in page
        assert f"{TABLE}orders/data?v=2" in page
        assert not Job.objects.exists()


NAMES = [
    "v",
    "op",
    "user",
    "from",
    "to",
    "q",
    "before",
    "partition",
    "min",
    "max",
    "sort",
    "page",
    "col",
    "f",
    "fc",
    "fo",
    "fv",
]


@pytest.fixture
def small(viewer: Client) -> Client:
    table = new_table()
    new_metadata(table)
    new_commit(table, 2)
    return viewer


@hypothesis_settings(max_examples=60)
@given(
    page=st.sampled_from(["", "data", "schema", "history", "files", "history/2"]),
    suffix=st.sampled_from(["", ".json", ".csv"]),
    query=st.dictionaries(st.sampled_from(NAMES), st.text(max_size=40), max_size=5),
)
def test_a_hostile_query_never_breaks_a_page(
    small: Client, page: str, suffix: str, query: dict[str, str]
) -> None:
    path = f"{TABLE}orders/{page}{suffix}" if page else f"{TABLE}orders/"

    response = small.get(path, query)

    assert response.status_code < 500
