"""The pages of a checkpoint and of a clean-up: what they would do, then the job."""

import os
import shutil
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.jobs.services import cancel
from apps.tables import tasks
from apps.tables.models import Table
from deltaweb.delta.log_path import checkpoint_name
from deltaweb.table import DeltaTable
from tests.benchmarks.logs import write_json_log
from tests.factories import (
    new_metadata,
    new_protocol,
    new_table,
    new_unindexed_table,
    new_user,
)

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

pytestmark = pytest.mark.django_db
CHECKPOINT = "/t/default/orders/checkpoint"
CLEANUP = "/t/default/orders/cleanup"
COMMITS, NEWEST = 9, 8
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def home(settings: "Settings", tmp_path: Path) -> Path:
    settings.HOME = tmp_path / "home"
    return tmp_path / "home"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake") / "orders"
    return write_json_log(folder, commits=COMMITS, adds=4, removes=1)


@pytest.fixture
def folder(log: Path, tmp_path: Path) -> Path:
    """A table with one commit a week, the last of them today."""
    folder = tmp_path / "orders"
    shutil.copytree(log, folder)
    for path in (folder / "_delta_log").iterdir():
        age = timedelta(weeks=NEWEST - int(path.stem))
        moment = (timezone.now() - age).timestamp()
        os.utime(path, (moment, moment))
    return folder


@pytest.fixture
def orders(folder: Path) -> Table:
    """The table as its index would have it in the database."""
    table = new_table(
        "orders",
        location=str(folder),
        version=NEWEST,
        latest_version_seen=NEWEST,
        num_files=28,
        num_tombstones=8,
        summary={"readable_runs": [[0, NEWEST, "READABLE", ""]]},
    )
    new_protocol(table)
    new_metadata(table)
    return table


@pytest.fixture
def editor(client: Client) -> Client:
    client.force_login(new_user("eve", role=User.Role.EDITOR))
    return client


def text_of(client: Client, path: str, **headers: str) -> str:
    response = client.get(path, headers=headers)
    assert response.status_code == 200, response.content[:500]
    page = unescape(response.content.decode())
    assert " style=" not in page
    return " ".join(page.split())


def json_of(client: Client, path: str) -> dict[str, Any]:
    response = client.get(f"{path}.json")
    assert response.status_code == 200, response.content[:500]
    return dict(response.json())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "_delta_log").iterdir())


