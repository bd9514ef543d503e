"""Rows of two versions: asked for, estimated, compared, downloaded."""

import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from apps.jobs.models import Job
from apps.tables.models import Table
from tests.functional.compare_versions.compared_orders import COMPARE, work
from tests.support.pages.answers import csv_of, json_of, text_of

pytestmark = pytest.mark.django_db


@pytest.mark.usefixtures("table")
class TestRows:
    @staticmethod
    def start(client: Client, versions: str, key: str = "") -> None:
        client.get(f"{COMPARE}/{versions}?view=rows")
        response = client.post(f"{COMPARE}/{versions}/rows", {"key": key})
        assert response.status_code == 302
        work()

    def test_nothing_starts_before_somebody_has_seen_the_estimate(self, viewer: Client):
        viewer.get(f"{COMPARE}/1...3?view=rows")
        work()
        page = text_of(viewer, f"{COMPARE}/1...3?view=rows")

        assert "This reads" in page
        assert "2 files" in page
        assert 'value="order_id"' in page
        assert "the key of the merge of version 2" in page
        assert not Job.objects.filter(kind="tables.diff_rows").exists()

    def test_without_a_merge_statistics_suggest_a_key(self, viewer: Client) -> None:
        viewer.get(f"{COMPARE}/0...1?view=rows")
        work()
        page = text_of(viewer, f"{COMPARE}/0...1?view=rows")
        data = json_of(viewer, f"{COMPARE}/0...1.json?view=rows")

        assert 'value="order_id"' in page
        assert data["suggested_key"] == ["order_id"]
        assert data["suggested_because"] in page

    def test_with_a_key_changed_cells_are_marked(self, viewer: Client) -> None:
        self.start(viewer, "1...3", "order_id")
        page = text_of(viewer, f"{COMPARE}/1...3?view=rows&key=order_id")

        assert "5 changed" in page
        assert "0 inserted" in page
        assert "2 deleted" in page
        assert page.count('class="c-chg"') == 10
        assert "<del><span>paid</span></del><ins><span>shipped</span></ins>" in (
            "".join(line.strip() for line in page.splitlines())
        )

    def test_the_json_form_counts_exactly(self, viewer: Client) -> None:
        self.start(viewer, "0...4", "order_id")
        data = json_of(viewer, f"{COMPARE}/0...4.json?view=rows&key=order_id")

        rows = data["rows"]
        assert [rows[kind] for kind in ("inserted", "deleted", "updated")] == [
            20,
            50,
            0,
        ]
        assert rows["columns_only_in_to"] == ["channel"]
        assert rows["sample"]["inserted"][0]["order_id"] == "100"

    def test_all_of_it_can_be_downloaded(self, viewer: Client) -> None:
        self.start(viewer, "1...2")
        lines = csv_of(viewer, f"{COMPARE}/1...2.csv?view=rows")
        response = viewer.get(f"{COMPARE}/1...2/rows.parquet")

        table = pq.read_table(io.BytesIO(b"".join(response)))
        assert table.num_rows == len(lines) - 1 == 12
        assert table.column_names == lines[0]
        assert (
            sorted(table["_change_type"].to_pylist()) == ["delete"] * 7 + ["insert"] * 5
        )

    def test_rows_of_a_kind_can_be_chosen(self, viewer: Client) -> None:
        self.start(viewer, "1...2")
        page = text_of(viewer, f"{COMPARE}/1...2?view=rows&kind=inserted")

        assert page.count('class="c-ins"') == 5
        assert 'class="c-del"' not in page

    def test_it_is_not_begun_again(self, viewer: Client) -> None:
        self.start(viewer, "1...2")
        self.start(viewer, "1...2")

        assert Job.objects.filter(kind="tables.diff_rows").count() == 1

    def test_a_key_that_one_version_lacks_is_refused(self, viewer: Client) -> None:
        answer = viewer.get(f"{COMPARE}/0...4?view=rows&key=channel")

        assert answer.status_code == 400

    def test_a_wrong_key_leads_back_to_the_form(self, viewer: Client) -> None:
        viewer.get(f"{COMPARE}/0...4?view=rows")
        work()
        asked = {"key": "channel"}
        answer = viewer.post(f"{COMPARE}/0...4/rows", asked, follow=True)
        page = answer.content.decode()

        assert answer.status_code == 200
        assert "columns that both versions have, not &#x27;channel&#x27;" in page
        assert 'name="key"' in page
        assert not Job.objects.filter(kind="tables.diff_rows").exists()

    def test_files_that_are_gone_are_named(self, viewer, written):
        (file,) = Path(written.store.root).glob("a-1*.parquet")
        away = file.rename(file.with_suffix(".away"))
        self.start(viewer, "1...2")
        away.rename(file)
        page = text_of(viewer, f"{COMPARE}/1...2?view=rows")

        assert "The rows could not be compared" in page
        assert "a-1.parquet" in page
        assert viewer.get(f"{COMPARE}/1...2.json?view=rows").status_code == 422

    def test_a_cancelled_comparison_can_be_started_again(self, viewer: Client) -> None:
        viewer.get(f"{COMPARE}/1...2?view=rows")
        viewer.post(f"{COMPARE}/1...2/rows")
        job = Job.objects.get(kind="tables.diff_rows")
        viewer.post(f"/jobs/{job.id}/cancel")
        page = text_of(viewer, f"{COMPARE}/1...2?view=rows")

        assert "Cancelled" in page
        assert "Try again" in page

    def test_a_download_before_its_time_says_so(self, viewer: Client) -> None:
        assert viewer.get(f"{COMPARE}/1...2/rows.parquet").status_code == 409
        assert viewer.get(f"{COMPARE}/1...2.csv?view=rows").status_code == 409


class TestAJobThatIsCancelledWhileItRuns:
    def test_it_stops_and_leaves_nothing(self, viewer: Client, table: Table) -> None:
        viewer.post(f"{COMPARE}/1...2/rows")
        job = Job.objects.get()
        Job.objects.filter(id=job.id).update(cancel_requested_at=timezone.now())
        work()

        job.refresh_from_db()
        assert job.state == Job.State.CANCELLED
        home = Path(settings.HOME)
        assert not list((home / "results").glob(f"*{job.id}*"))
        assert not (home / "scratch" / str(job.id)).exists()
        assert table.full_name in job.title
