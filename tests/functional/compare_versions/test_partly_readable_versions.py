"""Versions that lack files: what can be compared of them is told where one chooses."""

import re
from pathlib import Path

import pytest
from django.test import Client

from apps.jobs.models import Job
from apps.tables.models import Table
from tests.functional.compare_versions.compared_orders import (
    COMPARE,
    work,
    write_orders,
)
from tests.support.index.indexed_tables import (
    index_table,
    new_indexed_table,
    new_sample_table,
)
from tests.support.pages.answers import json_of, text_of
from tests.support.tables.versioned_table import VersionedTable

pytestmark = pytest.mark.django_db
KEPT = "c-3.parquet"  # what the VACUUM left, though it might have deleted it
REASON = "Some of its files were deleted by the VACUUM of version 5."
NONE_LEFT = "All of its files were deleted by the VACUUM of version 5."
NOW = {"retentionCheckEnabled": "false", "specifiedRetentionMillis": "0"}


def vacuum(written: VersionedTable) -> None:
    """Delete what the newest version does not need, but for one file."""
    written.commit(operation="VACUUM START", parameters=NOW)
    written.commit(operation="VACUUM END", parameters={"status": "COMPLETED"})
    for path in Path(written.store.root).glob("*.parquet"):
        if not path.name.startswith("bc-") and path.name != KEPT:
            path.unlink()


@pytest.fixture
def written(tmp_path: Path) -> VersionedTable:
    return write_orders(tmp_path / "orders")


@pytest.fixture(scope="module")
def vacuumed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = write_orders(tmp_path_factory.mktemp("vacuumed") / "orders")
    vacuum(written)
    return Path(written.store.root)


@pytest.fixture
def table(vacuumed: Path) -> Table:
    return new_sample_table("orders", vacuumed)


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


@pytest.mark.usefixtures("table")
class TestTheChoice:
    def test_marks_a_version_that_lacks_files(self, viewer: Client) -> None:
        page = text_of(viewer, f"{COMPARE}/3...4?view=schema")

        _, first, second = page.split('<details class="dw-menu x-pick">')
        assert REASON in first.split("</summary>")[0]
        assert "partly readable" in first.split("</summary>")[0]
        assert "partly readable" not in second.split("</summary>")[0]

    def test_says_which_versions_can_be_read(self, viewer: Client) -> None:
        page = words(text_of(viewer, f"{COMPARE}/4...5?view=schema"))

        assert "readable: v4 to v6 partly readable: v3 gone: v0 to v2" in page

    def test_marks_versions_of_the_list(self, viewer: Client) -> None:
        page = text_of(viewer, f"{COMPARE}/4...5?view=schema")

        marked = re.findall(r"v(\d)</b> <span class=\"dw-dot (part|gone)\"", page)
        lacking = [("3", "part"), ("2", "gone"), ("1", "gone"), ("0", "gone")]
        assert marked == lacking * 2

    def test_is_in_the_json_form(self, viewer: Client) -> None:
        told = json_of(viewer, f"{COMPARE}/1...4.json?view=schema")["readability"]

        assert told == {
            "from": {"state": "FILES_GONE", "reason": NONE_LEFT},
            "to": {"state": "READABLE", "reason": None},
        }

    @pytest.mark.parametrize("view", ["schema", "properties", "protocol"])
    def test_keeps_nothing_from_being_compared_that_needs_no_file(self, viewer, view):
        page = text_of(viewer, f"{COMPARE}/0...4?view={view}")

        assert "cannot be compared" not in page
        assert not Job.objects.exists()


@pytest.mark.usefixtures("table")
class TestRowsWhoseFilesAreDeleted:
    ROWS = f"{COMPARE}/2...4?view=rows"
    MISSING = "Comparing rows reads 1 file of version 2, which is deleted: a-4.parquet."

    @pytest.fixture
    def looked(self, viewer: Client) -> Client:
        """Somebody whose page has found out which files differ."""
        viewer.get(self.ROWS)
        work()
        return viewer

    def test_are_refused_before_anybody_asks(self, looked: Client) -> None:
        page = text_of(looked, self.ROWS)

        assert "The rows of these versions cannot be compared" in page
        assert f"Version 2: {NONE_LEFT}" in page
        assert self.MISSING in page
        assert "Compare rows</button>" not in page

    def test_start_no_job(self, looked: Client) -> None:
        response = looked.post(f"{COMPARE}/2...4/rows")

        assert response.status_code == 409
        assert "a-4.parquet" in response.content.decode()
        assert not Job.objects.filter(kind="tables.diff_rows").exists()

    def test_are_refused_in_the_json_form(self, looked: Client) -> None:
        data = json_of(looked, f"{COMPARE}/2...4.json?view=rows")

        assert data["rows"] is None
        assert data["rows_problem"] == self.MISSING

    def test_are_counted_for_each_version(self, viewer: Client) -> None:
        viewer.get(f"{COMPARE}/0...2?view=rows")
        work()
        problem = json_of(viewer, f"{COMPARE}/0...2.json?view=rows")["rows_problem"]

        assert problem == (
            "Comparing rows reads 1 file of version 0, which is deleted: a-1.parquet. "
            "Comparing rows reads 2 files of version 2; 1 of them is deleted: "
            "a-4.parquet."
        )

    def test_have_a_list_of_files_all_the_same(self, looked: Client) -> None:
        assert "1 removed" in text_of(looked, f"{COMPARE}/2...4?view=files")


@pytest.mark.usefixtures("table")
def test_rows_whose_files_are_there_are_compared(viewer: Client) -> None:
    viewer.get(f"{COMPARE}/0...1?view=rows")
    work()
    before = text_of(viewer, f"{COMPARE}/0...1?view=rows")
    viewer.post(f"{COMPARE}/0...1/rows")
    work()

    assert "No file that this comparison reads is known to be missing." in before
    assert "20 inserted" in text_of(viewer, f"{COMPARE}/0...1?view=rows")


class TestAComparisonFromBeforeTheVacuum:
    @pytest.fixture
    def compared(self, viewer: Client, written: VersionedTable) -> Table:
        """The table, whose rows were compared while all files were there."""
        table = new_indexed_table("orders", Path(written.store.root))
        viewer.get(f"{COMPARE}/2...4?view=rows")
        viewer.post(f"{COMPARE}/2...4/rows")
        work()
        vacuum(written)
        index_table(table)
        return table

    @pytest.mark.usefixtures("compared")
    def test_still_shows_its_rows(self, viewer: Client) -> None:
        page = text_of(viewer, f"{COMPARE}/2...4?view=rows")

        assert "48 deleted" in page

    @pytest.mark.usefixtures("compared")
    def test_is_not_taken_for_what_is_there_now(self, viewer: Client) -> None:
        viewer.get(f"{COMPARE}/2...4?view=rows&key=order_id")
        work()
        page = text_of(viewer, f"{COMPARE}/2...4?view=rows&key=order_id")

        assert "a-4.parquet" in page
        assert "Compare rows</button>" not in page
