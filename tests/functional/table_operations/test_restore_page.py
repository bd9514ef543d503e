"""The page that restores a version: what would come and go, then the commit."""

from pathlib import Path

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.tables.models import MissingFiles, Table
from deltaweb.table import DeltaTable
from tests.functional.table_operations.conftest import SCHEMA, Work
from tests.support.pages.factories import NOW, new_commit
from tests.support.pages.shown_words import words
from tests.support.tables.weekly_table import page_json, page_text

pytestmark = pytest.mark.django_db
RESTORE = "/t/default/orders/restore"


def look(editor: Client, work: Work, version: int = 1) -> Job:
    """The job that has found out what a restore would do."""
    assert editor.post(RESTORE, {"version": version}).status_code == 302
    return work()


class TestARestore:
    @pytest.mark.usefixtures("orders")
    def test_is_asked_for_by_version(self, editor: Client) -> None:
        page = page_text(editor, RESTORE)

        assert "Show what would happen" in page
        assert "This changes nothing." in page
        assert "What would happen</h2>" not in page
        assert page_json(editor, RESTORE)["job"] is None
        assert 'value="2"' in page_text(editor, f"{RESTORE}?version=2")

    @pytest.mark.usefixtures("orders")
    def test_shows_first_what_comes_back_and_what_goes(self, editor, work, folder):
        job = look(editor, work)

        assert job.state == Job.State.DONE, job.error
        page = page_text(editor, RESTORE)
        assert "Dry run of v3" in words(page)
        assert "2 files" in words(page)
        assert "6 → 2" in words(page)
        assert "Restore v1</button>" in page
        assert DeltaTable(str(folder)).latest_version() == 3
        assert not AuditEvent.objects.filter(action="table.restore").exists()
        told = page_json(editor, RESTORE)["job"]["result"]
        assert told["counts"] == {"num_files_back": 0, "num_files_gone": 2}
        assert (told["rows_gone"], told["rows_now"], told["rows_then"]) == (4, 6, 2)

    def test_does_what_was_shown(self, editor, work, orders, folder):
        job = look(editor, work)

        answer = editor.post(RESTORE, {"seen": str(job.id)})
        done = work()

        assert answer["Location"] == f"{RESTORE}?job={done.id}"
        assert done.state == Job.State.DONE, done.error
        table = DeltaTable(str(folder))
        assert (table.latest_version(), table.snapshot().read().to_pylist()) == (
            4,
            [{"p": "a", "id": 10}, {"p": "a", "id": 11}],
        )
        assert table.read_commit(4)[0]["commitInfo"]["userName"] == "eve"
        page = page_text(editor, RESTORE)
        assert "Committed version 4" in page
        assert 'action="/t/default/orders/undo"' in page
        event = AuditEvent.objects.get(action="table.restore")
        assert (event.actor, event.table_id) == ("eve", orders.id)
        assert event.detail["version"] == 1
        index = Job.objects.get(kind="tables.index_log")
        assert (index.subject_id, index.state) == (orders.id, Job.State.QUEUED)

    @pytest.mark.usefixtures("orders")
    def test_that_would_now_do_something_else_is_shown_again(
        self, editor: Client, work: Work, folder: Path
    ) -> None:
        job = look(editor, work)
        editor.post(RESTORE, {"seen": str(job.id)})
        refused = Job.objects.latest("created_at")
        DeltaTable(str(folder)).append(SCHEMA.empty_table())
        rows = SCHEMA.empty_table().from_pylist([{"p": "c", "id": 7}], SCHEMA)
        DeltaTable(str(folder)).append(rows)

        assert work().error_code == "operation-outdated"
        again = work()

        assert again.id != refused.id
        page = page_text(editor, f"{RESTORE}?job={refused.id}")
        assert "Nothing was done." in page
        assert "3 files" in words(page)
        assert page_text(editor, RESTORE).count("Nothing was done.") == 1
        assert DeltaTable(str(folder)).latest_version() == 4

    @pytest.mark.usefixtures("orders")
    def test_of_rows_that_moved_on_without_a_difference_is_done(
        self, editor: Client, work: Work, folder: Path
    ) -> None:
        job = look(editor, work)
        editor.post(RESTORE, {"seen": str(job.id)})
        DeltaTable(str(folder)).set_comment("of the shop")

        assert work().state == Job.State.DONE
        assert DeltaTable(str(folder)).latest_version() == 5

    @pytest.mark.usefixtures("orders")
    def test_names_the_files_that_are_gone(self, editor, work, folder):
        DeltaTable(str(folder)).delete("id < 20")
        gone = next((folder / "p=a").glob("*.parquet"))
        paths = DeltaTable(str(folder)).snapshot(1).files["path"].to_pylist()
        gone = folder / paths[0]
        gone.unlink()

        look(editor, work)

        page = page_text(editor, RESTORE)
        assert "Version 1 cannot be restored." in page
        assert "and no VACUUM in the history mentions it" in page
        assert gone.name in page
        assert "Restore v1</button>" not in page

    def test_names_the_vacuum_that_took_the_files(self, editor, work, folder, orders):
        DeltaTable(str(folder)).delete("id < 20")
        paths = DeltaTable(str(folder)).snapshot(1).files["path"].to_pylist()
        (folder / paths[0]).unlink()
        new_commit(orders, 2, operation="VACUUM START", user_name="alice")
        MissingFiles.objects.create(
            table=orders, first_version=1, last_version=1, num_files=1, num_missing=1,
            source=MissingFiles.Source.LOG, vacuum_version=2, found_at=NOW,
        )  # fmt: skip

        look(editor, work)

        page = page_text(editor, RESTORE)
        assert "gone from storage: the VACUUM of <a href=" in page
        assert '"/t/default/orders/history/2">v2</a> by <bdi>alice</bdi>' in page

    @pytest.mark.usefixtures("orders")
    @pytest.mark.parametrize("version", ["", "-1", "last", "9" * 30])
    def test_of_no_version_is_said_at_the_field(self, editor: Client, version: str):
        answer = editor.post(RESTORE, {"version": version})

        assert answer.status_code == 422
        assert b"aria-invalid" in answer.content
        assert not Job.objects.exists()

    @pytest.mark.usefixtures("orders")
    def test_that_fails_says_why_and_what_to_do(self, editor: Client, work: Work):
        job = look(editor, work, 77)

        assert job.state == Job.State.FAILED
        page = page_text(editor, RESTORE)
        assert "The version was not restored" in page
        assert job.error in page
        assert job.error_hint in page

    def test_that_a_killed_worker_had_committed_is_done(
        self, editor: Client, work: Work, folder: Path, orders: Table
    ) -> None:
        job = look(editor, work)
        editor.post(RESTORE, {"seen": str(job.id)})
        Job.objects.filter(id=Job.objects.latest("created_at").id).update(attempts=1)
        DeltaTable(str(folder)).restore(1)

        done = work()

        assert (done.state, done.attempts) == (Job.State.DONE, 2)
        assert isinstance(done.result, dict)
        assert done.result["done_before"] is True
        assert DeltaTable(str(folder)).latest_version() == 4
        assert Job.objects.filter(kind="tables.index_log", subject_id=orders.id)