class TestWhatACheckpointWouldHold:
    def test_is_told_before_it_is_asked_for(
        self, editor: Client, orders: Table, folder: Path
    ) -> None:
        page = text_of(editor, CHECKPOINT)

        assert 'A checkpoint of <b class="dw-num">version 8</b>' in page
        assert "9 commits" in page
        assert "None at or before version 8" in page
        assert f"{folder}/_delta_log" in page
        assert "as JSON" in page
        assert "Write the checkpoint" in page
        told = json_of(editor, CHECKPOINT)
        assert (told["version"], told["commits_since_checkpoint"]) == (8, 9)
        assert (told["num_files"], told["num_tombstones_at_most"]) == (
            orders.num_files,
            orders.num_tombstones,
        )
        assert told["about_bytes"] > 12_000
        assert (told["refusal"], told["job"], told["newest_checkpoint"]) == (None,) * 3

    @pytest.mark.usefixtures("orders")
    def test_names_the_newest_checkpoint_that_there_is(
        self, editor: Client, folder: Path
    ) -> None:
        DeltaTable(str(folder)).create_checkpoint(3, parts=2)

        told = json_of(editor, CHECKPOINT)

        assert told["newest_checkpoint"]["version"] == 3
        assert told["newest_checkpoint"]["parts"] == 2
        assert told["newest_checkpoint"]["size_bytes"] > 0
        assert told["commits_since_checkpoint"] == 5
        assert "2 parts" in text_of(editor, CHECKPOINT)

    @pytest.mark.usefixtures("orders")
    def test_of_a_version_that_has_one_says_so(
        self, editor: Client, folder: Path
    ) -> None:
        DeltaTable(str(folder)).create_checkpoint(5)

        page = text_of(editor, f"{CHECKPOINT}?v=5")

        assert "There is one already" in page
        assert "Write it anew" in page

    @pytest.mark.usefixtures("orders")
    def test_is_known_without_storage_too(self, editor: Client, folder: Path) -> None:
        shutil.rmtree(folder)

        told = json_of(editor, CHECKPOINT)

        assert str(folder) in told["storage_problem"]
        assert told["commits_since_checkpoint"] is None
        assert told["num_files"] > 0
        assert "Not known" in text_of(editor, CHECKPOINT)

    @pytest.mark.parametrize(
        ("configuration", "expected"),
        [
            ({"delta.checkpoint.writeStatsAsStruct": "true"}, "JSON and with types"),
            ({"delta.checkpoint.writeStatsAsJson": "false"}, "left out"),
        ],
    )
    def test_tells_how_statistics_are_written(
        self, editor: Client, configuration: dict[str, str], expected: str
    ) -> None:
        new_metadata(new_table("orders"), configuration=configuration)

        assert expected in text_of(editor, CHECKPOINT)

    @pytest.mark.parametrize(
        ("protocol", "configuration", "expected"),
        [
            pytest.param(
                {"min_writer_version": 7, "writer_features": ["checkpointProtection"]},
                {},
                "checkpointProtection",
                id="a feature",
            ),
            pytest.param({"min_writer_version": 9}, {}, "version 9", id="a version"),
            pytest.param(
                {},
                {"delta.deletedFileRetentionDuration": "soon"},
                "delta.deletedFileRetentionDuration",
                id="a property",
            ),
        ],
    )
    def test_that_is_refused_has_a_reason_and_no_button(
        self,
        editor: Client,
        protocol: dict[str, Any],
        configuration: dict[str, str],
        expected: str,
    ) -> None:
        table = new_table("orders")
        new_protocol(table, **protocol)
        new_metadata(table, configuration=configuration)

        page = text_of(editor, CHECKPOINT)

        assert "No checkpoint of version 2" in page
        assert expected in page
        assert "Write the checkpoint" not in page
        assert editor.post(CHECKPOINT).status_code == 409
        assert not Job.objects.exists()

    def test_of_a_version_that_the_log_has_lost_is_refused(
        self, editor: Client
    ) -> None:
        runs = [[0, 0, "GONE", "Cleaned."], [1, 2, "READABLE", ""]]
        new_metadata(new_table("orders", summary={"readable_runs": runs}))

        told = json_of(editor, f"{CHECKPOINT}")
        assert told["refusal"] is None
        response = editor.get(f"{CHECKPOINT}.json?v=0").json()
        assert "no longer reaches version 0" in response["refusal"]["message"]

    def test_of_a_table_without_an_index_is_not_known_yet(self, editor: Client) -> None:
        new_unindexed_table("orders")

        assert "has not been indexed yet" in text_of(editor, CHECKPOINT)
        assert json_of(editor, CHECKPOINT)["version"] is None
        assert editor.post(CHECKPOINT).status_code == 409


