"""`deltaweb table checkpoint` and `table cleanup`, as scripts use them."""

import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.pages.actions import person_at_terminal
from deltaweb.table import DeltaTable
from tests.benchmarks.logs import write_json_log
from tests.functional.table_command.commands import run, run_json
from tests.support.pages.factories import new_table

COMMITS = 9


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table with one commit a week, the last of them today."""
    folder = write_json_log(tmp_path / "table", commits=COMMITS, adds=4, removes=1)
    for path in (folder / "_delta_log").iterdir():
        age = timedelta(weeks=COMMITS - 1 - int(path.stem))
        moment = (timezone.now() - age).timestamp()
        os.utime(path, (moment, moment))
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "_delta_log").iterdir())


class TestCheckpoint:
    def test_of_the_newest_version_is_told_of(self, folder: Path) -> None:
        answer = run_json("checkpoint", folder)

        assert answer["location"] == str(folder)
        assert answer["version"] == COMMITS - 1
        assert answer["files"] == ["00000000000000000008.checkpoint.parquet"]
        assert answer["is_last"] is True
        assert answer["num_files"] == DeltaTable(str(folder)).snapshot().num_files
        path = folder / "_delta_log" / answer["files"][0]
        assert answer["size_bytes"] == path.stat().st_size

    def test_of_an_older_version_in_parts(self, folder: Path) -> None:
        text = run("checkpoint", folder, "--version", 5, "--parts", 2)

        assert text.startswith("Wrote the checkpoint of version 5: ")
        checkpoint = DeltaTable(str(folder)).snapshot(6).state.checkpoint
        assert checkpoint is not None
        assert checkpoint.version == 5
        assert text.count(".checkpoint.") == 2

    @pytest.mark.django_db
    def test_of_a_registered_table_goes_by_name(self, folder: Path) -> None:
        table = new_table("sales.orders", location=str(folder))

        assert run_json("checkpoint", "sales.orders")["name"] == "sales.orders"
        event = AuditEvent.objects.get(action="table.checkpoint")
        assert (event.actor, event.table_id) == (person_at_terminal().name, table.id)
        assert event.detail == {"version": COMMITS - 1, "parts": None}

    @pytest.mark.parametrize("option", [("--parts", "0"), ("--parts", "x")])
    def test_a_count_that_is_none_is_bad_usage(self, folder, option):
        with pytest.raises((CommandError, SystemExit)) as caught:
            run("checkpoint", folder, *option)

        assert getattr(caught.value, "returncode", None) != 0

    def test_a_version_that_is_not_there_is_one_sentence(self, folder: Path) -> None:
        with pytest.raises(CommandError, match="no version 99") as caught:
            run("checkpoint", folder, "--version", 99)

        assert caught.value.returncode == 1


@pytest.mark.django_db
class TestCleanup:
    @pytest.fixture(autouse=True)
    def _with_checkpoints(self, folder: Path) -> None:
        run("checkpoint", folder, "--version", 3)
        run("checkpoint", folder)

    def test_lists_what_would_go(self, folder: Path) -> None:
        before = names(folder)

        answer = run_json("cleanup", folder, "--dry-run")

        assert answer["deleted"] is False
        assert answer["checkpoint_version"] == 3
        assert [file["name"] for file in answer["files"]] == before[:3]
        assert answer["size_bytes"] == sum(file["size"] for file in answer["files"])
        assert names(folder) == before
        text = run("cleanup", folder, "--dry-run")
        assert text.startswith("Would delete 3 files")
        assert before[0] in text

    def test_deletes_what_is_listed_and_no_file_of_the_table(self, folder: Path):
        before = DeltaTable(str(folder)).snapshot().files["path"].to_pylist()

        answer = run_json("cleanup", folder, "--yes")

        assert answer["deleted"] is True
        found = DeltaTable(str(folder)).snapshot().files["path"].to_pylist()
        assert sorted(found) == sorted(before)
        assert run("cleanup", folder).startswith("Nothing of the log")

    @pytest.mark.django_db
    def test_of_a_registered_table_is_recorded_and_its_history_looked_at(self, folder):
        table = new_table("sales.orders", location=str(folder))

        run("cleanup", "sales.orders", "--dry-run")
        assert not AuditEvent.objects.exists()
        run("cleanup", "sales.orders", "--yes")

        event = AuditEvent.objects.get(action="table.cleanup")
        assert (event.table_id, event.detail["num_files"]) == (table.id, 3)
        assert Job.objects.get().kind == "tables.index_log"

    def test_a_folder_without_a_log_is_one_sentence(self, folder: Path) -> None:
        shutil.rmtree(folder / "_delta_log")

        with pytest.raises(CommandError, match="not a Delta table"):
            run("cleanup", folder, "--yes")
