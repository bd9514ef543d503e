"""What is in a table: its files and its rows, at any version, in three forms."""

import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.jobs.models import Job, Worker
from apps.pages.templatetags.deltaweb import NO_VALUE
from apps.tables.models import Table
from tests.functional.explore_a_table.pages import HTMX, TABLE, work
from tests.support import cases
from tests.support.index.indexed_tables import new_sample_table
from tests.support.pages.answers import csv_of, json_of, text_of

pytestmark = pytest.mark.django_db


@pytest.mark.usefixtures("orders")
class TestFiles:
    def test_lists_sorts_and_filters(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/files?partition=country=FR&sort=path")

        assert "21 of 84" in page
        assert 'aria-sort="ascending"' in page
        listed = page.partition('id="files"')[2].partition("<aside")[0]
        assert "country=FR" in listed
        assert "country=DE" not in listed

    def test_the_list_comes_before_what_is_drawn_of_it(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}orders/files")

        before_the_list, _, rest = page.partition('id="files"')
        assert "<figure" not in before_the_list
        assert rest.index("<tbody") < rest.index("<aside")

    def test_an_older_version_is_listed_by_a_job(self, viewer: Client) -> None:
        waiting = text_of(viewer, f"{TABLE}orders/files?v=3")
        work()
        done = text_of(viewer, f"{TABLE}orders/files?v=3", **HTMX)

        assert "Listing the files of this version" in waiting
        assert "12 · " in done
        assert "<html" not in done
        assert Job.objects.count() == 1

    def test_a_lost_index_does_not_change_the_answer(self, viewer: Client) -> None:
        Table.objects.update(index_name="gone")
        json_of(viewer, f"{TABLE}orders/files.json", status=202)
        work()

        assert json_of(viewer, f"{TABLE}orders/files.json")["count"] == 84

    def test_a_value_that_turns_text_does_not_turn_the_next_one(self, viewer: Client):
        values = {"order_date": "\u0645\u0635\u0631", "country": "2026-03-19"}
        table = Table.objects.get()
        table.summary["partitions"] = [{"values": values, "files": 1, "bytes": 1}]
        table.save()

        page = text_of(viewer, f"{TABLE}orders/files")

        assert "<bdi>\u0645\u0635\u0631</bdi> / <bdi>2026-03-19</bdi>" in page

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
        assert NO_VALUE in page
        assert "Scanned" in page
        assert Job.objects.count() == 1

    def test_asks_once_for_its_job_and_for_a_head_where_it_has_one(
        self, viewer: Client, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        viewer.get(f"{TABLE}orders/schema")
        for headers, limit in [({}, 22), ({}, 13), (HTMX, 9)]:
            with django_assert_max_num_queries(limit):
                page = text_of(viewer, f"{TABLE}orders/data", **headers)
            assert page.count('class="dw-tabs"') == (0 if headers else 1)
            work()

    @cases(
        "asked, told",
        {
            "by a column": ("country:eq:FR", "country = FR"),
            "by a condition in SQL": (
                "lower(country)+%3D+'fr'",
                "lower(country) = 'fr'",
            ),
        },
    )
    def test_filters_are_of_the_rows_and_shown_in_words(self, viewer, asked, told):
        path = f"{TABLE}orders/data?f={asked}&v=21"
        found = self.read(viewer, path.replace("data", "data.json"))["rows"]

        assert isinstance(found, list)
        assert {row["country"] for row in found} == {"FR"}
        assert f"Rows where {told}, version 21" in unescape(text_of(viewer, path))

    @cases(
        "query, told",
        {
            "the newest version": ("", "1 to 50 of 5,568"),
            "an older one": ("?v=1", "1 to 50 of 262"),
            "only some rows": ("?f=country:eq:FR&v=1", "1 to 50 of {count}"),
            "those of a condition in SQL": (
                "?f=country+%3D+'FR'&v=1",
                "1 to 50 of {count}",
            ),
        },
    )
    def test_it_says_how_many_rows_there_are(self, viewer, query, told):
        read = self.read(viewer, f"{TABLE}orders/data.json{query}")

        page = text_of(viewer, f"{TABLE}orders/data{query}")

        assert f'role="status">{told.format(count=read["count"])}<' in page

    @cases(
        "condition",
        {"on a column": "amount:gt:100000", "in SQL": "amount+%2B+1+>+100000"},
    )
    def test_a_condition_that_no_row_meets_is_not_an_empty_table(
        self, viewer: Client, condition: str
    ) -> None:
        self.read(viewer, f"{TABLE}orders/data.json?f={condition}")

        page = text_of(viewer, f"{TABLE}orders/data?f={condition}")

        assert "No row matches these filters" in page
        assert "The table is empty" not in page

    def test_a_condition_that_does_not_fit_is_there_to_be_mended(self, viewer: Client):
        query = "f=amount+%3E+5&f=country+%3D+DE&v=1&page=2"

        page = viewer.get(f"{TABLE}orders/data?{query}")

        assert page.status_code == 400
        shown = page.content.decode()
        assert "A text stands in quotes: &#x27;DE&#x27;." in shown
        form = shown.partition('aria-label="Filter rows"')[2].split("</form>")[0]
        fields = re.findall(r'name="([vf])"[^>]*?value="([^"]*)"', form)
        assert fields == [("v", "1"), ("f", "amount &gt; 5"), ("f", "country = DE")]

    def test_the_filter_form_leads_to_one_address(self, viewer: Client) -> None:
        asked = f"{TABLE}orders/data?fo=eq&f=upper(country)+%3D+'FR'"
        assert viewer.get(asked)["Location"] == (
            f"{TABLE}orders/data?f=upper%28country%29+%3D+%27FR%27"
        )
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

    def test_a_retry_leads_back_to_the_page_that_waits(
        self, viewer: Client, lake: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "orders"
        Table.objects.update(location=str(folder))
        viewer.get(f"{TABLE}orders/data")
        work()
        shutil.copytree(lake / "orders", folder)
        retry = f"/jobs/{Job.objects.get().id}/retry"

        response = viewer.post(retry, {"next": f"{TABLE}orders/data"})
        elsewhere = viewer.post(retry, {"next": "//elsewhere.example/"})
        work()

        assert response["Location"] == f"{TABLE}orders/data"
        assert elsewhere["Location"].startswith("/jobs/")
        assert "Scanned" in text_of(viewer, f"{TABLE}orders/data")

    def test_a_result_that_was_cleaned_up_is_read_again(self, viewer: Client) -> None:
        self.read(viewer, f"{TABLE}orders/data.json")
        job = Job.objects.get()
        for result in (Path(settings.HOME) / "results").glob(f"{job.id}*"):
            result.unlink()

        json_of(viewer, f"{TABLE}orders/data.json", status=202)

        assert Job.objects.filter(state=Job.State.QUEUED).count() == 1

    def test_an_empty_table_has_no_rows(self, viewer: Client, lake: Path) -> None:
        new_sample_table("returns", lake / "returns")
        viewer.get(f"{TABLE}returns/data")
        work()

        assert "No rows" in text_of(viewer, f"{TABLE}returns/data")

    def test_the_csv_form_has_every_row_of_the_version(self, viewer: Client) -> None:
        assert viewer.get(f"{TABLE}orders/data.csv").status_code == 409
        work()

        lines = csv_of(viewer, f"{TABLE}orders/data.csv?page=3")

        assert len(lines) == 1 + 5_568

    def test_the_csv_form_waits_for_a_worker_that_is_there(self, viewer, monkeypatch):
        now = timezone.now()
        Worker.objects.create(name="w1", started_at=now, seen_at=now)
        monkeypatch.setattr("apps.news.hub.Waiter.wait", lambda *_: work())

        assert len(csv_of(viewer, f"{TABLE}orders/data.csv")) == 1 + 5_568
        assert len(csv_of(viewer, f"{TABLE}orders/files.csv?v=3")) > 1

    def test_an_export_that_grows_too_large_fails_and_leaves_nothing(
        self, viewer: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("apps.tables.work.preview.MAX_EXPORT_BYTES", 1 << 10)
        viewer.get(f"{TABLE}orders/data.csv")
        work()

        answer = json_of(viewer, f"{TABLE}orders/data.csv", status=422)

        assert answer["error"] == "result-too-large"
        job = Job.objects.get()
        assert not list((Path(settings.HOME) / "results").glob(f"{job.id}*"))

    def test_the_csv_form_of_few_rows_is_what_the_page_has_read(self, viewer: Client):
        asked = "?f=order_id:lt:100004&col=order_id"
        self.read(viewer, f"{TABLE}orders/data.json{asked}")

        lines = csv_of(viewer, f"{TABLE}orders/data.csv{asked}")

        assert lines == [["order_id"], ["100001"], ["100002"], ["100003"]]