class TestAskingForACheckpoint:
    def test_queues_it_once_and_records_who_asked(
        self, editor: Client, orders: Table
    ) -> None:
        for _ in range(2):
            answer = editor.post(CHECKPOINT, {"v": "8", "parts": ""})
            assert (answer.status_code, answer["Location"]) == (302, CHECKPOINT)

        job = Job.objects.get(kind="tables.write_checkpoint")
        assert job.parameters == {
            "table_id": str(orders.id),
            "version": 8,
            "parts": None,
        }
        event = AuditEvent.objects.get(action="table.checkpoint")
        assert (event.actor, event.table_id) == ("eve", orders.id)
        assert event.detail == {"version": 8, "parts": None, "job": str(job.id)}
        waiting = text_of(editor, CHECKPOINT)
        assert "No worker has reported yet" in waiting
        assert "Write the checkpoint</button>" not in waiting

    @pytest.mark.usefixtures("orders")
    def test_shows_the_outcome_when_it_is_done(
        self, editor: Client, folder: Path
    ) -> None:
        editor.post(CHECKPOINT, {"v": "8"})
        job = Job.objects.get(kind="tables.write_checkpoint")

        tasks.write_checkpoint(job_id=str(job.id))

        page = text_of(editor, CHECKPOINT, **HTMX)
        assert "Version 8 has its checkpoint" in page
        assert checkpoint_name(8) in page
        assert "There is one already" in page
        assert "<html" not in page
        told = json_of(editor, CHECKPOINT)
        assert told["job"]["state"] == "DONE"
        assert told["job"]["result"]["files"] == [checkpoint_name(8)]
        assert checkpoint_name(8) in names(folder)

    @pytest.mark.usefixtures("orders")
    def test_of_an_older_version_in_parts(self, editor: Client, folder: Path) -> None:
        answer = editor.post(CHECKPOINT, {"v": "5", "parts": "3"})
        tasks.write_checkpoint(job_id=str(Job.objects.latest("created_at").id))

        assert answer["Location"] == f"{CHECKPOINT}?v=5"
        page = text_of(editor, f"{CHECKPOINT}?v=5")
        assert "Version 5 has its checkpoint" in page
        assert "in 3 parts" in page
        assert sum(".checkpoint." in name for name in names(folder)) == 3

    @pytest.mark.usefixtures("orders")
    @pytest.mark.parametrize("parts", ["0", "257", "many"])
    def test_in_a_count_of_parts_that_is_none_is_said_at_the_field(
        self, editor: Client, parts: str
    ) -> None:
        answer = editor.post(CHECKPOINT, {"v": "8", "parts": parts})

        assert answer.status_code == 422
        assert b"aria-invalid" in answer.content
        assert not Job.objects.exists()

    @pytest.mark.usefixtures("orders")
    def test_by_a_script_answers_with_the_job(self, editor: Client) -> None:
        answer = editor.post(f"{CHECKPOINT}.json", {"v": "8", "parts": "2"})

        assert answer.status_code == 202
        job = Job.objects.get(kind="tables.write_checkpoint")
        assert answer.json()["job"]["id"] == str(job.id)

    @pytest.mark.usefixtures("orders")
    def test_of_a_version_that_is_none_is_not_found(self, editor: Client) -> None:
        assert editor.post(CHECKPOINT, {"v": "99"}).status_code == 404

    @pytest.mark.usefixtures("orders")
    def test_that_fails_says_why_and_can_be_tried_again(
        self, editor: Client, folder: Path
    ) -> None:
        editor.post(CHECKPOINT, {"v": "8"})
        (folder / "_delta_log" / "00000000000000000004.json").write_text("{")

        tasks.write_checkpoint(job_id=str(Job.objects.latest("created_at").id))

        page = text_of(editor, CHECKPOINT)
        assert "The checkpoint was not written" in page
        assert "00000000000000000004.json" in page
        assert "Try again" in page
        assert ".checkpoint." not in "".join(names(folder))


