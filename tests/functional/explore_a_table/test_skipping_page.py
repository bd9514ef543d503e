"""Which files of a table a condition reads, and why: the page, its JSON and its CSV."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.explorer.skipping import found, view
from apps.jobs.models import Job
from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.functional.table_command.commands import run_json
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.pages.answers import csv_of, json_of, newest_job_done, text_of
from tests.support.pages.factories import new_shared_table, signed_in
from tests.support.tables.grouped_table import grouped_table
from tests.support.tables.table_builder import TableBuilder

pytestmark = pytest.mark.django_db
ORDERS = "/t/default/orders/skipping"


@pytest.fixture(autouse=True)
def _at_home(home: Path) -> None:
    """Every test has a home of its own."""


def address(where: str, suffix: str = "", **more: object) -> str:
    return f"{ORDERS}{suffix}?{urlencode({'where': where, **more})}"


@pytest.mark.usefixtures("orders")
class TestSkipping:
    def test_without_a_condition_it_says_what_it_is_for(self, viewer: Client):
        page = text_of(viewer, ORDERS)

        assert "Which files does a filter read?" in page
        assert "Which columns can skip" in page
        assert " style=" not in page

    def test_it_shows_the_funnel_and_the_reason_of_each_group(self, viewer: Client):
        page = text_of(viewer, address("country = 'DE' AND amount > 400"))
        data = json_of(viewer, address("country = 'DE' AND amount > 400", ".json"))

        read, left = data["files"]["after_statistics"], data["files"]
        assert 0 < read < left["after_partitions"] == 21 < left["total"] == 84
        assert f"A reader opens {read} of 84 files" in page
        assert "skips 63 files by partition, 0 by statistics" in page
        assert sum(one["files"] for one in data["reasons"]) == 84

    def test_the_numbers_are_those_of_the_command_and_of_the_reader(
        self, viewer: Client, orders: Table
    ):
        where = "country = 'DE' AND amount > 400"
        data = json_of(viewer, address(where, ".json"))

        scan = DeltaTable(orders.location).snapshot().scan(["order_id"], where)
        for _ in scan:
            pass

        assert scan.files_scanned == data["files"]["after_statistics"]

    def test_a_button_applies_the_suggestion(self, viewer: Client):
        page = text_of(viewer, address("CAST(placed_at AS DATE) >= '2026-11-20'"))

        better = page.split("Apply the suggestion")[0].rpartition('href="')[2]
        url = better.split('"')[0].replace("&amp;", "&")
        assert "the cast prevents skipping by <code>placed_at</code>" in page
        assert "A reader opens 84 of 84 files" in page
        assert "A reader opens 84 of 84 files" not in text_of(viewer, url)
        assert "Apply the suggestion" not in text_of(viewer, url)

    def test_the_files_of_one_reason_come_in_pages(self, viewer: Client):
        data = json_of(viewer, address("country = 'DE'", ".json", group=2, page=2))

        (reason,) = data["reasons"]
        assert (reason["effect"], reason["files"]) == ("skipped", 63)
        assert len(reason["first_files"]) == 13
        assert reason["first_files"][0]["why"].endswith("so country = 'DE' is not true")

    def test_read_and_skipped_files_are_shown_alone(self, viewer: Client):
        read = json_of(viewer, address("country = 'DE'", ".json", show="read"))
        skipped = json_of(viewer, address("country = 'DE'", ".json", show="skipped"))

        assert {one["effect"] for one in read["reasons"]} == {"read"}
        assert {one["effect"] for one in skipped["reasons"]} == {"skipped"}

    def test_the_csv_form_has_every_file(self, viewer: Client):
        lines = csv_of(viewer, address("country = 'DE'", ".csv"))

        assert lines[0] == ["path", "size", "rows", "effect", "why"]
        assert len(lines) == 85
        assert {line[3] for line in lines[1:]} == {"read", "skipped"}

    def test_each_column_says_how_well_it_skips(self, viewer: Client):
        columns = json_of(viewer, f"{ORDERS}.json")["columns"]
        verdicts = {one["name"]: one["verdict"] for one in columns}
        known = {one["name"]: one["files_with_statistics"] for one in columns}

        assert verdicts["order_id"] == "skips well"
        assert verdicts["items"] == "never"
        assert verdicts["express"] == "no statistics"
        assert (known["order_id"], known["express"]) == (84, 0)

    def test_a_wrong_condition_is_an_error_at_its_field(self, viewer: Client):
        response = viewer.get(address("colour = 3"))
        page = response.content.decode()

        assert response.status_code == 400
        assert 'aria-describedby="wrong-condition"' in page
        assert "no column &#x27;colour&#x27;" in page

    @pytest.mark.parametrize(
        "more", [{"show": "some"}, {"group": "x"}, {"group": 9}, {"row_groups": "yes"}]
    )
    def test_an_address_that_cannot_be_read_says_so(self, viewer: Client, more):
        data = json_of(viewer, address("country = 'DE'", ".json", **more), 400)

        assert data["error"] == "query-invalid"

    def test_an_older_version_is_explained_by_a_job(self, viewer: Client):
        older = {"v": 3, "where": "amount > 400"}
        first = viewer.get(f"{ORDERS}.json?{urlencode(older)}")
        page = text_of(viewer, f"{ORDERS}?{urlencode(older)}")
        newest_job_done()

        data = json_of(viewer, f"{ORDERS}.json?{urlencode(older)}")

        assert (first.status_code, first.json()["job"]["state"]) == (202, "QUEUED")
        assert "Replaying the log" in page
        assert (data["version"], data["job"]) == (3, None)
        assert 0 < data["files"]["after_statistics"] <= data["files"]["total"] < 84
        assert data["overlaps"][0]["name"] == "amount"
        assert "A reader opens" in text_of(viewer, f"{ORDERS}?{urlencode(older)}")

    def test_an_older_version_answers_as_the_command_does(self, viewer: Client):
        older = {"v": 3, "where": "country = 'DE' AND amount > 400"}
        viewer.get(f"{ORDERS}.json?{urlencode(older)}")
        newest_job_done()
        data = json_of(viewer, f"{ORDERS}.json?{urlencode(older)}")
        lines = csv_of(viewer, f"{ORDERS}.csv?{urlencode(older)}")

        said = run_json(
            "explain", "orders", "--where", older["where"], "--version", "3", "--all"
        )

        for name in ("files", "bytes", "rows"):
            assert {**said[name], "after_row_groups": None} == data[name]
        skipped = [(line[0], line[4]) for line in lines if line[3] == "skipped"]
        assert skipped == [(one["path"], one["why"]) for one in said["skipped"]]

    def test_a_wrong_condition_at_an_older_version_asks_for_no_job(
        self, viewer: Client
    ):
        response = viewer.get(f"{ORDERS}?v=3&where=colour+%3D+3")

        assert response.status_code == 400
        assert not Job.objects.exists()

    def test_the_ranges_of_each_column_are_drawn(self, viewer: Client):
        where = "country = 'DE' AND amount > 400 AND order_id < 5000"
        data = json_of(viewer, address(where, ".json"))
        page = text_of(viewer, address(where))

        overlaps = data["overlaps"]
        assert [one["name"] for one in overlaps] == ["amount", "order_id"]
        assert all(1 <= len(one["bars"]) <= 60 for one in overlaps)
        assert all(one["files"] == 21 for one in overlaps)
        assert "Overlap of <code>amount</code>" in page
        assert "Show as table" in page
        assert " style=" not in page

    def test_columns_say_what_their_statistics_take_of_the_log(self, viewer: Client):
        columns = json_of(viewer, f"{ORDERS}.json")["columns"]
        taken = {one["name"]: one["log_bytes"] for one in columns}

        assert taken["order_id"] > 0
        assert sum(one["percent_of_statistics"] for one in columns) <= 100

    def test_a_csv_without_a_condition_is_refused(self, viewer: Client):
        assert viewer.get(f"{ORDERS}.csv").status_code == 409

    def test_the_data_page_says_how_many_files_a_filter_reads(self, viewer: Client):
        """It says so before a job has read any row."""
        page = text_of(viewer, "/t/default/orders/data?f=country:eq:DE")

        assert "Reads 21 of 84 files." in page
        link = page.split("Reads 21 of 84 files.")[1].split('href="')[1].split('"')[0]
        assert "A reader opens 21 of 84 files" in text_of(viewer, link)
        assert "files. <a" not in text_of(viewer, "/t/default/orders/data")

    def test_a_share_says_how_many_files_its_condition_reads(self, orders: Table):
        shared = new_shared_table(table=orders, condition="country = 'DE'")

        page = text_of(signed_in(role=User.Role.ADMIN), f"/shares/{shared.share.name}/")

        assert "Reads 21 of 84 files." in page

    def test_nobody_else_may_open_it(self, client: Client):
        assert client.get(ORDERS).status_code in {302, 403}


class TestRowGroups:
    """A job counts them when the page requests it."""

    URL = "/t/default/grouped/skipping"

    @pytest.fixture(autouse=True)
    def _grouped(self, tmp_path: Path) -> None:
        grouped_table(tmp_path / "grouped")
        new_indexed_table("grouped", tmp_path / "grouped")

    def asked(self, suffix: str = "", **more: object) -> str:
        query = {"where": "id >= 75", "row_groups": 1, **more}
        return f"{self.URL}{suffix}?{urlencode(query)}"

    def test_a_button_asks_for_them(self, viewer: Client) -> None:
        page = text_of(viewer, f"{self.URL}?where=id+%3E%3D+75")
        data = json_of(viewer, f"{self.URL}.json?where=id+%3E%3D+75")

        assert "Count row groups" in page
        assert "a job reads 2 footers" in page
        assert data["row_groups"] is None
        assert data["files"]["after_row_groups"] is None
        assert not Job.objects.exists()

    def test_the_job_adds_a_step_to_the_funnel(self, viewer: Client) -> None:
        first = viewer.get(self.asked(".json"))
        waiting = text_of(viewer, self.asked())
        newest_job_done()

        data = json_of(viewer, self.asked(".json"))
        page = text_of(viewer, self.asked())

        assert (first.status_code, first.json()["files"]["after_statistics"]) == (
            202,
            2,
        )
        assert "Counting row groups" in waiting
        assert data["row_groups"] == {"total": 10, "after_row_groups": 8}
        assert data["files"]["after_row_groups"] == 2
        assert data["rows"]["after_row_groups"] == 80
        assert "8 of 10 row groups stay" in page
        assert "3 of 5 row groups" in page
        (reason, *_) = data["reasons"]
        files = reason["first_files"]
        assert [one["row_groups_read"] for one in files] == [3, 5]

    def test_they_are_counted_at_an_older_version(self, viewer: Client) -> None:
        for _ in range(2):
            viewer.get(self.asked(".json", v=2))
            newest_job_done()

        data = json_of(viewer, self.asked(".json", v=2))

        assert (data["version"], data["files"]["total"]) == (2, 2)
        assert data["row_groups"] == {"total": 5, "after_row_groups": 3}

    def test_of_too_many_files_they_are_not_counted(
        self, viewer: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for module in (found, view):
            monkeypatch.setattr(module, "MAX_FOOTERS", 1)

        page = text_of(viewer, self.asked())
        data = json_of(viewer, self.asked(".json"), 422)

        assert "more than 1 files are left" in page
        assert data["error"] == "too-many-footers"
        assert not Job.objects.exists()

    def test_a_missing_file_is_named(self, viewer: Client, tmp_path: Path) -> None:
        (tmp_path / "grouped" / "part-2.parquet").unlink()
        viewer.get(self.asked(".json"))
        newest_job_done()

        page = text_of(viewer, self.asked())

        assert "The row groups could not be counted" in page
        assert "part-2.parquet" in page


def test_a_table_without_files_says_so(viewer: Client, tmp_path: Path):
    TableBuilder().rows(n=[1]).at(tmp_path / "empty").build().delete("TRUE")
    new_indexed_table("empty", tmp_path / "empty")

    page = text_of(viewer, "/t/default/empty/skipping?where=n+%3E+1")

    assert "The table is empty" in page
