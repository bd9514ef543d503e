"""The rows of a filter as Parquet and XLSX, and how many rows there are."""

import io
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet as pq
import pytest
from django.conf import settings
from django.test import Client
from django.utils.html import escape

from apps.jobs.models import Job
from apps.tables.models import Table
from tests.functional.explore_a_table.pages import TABLE, work
from tests.support.index.indexed_tables import new_sample_table
from tests.support.pages.answers import json_of, newest_job_done, text_of

pytestmark = pytest.mark.django_db

ORDERS = f"{TABLE}orders/data"


def file_of(client: Client, path: str) -> io.BytesIO:
    """Ask for a file, do the job that writes it, and return it."""
    assert client.get(path).status_code == 409
    newest_job_done()
    answer = client.get(path)
    assert answer.status_code == 200
    return io.BytesIO(b"".join(answer))


def read(client: Client, path: str) -> dict[str, Any]:
    client.get(path)
    work()
    return json_of(client, path)


@pytest.mark.usefixtures("orders")
class TestFiles:
    def test_parquet_has_the_rows_columns_and_order_of_the_page(self, viewer: Client):
        query = "?f=order_id:lt:100004&col=order_id&col=country&sort=-order_id"

        rows = pq.read_table(file_of(viewer, f"{ORDERS}.parquet{query}"))

        assert rows.column_names == ["order_id", "country"]
        assert rows["order_id"].to_pylist() == [100003, 100002, 100001]

    def test_the_column_of_the_order_need_not_be_chosen(self, viewer: Client):
        query = "?f=order_id:lt:100004&col=country&sort=-order_id"

        rows = pq.read_table(file_of(viewer, f"{ORDERS}.parquet{query}"))

        assert rows.column_names == ["country"]
        assert rows.num_rows == 3

    def test_xlsx_has_every_row_below_the_names(self, viewer: Client):
        book = openpyxl.load_workbook(file_of(viewer, f"{ORDERS}.xlsx"))

        names, *rows = book["Rows"].iter_rows(values_only=True)
        assert "order_id" in names
        assert len(rows) == 5_568

    def test_it_is_named_by_the_table_and_the_version(self, viewer: Client):
        file_of(viewer, f"{ORDERS}.xlsx?v=3")

        answer = viewer.get(f"{ORDERS}.xlsx?v=3")
        b"".join(answer)  # closes the file

        assert 'filename="default-orders-v3.xlsx"' in answer["Content-Disposition"]
        assert answer["Cache-Control"] == "no-store"
        assert Job.objects.filter(kind="tables.export_rows").count() == 1

    def test_only_the_file_stays_of_the_job(self, viewer: Client):
        file_of(viewer, f"{ORDERS}.parquet?f=order_id:lt:100004")

        job = Job.objects.get(kind="tables.export_rows")
        left = (Path(settings.HOME) / "results").glob(f"{job.id}*")
        assert [path.name for path in left] == [f"{job.id}.parquet"]

    def test_a_file_that_was_cleaned_up_is_written_again(self, viewer: Client):
        query = "?f=order_id:lt:100004&col=order_id"
        file_of(viewer, f"{ORDERS}.parquet{query}")
        for path in (Path(settings.HOME) / "results").glob("*.parquet"):
            path.unlink()

        rows = pq.read_table(file_of(viewer, f"{ORDERS}.parquet{query}"))

        assert rows.num_rows == 3

    def test_more_rows_than_a_sheet_has_are_refused_at_once(self, viewer: Client):
        Table.objects.update(num_records=1_048_576)

        answer = viewer.get(f"{ORDERS}.xlsx")

        assert answer.status_code == 422
        assert "Filter further, or download CSV or Parquet" in answer.content.decode()
        assert not Job.objects.exists()

    def test_a_job_that_finds_more_rows_than_a_sheet_has_leaves_nothing(
        self, viewer: Client, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("apps.tables.work.export_rows.MAX_SHEET_ROWS", 10)
        viewer.get(f"{ORDERS}.xlsx?f=country:eq:DE")
        job = newest_job_done()

        answer = viewer.get(f"{ORDERS}.xlsx?f=country:eq:DE")

        assert answer.status_code == 422
        assert "An XLSX sheet holds 1,048,575 rows" in answer.content.decode()
        assert not list((Path(settings.HOME) / "results").glob(f"{job.id}*"))

    def test_they_need_somebody_who_is_signed_in(self, client: Client):
        assert client.get(f"{ORDERS}.xlsx").status_code == 302


@pytest.mark.usefixtures("orders")
class TestABrowser:
    """It shows that a file is being made, and downloads it when it is ready."""

    @pytest.fixture
    def browser(self, viewer: Client) -> Client:
        viewer.defaults["HTTP_ACCEPT"] = "text/html,*/*;q=0.8"
        return viewer

    @pytest.mark.parametrize(
        ("form", "label"), [("csv", "CSV"), ("parquet", "Parquet"), ("xlsx", "XLSX")]
    )
    def test_sees_the_job_and_gets_the_file_after_it(
        self, browser: Client, form: str, label: str
    ):
        path = f"{ORDERS}.{form}?f=order_id:lt:100004&sort=order_id"
        part = {"HX-Request": "true", "Accept": "*/*"}

        page = browser.get(path)
        begun = browser.get(path, headers=part)

        assert page.status_code == begun.status_code == 202
        assert f"Making the {label} file" in page.content.decode()
        assert "The download starts when the file is ready" in begun.content.decode()
        assert "data-begin" not in begun.content.decode()
        rows = f"{ORDERS}?f=order_id%3Alt%3A100004&amp;sort=order_id"
        assert f'href="{rows}"' in page.content.decode()

        newest_job_done()
        done = browser.get(path, headers=part)
        file = browser.get(path)

        assert f"The {label} file is ready" in done.content.decode()
        link = f'data-begin href="{escape(path)}"'
        assert link in done.content.decode()
        assert "attachment" in file["Content-Disposition"]
        assert b"".join(file)

    def test_sees_why_there_is_no_file(
        self, browser: Client, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("apps.tables.work.export_rows.MAX_SHEET_ROWS", 10)
        path = f"{ORDERS}.xlsx?f=country:eq:DE"
        browser.get(path)
        newest_job_done()

        page = browser.get(path)

        assert page.status_code == 422
        assert "The file could not be made" in page.content.decode()
        assert "An XLSX sheet holds 1,048,575 rows" in page.content.decode()
        assert browser.get(path, headers={"HX-Request": "true"}).status_code == 202


@pytest.mark.usefixtures("orders")
class TestTotal:
    def test_without_a_condition_the_log_says_it(self, viewer: Client):
        page = read(viewer, f"{ORDERS}.json")

        assert page["total"] == {"rows": 5_568, "is_exact": True, "most": None}
        assert "1 to 50 of 5,568" in text_of(viewer, ORDERS)

    def test_for_partition_values_it_is_exact(self, viewer: Client):
        page = read(viewer, f"{ORDERS}.json?f=country:eq:DE")

        total = page["total"]
        assert isinstance(total, dict)
        assert total["is_exact"]
        assert total["rows"] > 500
        assert f"1 to 50 of {total['rows']:,}" in text_of(
            viewer, f"{ORDERS}?f=country:eq:DE"
        )

    def test_for_other_columns_it_is_between_what_is_known(self, viewer: Client):
        page = read(viewer, f"{ORDERS}.json?f=order_id:gt:0")

        assert page["total"] == {"rows": 501, "is_exact": False, "most": 5_568}
        shown = text_of(viewer, f"{ORDERS}?f=order_id:gt:0")
        assert "1 to 50 of at least 501, at most 5,568" in shown

    def test_it_is_counted_exactly_and_kept_for_the_condition(self, viewer: Client):
        condition = "f=order_id:gt:100600"
        read(viewer, f"{ORDERS}.json?{condition}")
        assert "Count exactly" in text_of(viewer, f"{ORDERS}?{condition}")

        counting = json_of(viewer, f"{ORDERS}.json?{condition}&count=exact")
        assert not counting["total"]["is_exact"]
        assert counting["count_job"]["state"] == "QUEUED"
        assert "counting…" in text_of(viewer, f"{ORDERS}?{condition}")
        work()

        expected = {"rows": 4_968, "is_exact": True, "most": None}
        for query in (f"{condition}&count=exact", condition):
            found = json_of(viewer, f"{ORDERS}.json?{query}")
            assert found["total"] == expected
        shown = text_of(viewer, f"{ORDERS}?{condition}")
        assert "1 to 50 of 4,968" in shown
        assert "Count exactly" not in shown
        other = read(viewer, f"{ORDERS}.json?{condition}&f=amount:gt:0")
        assert not other["total"]["is_exact"]
        assert Job.objects.filter(kind="tables.count_rows").count() == 1

    def test_a_count_that_failed_is_not_begun_again(self, viewer: Client):
        path = f"{ORDERS}?f=order_id:gt:100600&count=exact"
        read(viewer, f"{ORDERS}.json?f=order_id:gt:100600")
        viewer.get(path)
        Job.objects.filter(kind="tables.count_rows").update(state=Job.State.FAILED)

        assert "They could not be counted" in text_of(viewer, path)
        assert Job.objects.filter(kind="tables.count_rows").count() == 1

    def test_where_it_is_known_nothing_is_counted(self, viewer: Client):
        page = read(viewer, f"{ORDERS}.json?f=country:eq:DE&count=exact")

        assert page["total"]["is_exact"]
        assert not Job.objects.filter(kind="tables.count_rows").exists()

    def test_few_rows_were_read_to_their_end(self, viewer: Client):
        page = read(viewer, f"{ORDERS}.json?f=order_id:lt:100004")

        assert page["total"] == {"rows": 3, "is_exact": True, "most": None}

    def test_an_older_version_has_its_own(self, viewer: Client):
        page = read(viewer, f"{ORDERS}.json?v=0")

        total = page["total"]
        assert isinstance(total, dict)
        assert total["is_exact"]
        assert total["rows"] < 5_568


def test_an_empty_table_has_no_files_to_offer(viewer: Client, lake: Path):
    new_sample_table("returns", lake / "returns")
    viewer.get(f"{TABLE}returns/data")
    work()

    assert "data.xlsx" not in text_of(viewer, f"{TABLE}returns/data")
