"""The page of a vacuum: what any retention would take, then the deletion."""

from pathlib import Path

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from deltaweb.table import DeltaTable
from tests.functional.table_operations.conftest import Work
from tests.support.files.aged_files import age, age_removed
from tests.support.tables.weekly_table import page_json, page_text

pytestmark = pytest.mark.django_db
VACUUM = "/t/default/orders/vacuum"


@pytest.fixture(autouse=True)
def orphans(folder: Path) -> list[Path]:
    """Files that no version has, of 10 and of 20 days."""
    made = []
    for days in (10, 20):
        path = folder / "p=a" / f"part-{days}.parquet"
        path.write_bytes(b"x" * days)
        age(path, days=days)
        made.append(path)
    return made


def look(editor: Client, work: Work) -> Job:
    """The job that has listed the folder."""
    assert editor.post(VACUUM).status_code == 302
    return work()


@pytest.mark.usefixtures("orders")
class TestAVacuum:
    def test_tells_what_any_retention_would_take(self, editor, work, orphans):
        job = look(editor, work)

        assert job.state == Job.State.DONE, job.error
        told = page_json(editor, VACUUM)["job"]["result"]
        steps = [
            (step["hours"], step["num_files"], step["size_bytes"])
            for step in told["steps"]
        ]
        assert steps == [(0, 2, 30), (241, 1, 20), (481, 0, 0)]
        assert told["least_hours"] == 168
        assert told["counts"] == {"num_files": 2, "size_bytes": 30, "num_lost": 0}
        kinds = {part["kind"]: part["num_files"] for part in told["ledger"]}
        assert kinds == {
            "live": 3,
            "tombstoned": 0,
            "orphan": 2,
            "log": 4,
            "checkpoints": 0,
        }
        page = page_text(editor, VACUUM)
        assert "Delete 2 files, 30 B" in page
        assert "The least is 7 days" in page
        assert "properties?name=delta.deletedFileRetentionDuration" in page
        assert "Every version that is readable now stays readable." in page
        assert orphans[0].name in page
        assert all(path.exists() for path in orphans)

    def test_shows_a_retention_without_script_too(self, editor: Client, work: Work):
        job = look(editor, work)

        page = page_text(editor, f"{VACUUM}?job={job.id}&hours=300")
        assert "Delete 1 file, 20 B" in page
        assert "= 12 days 12 hours" in page
        page = page_text(editor, f"{VACUUM}?job={job.id}&hours=10")
        assert "10 hours are less than the 168" in page
        assert 'name="seen"' not in page

    def test_deletes_what_the_chosen_retention_takes(
        self, editor: Client, work: Work, orphans: list[Path], folder: Path
    ) -> None:
        job = look(editor, work)

        editor.post(VACUUM, {"seen": str(job.id), "hours": "300"})
        done = work()

        assert done.state == Job.State.DONE, done.error
        assert [path.exists() for path in orphans] == [True, False]
        assert DeltaTable(str(folder)).snapshot().read().num_rows == 6
        assert "Deleted 1 file (20 B)" in page_text(editor, VACUUM)
        event = AuditEvent.objects.get(action="table.vacuum")
        assert (event.detail["hours"], event.detail["num_files"]) == (300, 1)
        assert Job.objects.filter(kind="tables.index_log").count() == 1

    def test_below_what_the_table_allows_is_refused(self, editor, work, orphans):
        job = look(editor, work)

        editor.post(VACUUM, {"seen": str(job.id), "hours": "24"})
        refused = work()

        assert refused.error_code == "retention-too-short"
        assert all(path.exists() for path in orphans)
        page = page_text(editor, VACUUM)
        assert refused.error in page
        assert refused.error_hint in page

    def test_of_files_that_are_others_now_is_shown_again(self, editor, work, orphans):
        job = look(editor, work)
        editor.post(VACUUM, {"seen": str(job.id), "hours": "168"})
        orphans[0].unlink()

        assert work().error_code == "operation-outdated"
        assert work().state == Job.State.DONE
        page = page_text(editor, VACUUM)
        assert "Nothing was done." in page
        assert "Delete 1 file, 20 B" in page
        assert orphans[1].exists()

    @pytest.mark.parametrize("hours", ["", "x", "-1", "9" * 30])
    def test_of_a_retention_that_is_none_is_refused(self, editor, work, hours):
        job = look(editor, work)

        answer = editor.post(VACUUM, {"seen": str(job.id), "hours": hours})

        assert answer.status_code == 400
        assert Job.objects.count() == 1

    def test_names_the_versions_that_stop_being_readable(self, editor, work, folder):
        table = DeltaTable(str(folder))
        table.delete("p = 'b'")
        table.set_properties({"delta.deletedFileRetentionDuration": "interval 0 days"})
        (gone,) = (
            table.snapshot(3)
            .files.filter(
                [
                    path.startswith("p=b")
                    for path in table.snapshot(3).files["path"].to_pylist()
                ]
            )["path"]
            .to_pylist()
        )
        age_removed(folder, gone, version=4, days=3)

        job = look(editor, work)

        assert isinstance(job.result, dict)
        step = job.result["steps"][0]
        assert (step["first_lost"], step["last_lost"], step["num_lost"]) == (3, 3, 1)
        page = page_text(editor, VACUUM)
        assert "<b data-lost-count>1</b> version readable now" in page
        # A retention of 72 hours takes one of six versions; the axis has 504 hours.
        assert job.result["versions"] == {
            "num_readable": 6,
            "num_gone": 0,
            "oldest_hours": 72,
        }
        assert 'x="85.516%" width="14.484%" y="8" height="9" data-band-lost' in page
        assert "data-after>5</b>" in page
        page = page_text(editor, f"{VACUUM}?job={job.id}&hours=73")
        assert 'width="0.0%" y="8" height="9" data-band-lost' in page
        assert "data-after>6</b>" in page
