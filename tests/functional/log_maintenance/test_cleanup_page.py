"""The page of a clean-up: what would go, then the job that deletes just that."""

from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.jobs.services import cancel
from apps.tables.index.refresh import refresh_table
from apps.tables.models import Table
from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.table import DeltaTable
from tests.support.index.indexed_tables import index_table, new_indexed_table
from tests.support.pages.operated import work_newest, worked
from tests.support.pages.shown_words import words
from tests.support.tables.weekly_table import log_names, page_json, page_text

pytestmark = pytest.mark.django_db
CLEANUP = "/t/default/orders/cleanup"


class TestACleanUp:
    @pytest.fixture(autouse=True)
    def _with_checkpoints(self, folder: Path) -> None:
        DeltaTable(str(folder)).create_checkpoint(3)
        DeltaTable(str(folder)).create_checkpoint()

    def listed(self, editor: Client) -> Job:
        """The job that lists what would go, done."""
        assert editor.post(CLEANUP).status_code == 302
        return work_newest()

    @pytest.mark.usefixtures("orders")
    def test_says_by_what_it_goes(self, editor: Client) -> None:
        page = page_text(editor, CLEANUP)

        assert "30 days, the default" in words(page)
        assert "List what would be deleted" in page
        assert "cannot be undone" not in page
        told = page_json(editor, CLEANUP)
        assert told["job"] is None

    @pytest.mark.usefixtures("orders")
    def test_lists_first_and_deletes_nothing(self, editor: Client, folder: Path):
        before = log_names(folder)

        job = self.listed(editor)

        assert log_names(folder) == before
        page = page_text(editor, CLEANUP)
        assert "What would happen" in page
        assert "0 to 2 could not be read any more, for good" in page
        assert "Delete 3 files</button>" in page
        assert before[0] in page
        assert isinstance(job.result, dict)
        assert job.result["files"][0]["name"] == before[0]
        assert not AuditEvent.objects.filter(action="table.cleanup").exists()

    def test_deletes_what_was_listed(self, editor: Client, orders: Table, folder: Path):
        job, before = self.listed(editor), log_names(folder)

        answer = editor.post(CLEANUP, {"seen": str(job.id)})
        deletion = Job.objects.latest("created_at")
        worked(deletion)

        assert answer.status_code == 302
        assert log_names(folder) == before[3:]
        assert "can no longer be read" in page_text(editor, CLEANUP)
        event = AuditEvent.objects.get(action="table.cleanup")
        assert event.detail["num_files"] == 3
        assert event.detail["checkpoint_version"] == 3
        index = Job.objects.get(kind="tables.index_log")  # marks what is gone
        assert (index.subject_id, index.state) == (orders.id, Job.State.QUEUED)

    @pytest.mark.usefixtures("orders")
    def test_is_indexed_after_an_index_that_has_begun_before(self, editor: Client):
        job = self.listed(editor)
        editor.post(CLEANUP, {"seen": str(job.id)})
        deletion = Job.objects.latest("created_at")
        running = refresh_table(Table.objects.get(), now=timezone.now())
        Job.objects.filter(id=running.id).update(state=Job.State.RUNNING)

        worked(deletion)

        index = Job.objects.exclude(id=running.id).get(kind="tables.index_log")
        assert index.state == Job.State.QUEUED
        assert index.parameters == running.parameters

    def test_shows_what_is_gone_once_it_is_indexed(self, editor: Client, folder: Path):
        table = new_indexed_table("orders", folder)
        job = self.listed(editor)
        before = page_text(editor, "/t/default/orders/history")
        editor.post(CLEANUP, {"seen": str(job.id)})
        work_newest()

        assert Job.objects.get(kind="tables.index_log").subject_id == table.id
        index_table(table)  # as that job does

        after = page_text(editor, "/t/default/orders/history")
        assert ("3 gone" in before, "3 gone" in after) == (False, True)
        assert after.count("from deltaweb's archive") == 3

    @pytest.mark.usefixtures("orders")
    def test_loads_the_whole_page_anew_at_its_end(self, editor: Client) -> None:
        job = self.listed(editor)
        listing = page_text(editor, CLEANUP)
        editor.post(CLEANUP, {"seen": str(job.id)})

        assert "?then=reload" not in listing
        assert "?then=reload" in page_text(editor, CLEANUP)

    @pytest.mark.usefixtures("orders")
    def test_that_would_take_more_than_was_listed_deletes_nothing(self, editor, folder):
        job = self.listed(editor)
        DeltaTable(str(folder)).create_checkpoint(2)
        editor.post(CLEANUP, {"seen": str(job.id)})
        deletion, before = Job.objects.latest("created_at"), log_names(folder)

        worked(deletion)

        assert deletion.error_code == "operation-outdated"
        assert log_names(folder) == before
        shown_anew = Job.objects.latest("created_at")
        assert shown_anew.parameters["seen"] is None
        worked(shown_anew)
        page = page_text(editor, CLEANUP)
        assert "Nothing was done." in page
        assert "Delete 4 files</button>" in page

    @pytest.mark.usefixtures("orders")
    def test_that_was_interrupted_is_finished_by_the_next_run(self, editor, folder):
        job = self.listed(editor)
        editor.post(CLEANUP, {"seen": str(job.id)})
        deletion, before = Job.objects.latest("created_at"), log_names(folder)
        (folder / "_delta_log" / before[0]).unlink()

        worked(deletion)

        assert isinstance(deletion.result, dict)
        assert (deletion.state, deletion.result["num_files"]) == (Job.State.DONE, 2)
        assert log_names(folder) == before[3:]

    @pytest.mark.usefixtures("orders")
    def test_with_nothing_expired_says_so(self, editor: Client, folder: Path) -> None:
        (folder / "_delta_log" / checkpoint_name(3)).unlink()

        job = self.listed(editor)

        assert isinstance(job.result, dict)
        assert job.result["num_files"] == 0
        page = page_text(editor, CLEANUP)
        assert "Nothing can be deleted" in page
        assert "cannot be undone" not in page

    @pytest.mark.usefixtures("orders")
    def test_that_is_cancelled_while_it_waits_deletes_nothing(self, editor, folder):
        job, before = self.listed(editor), log_names(folder)
        editor.post(CLEANUP, {"seen": str(job.id)})
        deletion = cancel(Job.objects.latest("created_at"), now=timezone.now())

        worked(deletion)

        assert log_names(folder) == before
        assert "Cancelled" in page_text(editor, CLEANUP)
