"""The page of a checkpoint: what it would hold, then the job that writes it."""

from pathlib import Path

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.table import DeltaTable
from tests.benchmarks.logs import write_commit
from tests.support.pages.factories import new_job
from tests.support.pages.operated import work_newest
from tests.support.pages.shown_words import words
from tests.support.tables.weekly_table import log_names, page_json, page_text

pytestmark = pytest.mark.django_db
CHECKPOINT = "/t/default/orders/checkpoint"
HTMX = {"HX-Request": "true"}


def looked_at(editor: Client, **asked: object) -> Job:
    """The job that found out what a checkpoint would hold."""
    assert editor.post(CHECKPOINT, asked).status_code == 302
    return work_newest()


def written(editor: Client, **asked: object) -> Job:
    """The job of a checkpoint that somebody looked at and agreed to."""
    editor.post(CHECKPOINT, {"seen": str(looked_at(editor, **asked).id)})
    return work_newest()


class TestWhatACheckpointWouldHold:
    def test_is_told_before_it_is_written(self, editor, orders, folder):
        before = log_names(folder)

        looked_at(editor)

        page = page_text(editor, CHECKPOINT)
        assert "A checkpoint of version 8" in words(page)
        assert "9 commits" in page
        assert "none at or before version 8" in page
        assert f"{folder}/_delta_log" in page
        assert "as JSON" in page
        assert "Write the checkpoint</button>" in page
        told = page_json(editor, CHECKPOINT)["job"]["result"]
        assert (told["version"], told["commits_since_checkpoint"]) == (8, 9)
        assert told["num_files"] == orders.num_files
        assert told["about_bytes"] > 12_000
        assert told["newest_checkpoint"] is None
        assert log_names(folder) == before

    @pytest.mark.usefixtures("orders")
    def test_names_the_newest_checkpoint_that_there_is(self, editor, folder):
        DeltaTable(str(folder)).create_checkpoint(3, parts=2)

        looked_at(editor)

        told = page_json(editor, CHECKPOINT)["job"]["result"]
        assert told["newest_checkpoint"]["version"] == 3
        assert told["newest_checkpoint"]["parts"] == 2
        assert told["newest_checkpoint"]["size_bytes"] > 0
        assert told["commits_since_checkpoint"] == 5
        assert "2 parts" in page_text(editor, CHECKPOINT)

    @pytest.mark.usefixtures("orders")
    def test_of_a_version_that_has_one_says_so(self, editor: Client, folder: Path):
        DeltaTable(str(folder)).create_checkpoint(5)

        looked_at(editor, version=5)

        assert "It exists already" in page_text(editor, CHECKPOINT)

    @pytest.mark.usefixtures("orders")
    def test_of_a_version_that_is_none_is_told_by_the_look(self, editor: Client):
        assert looked_at(editor, version=99).error_code == "version-not-found"

    def test_of_an_earlier_release_is_no_job_of_the_page(self, editor, orders):
        new_job(
            kind="tables.write_checkpoint",
            subject_id=orders.id,
            state=Job.State.DONE,
            parameters={"table_id": str(orders.id), "version": 8, "parts": None},
            result={"version": 8, "files": []},
        )

        assert page_json(editor, CHECKPOINT)["job"] is None


class TestACheckpoint:
    def test_is_written_once_and_recorded(self, editor, orders, folder):
        look = looked_at(editor, version=8)
        for _ in range(2):
            assert editor.post(CHECKPOINT, {"seen": str(look.id)}).status_code == 302

        job = Job.objects.exclude(id=look.id).get(kind="tables.write_checkpoint")
        event = AuditEvent.objects.get(action="table.checkpoint")
        assert (event.actor, event.table_id) == ("eve", orders.id)
        assert event.detail == {"version": 8, "parts": None, "job": str(job.id)}
        assert "No worker has reported yet" in page_text(editor, CHECKPOINT)
        work_newest()
        page = page_text(editor, CHECKPOINT, **HTMX)
        assert "has its checkpoint" in page
        assert checkpoint_name(8) in page
        assert "<html" not in page
        told = page_json(editor, CHECKPOINT)
        assert told["job"]["result"]["files"] == [checkpoint_name(8)]
        assert checkpoint_name(8) in log_names(folder)

    @pytest.mark.usefixtures("orders")
    def test_of_the_newest_version_is_of_the_one_that_was_shown(self, editor, folder):
        look = looked_at(editor)
        write_commit(folder / "_delta_log", 9, first=900, adds=1, removed=[])

        editor.post(CHECKPOINT, {"seen": str(look.id)})
        work_newest()

        assert checkpoint_name(8) in log_names(folder)
        assert AuditEvent.objects.get(action="table.checkpoint").detail["version"] == 8

    @pytest.mark.usefixtures("orders")
    def test_of_an_older_version_in_parts(self, editor: Client, folder: Path) -> None:
        written(editor, version=5, parts=3)

        assert "in 3 parts" in page_text(editor, CHECKPOINT)
        assert sum(".checkpoint." in name for name in log_names(folder)) == 3

    @pytest.mark.usefixtures("orders")
    @pytest.mark.parametrize("parts", ["0", "257", "many"])
    def test_in_a_count_of_parts_that_is_none_is_said_at_the_field(self, editor, parts):
        answer = editor.post(CHECKPOINT, {"version": "8", "parts": parts})

        assert answer.status_code == 422
        assert b"aria-invalid" in answer.content
        assert not Job.objects.exists()

    @pytest.mark.usefixtures("orders")
    def test_is_written_unseen_for_scripts_of_earlier_releases(self, editor, folder):
        answer = editor.post(f"{CHECKPOINT}.json", {"v": "8", "parts": "2"})

        assert answer.status_code == 202
        assert answer.json()["job"]["id"] == str(Job.objects.get().id)
        work_newest()
        assert sum(".checkpoint." in name for name in log_names(folder)) == 2

    @pytest.mark.usefixtures("orders")
    def test_that_fails_says_why_and_can_be_tried_again(self, editor, folder):
        editor.post(f"{CHECKPOINT}.json", {"v": "8"})
        (folder / "_delta_log" / "00000000000000000004.json").write_text("{")

        work_newest()

        page = page_text(editor, CHECKPOINT)
        assert "The checkpoint was not written" in page
        assert "00000000000000000004.json" in page
        assert "Try again" in page
        assert ".checkpoint." not in "".join(log_names(folder))
