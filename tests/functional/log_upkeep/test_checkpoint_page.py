"""The page of a checkpoint: what it would hold, then the job that writes it."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.table import DeltaTable
from deltaweb.web.audit.models import AuditEvent
from deltaweb.web.jobs.models import Job
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.work import checkpoint
from tests.support.pages.factories import (
    new_metadata,
    new_protocol,
    new_table,
    new_unindexed_table,
)
from tests.support.pages.shown_words import words
from tests.support.tables.weekly_table import (
    log_names,
    page_json,
    page_text,
)

pytestmark = pytest.mark.django_db
CHECKPOINT = "/t/default/orders/checkpoint"
HTMX = {"HX-Request": "true"}


class TestWhatACheckpointWouldHold:
    def test_is_told_before_it_is_asked_for(
        self, editor: Client, orders: Table, folder: Path
    ) -> None:
        page = page_text(editor, CHECKPOINT)

        assert "A checkpoint of version 8" in words(page)
        assert "9 commits" in page
        assert "None at or before version 8" in page
        assert f"{folder}/_delta_log" in page
        assert "as JSON" in page
        assert "Write the checkpoint" in page
        told = page_json(editor, CHECKPOINT)
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

        told = page_json(editor, CHECKPOINT)

        assert told["newest_checkpoint"]["version"] == 3
        assert told["newest_checkpoint"]["parts"] == 2
        assert told["newest_checkpoint"]["size_bytes"] > 0
        assert told["commits_since_checkpoint"] == 5
        assert "2 parts" in page_text(editor, CHECKPOINT)

    @pytest.mark.usefixtures("orders")
    def test_of_a_version_that_has_one_says_so(
        self, editor: Client, folder: Path
    ) -> None:
        DeltaTable(str(folder)).create_checkpoint(5)

        page = page_text(editor, f"{CHECKPOINT}?v=5")

        assert "There is one already" in page
        assert "Write it anew" in page

    @pytest.mark.usefixtures("orders")
    def test_is_known_without_storage_too(self, editor: Client, folder: Path) -> None:
        shutil.rmtree(folder)

        told = page_json(editor, CHECKPOINT)

        assert str(folder) in told["storage_problem"]
        assert told["commits_since_checkpoint"] is None
        assert told["num_files"] > 0
        assert "Not known" in page_text(editor, CHECKPOINT)

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

        assert expected in page_text(editor, CHECKPOINT)

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

        page = page_text(editor, CHECKPOINT)

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

        told = page_json(editor, f"{CHECKPOINT}")
        assert told["refusal"] is None
        response = editor.get(f"{CHECKPOINT}.json?v=0").json()
        assert "no longer reaches version 0" in response["refusal"]["message"]

    def test_of_a_table_without_an_index_is_not_known_yet(self, editor: Client) -> None:
        new_unindexed_table("orders")

        assert "has not been indexed yet" in page_text(editor, CHECKPOINT)
        assert page_json(editor, CHECKPOINT)["version"] is None
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
        waiting = page_text(editor, CHECKPOINT)
        assert "No worker has reported yet" in waiting
        assert "Write the checkpoint</button>" not in waiting

    @pytest.mark.usefixtures("orders")
    def test_shows_the_outcome_when_it_is_done(
        self, editor: Client, folder: Path
    ) -> None:
        editor.post(CHECKPOINT, {"v": "8"})
        job = Job.objects.get(kind="tables.write_checkpoint")

        checkpoint.CHECKPOINT.work(job.id)

        page = page_text(editor, CHECKPOINT, **HTMX)
        assert "Version 8 has its checkpoint" in page
        assert checkpoint_name(8) in page
        assert "There is one already" in page
        assert "<html" not in page
        told = page_json(editor, CHECKPOINT)
        assert told["job"]["state"] == "DONE"
        assert told["job"]["result"]["files"] == [checkpoint_name(8)]
        assert checkpoint_name(8) in log_names(folder)

    @pytest.mark.usefixtures("orders")
    def test_of_an_older_version_in_parts(self, editor: Client, folder: Path) -> None:
        answer = editor.post(CHECKPOINT, {"v": "5", "parts": "3"})
        checkpoint.CHECKPOINT.work(Job.objects.latest("created_at").id)

        assert answer["Location"] == f"{CHECKPOINT}?v=5"
        page = page_text(editor, f"{CHECKPOINT}?v=5")
        assert "Version 5 has its checkpoint" in page
        assert "in 3 parts" in page
        assert sum(".checkpoint." in name for name in log_names(folder)) == 3

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

        checkpoint.CHECKPOINT.work(Job.objects.latest("created_at").id)

        page = page_text(editor, CHECKPOINT)
        assert "The checkpoint was not written" in page
        assert "00000000000000000004.json" in page
        assert "Try again" in page
        assert ".checkpoint." not in "".join(log_names(folder))