class TestACleanUp:
    @pytest.fixture(autouse=True)
    def _with_checkpoints(self, folder: Path) -> None:
        DeltaTable(str(folder)).create_checkpoint(3)
        DeltaTable(str(folder)).create_checkpoint()

    def listed(self, editor: Client) -> Job:
        """The job that lists what would go, done."""
        assert editor.post(CLEANUP).status_code == 302
        job = Job.objects.filter(kind="tables.clean_up_log").latest("created_at")
        tasks.clean_up_log(job_id=str(job.id))
        job.refresh_from_db()
        return job

    @pytest.mark.usefixtures("orders")
    def test_says_by_what_it_goes(self, editor: Client) -> None:
        page = text_of(editor, CLEANUP)

        assert "<b>30 days</b>, the default" in page
        assert "List what would go" in page
        assert "for good" not in page
        told = json_of(editor, CLEANUP)
        assert (told["refusal"], told["job"]) == (None, None)
        assert told["cutoff"].endswith("T00:00:00Z")

    @pytest.mark.usefixtures("orders")
    def test_lists_first_and_deletes_nothing(
        self, editor: Client, folder: Path
    ) -> None:
        before = names(folder)

        job = self.listed(editor)

        assert names(folder) == before
        page = text_of(editor, CLEANUP)
        assert "What would go" in page
        assert "0 to 2 could not be read any more, for good" in page
        assert "Delete 3 files for good" in page
        assert before[0] in page
        assert isinstance(job.result, dict)
        assert job.result["files"][0]["name"] == before[0]
        assert not AuditEvent.objects.filter(action="table.cleanup").exists()

    def test_deletes_what_was_listed(
        self, editor: Client, orders: Table, folder: Path
    ) -> None:
        job, before = self.listed(editor), names(folder)

        answer = editor.post(CLEANUP, {"seen": str(job.id)})
        deletion = Job.objects.latest("created_at")
        tasks.clean_up_log(job_id=str(deletion.id))

        assert answer.status_code == 302
        assert names(folder) == before[3:]
        assert "What was deleted" in text_of(editor, CLEANUP)
        event = AuditEvent.objects.get(action="table.cleanup")
        assert event.detail["num_files"] == 3
        assert event.detail["checkpoint_version"] == 3
        index = Job.objects.get(kind="tables.index_log")  # marks what is gone
        assert (index.subject_id, index.state) == (orders.id, Job.State.QUEUED)

    @pytest.mark.usefixtures("orders")
    def test_of_what_was_listed_before_another_list_is_refused(
        self, editor: Client, folder: Path
    ) -> None:
        older = self.listed(editor)
        self.listed(editor)
        before = names(folder)

        answer = editor.post(CLEANUP, {"seen": str(older.id)}, follow=True)

        assert "is no longer what was shown" in unescape(answer.content.decode())
        newest = Job.objects.latest("created_at")
        assert (newest.state, newest.parameters["seen"]) == (Job.State.QUEUED, None)
        assert names(folder) == before
        refused = editor.post(f"{CLEANUP}.json", {"seen": str(older.id)})
        assert (refused.status_code, refused.json()["error"]) == (
            409,
            "cleanup-outdated",
        )

    @pytest.mark.usefixtures("orders")
    def test_that_would_take_more_than_was_listed_deletes_nothing(
        self, editor: Client, folder: Path
    ) -> None:
        job = self.listed(editor)
        DeltaTable(str(folder)).create_checkpoint(2)
        editor.post(CLEANUP, {"seen": str(job.id)})
        deletion, before = Job.objects.latest("created_at"), names(folder)

        tasks.clean_up_log(job_id=str(deletion.id))

        deletion.refresh_from_db()
        assert deletion.error_code == "cleanup-outdated"
        assert names(folder) == before
        shown_anew = Job.objects.latest("created_at")
        assert shown_anew.parameters["seen"] is None
        tasks.clean_up_log(job_id=str(shown_anew.id))
        page = text_of(editor, CLEANUP)
        assert "Nothing was deleted." in page
        assert "Delete 4 files for good" in page

    @pytest.mark.usefixtures("orders")
    def test_that_was_interrupted_is_finished_by_the_next_run(
        self, editor: Client, folder: Path
    ) -> None:
        job = self.listed(editor)
        editor.post(CLEANUP, {"seen": str(job.id)})
        deletion, before = Job.objects.latest("created_at"), names(folder)
        (folder / "_delta_log" / before[0]).unlink()

        tasks.clean_up_log(job_id=str(deletion.id))

        deletion.refresh_from_db()
        assert isinstance(deletion.result, dict)
        assert (deletion.state, deletion.result["num_files"]) == (Job.State.DONE, 2)
        assert names(folder) == before[3:]

    @pytest.mark.usefixtures("orders")
    def test_with_nothing_expired_says_so(self, editor: Client, folder: Path) -> None:
        (folder / "_delta_log" / checkpoint_name(3)).unlink()

        job = self.listed(editor)

        assert isinstance(job.result, dict)
        assert job.result["num_files"] == 0
        page = text_of(editor, CLEANUP)
        assert "Nothing can go" in page
        assert "for good" not in page

    @pytest.mark.usefixtures("orders")
    def test_that_is_cancelled_while_it_waits_deletes_nothing(
        self, editor: Client, folder: Path
    ) -> None:
        job, before = self.listed(editor), names(folder)
        editor.post(CLEANUP, {"seen": str(job.id)})
        deletion = cancel(Job.objects.latest("created_at"), now=timezone.now())

        tasks.clean_up_log(job_id=str(deletion.id))

        assert names(folder) == before
        assert "Cancelled" in text_of(editor, CLEANUP)

    @pytest.mark.parametrize(
        ("protocol", "configuration", "expected"),
        [
            pytest.param(
                {"min_writer_version": 7, "writer_features": ["inCommitTimestamp"]},
                {"delta.enableInCommitTimestamps": "true"},
                "inCommitTimestamp",
                id="times in the commits",
            ),
            pytest.param(
                {},
                {"delta.logRetentionDuration": "3 months"},
                "delta.logRetentionDuration",
                id="a retention without a length",
            ),
        ],
    )
    def test_that_is_refused_has_a_reason_and_no_button(
        self,
        editor: Client,
        protocol: dict[str, Any],
        configuration: dict[str, str],
        expected: str,
    ) -> None:
        table = new_table("orders")
        new_protocol(table, **protocol)
        new_metadata(table, configuration=configuration)

        page = text_of(editor, CLEANUP)

        assert "The log is not cleaned up" in page
        assert expected in page
        assert "List what would go" not in page
        assert editor.post(CLEANUP).status_code == 409


class TestWhoMay:
    @pytest.mark.parametrize("path", [CHECKPOINT, CLEANUP])
    @pytest.mark.parametrize("form", ["", ".json"])
    @pytest.mark.usefixtures("orders")
    def test_viewers_neither_see_nor_ask(
        self, client: Client, path: str, form: str
    ) -> None:
        client.force_login(new_user("vera"))

        assert client.get(f"{path}{form}").status_code == 403
        assert client.post(f"{path}{form}", {"v": "8"}).status_code == 403
        assert not Job.objects.exists()
        assert path not in text_of(client, "/t/default/orders/")

    @pytest.mark.parametrize("path", [CHECKPOINT, CLEANUP])
    @pytest.mark.usefixtures("orders")
    def test_editors_find_both_in_the_menu(self, editor: Client, path: str) -> None:
        assert f'href="{path}"' in text_of(editor, "/t/default/orders/")

    @pytest.mark.usefixtures("orders")
    def test_nobody_who_was_an_editor_runs_a_job_again(
        self, editor: Client, folder: Path
    ) -> None:
        editor.post(CHECKPOINT, {"v": "8"})
        job = cancel(Job.objects.get(), now=timezone.now())
        User.objects.update(role=User.Role.VIEWER)

        assert editor.post(f"/jobs/{job.id}/retry").status_code == 403
        assert "Retry" not in text_of(editor, f"/jobs/{job.id}/")
        User.objects.update(role=User.Role.EDITOR)
        assert "Retry" in text_of(editor, f"/jobs/{job.id}/")
        assert editor.post(f"/jobs/{job.id}/retry").status_code == 302
        event = AuditEvent.objects.get(action="job.retry")
        assert (event.actor, event.detail["job"]) == ("eve", str(job.id))
        tasks.write_checkpoint(job_id=str(Job.objects.latest("created_at").id))
        assert checkpoint_name(8) in names(folder)

    @pytest.mark.parametrize("path", [CHECKPOINT, CLEANUP])
    def test_a_table_that_is_none_is_not_found(self, editor: Client, path: str) -> None:
        assert editor.get(path).status_code == 404

    def test_a_location_that_is_no_longer_allowed_is_not_written_to(
        self, editor: Client, orders: Table, folder: Path, settings: "Settings"
    ) -> None:
        editor.post(CHECKPOINT, {"v": "8"})
        settings.ALLOWED_ROOTS = ["/elsewhere"]
        before = names(folder)

        job = Job.objects.get(kind="tables.write_checkpoint", subject_id=orders.id)
        tasks.write_checkpoint(job_id=str(job.id))

        job.refresh_from_db()
        assert (job.state, job.error_code) == (
            Job.State.FAILED,
            "location-not-allowed",
        )
        assert names(folder) == before
