"""The database follows an index as a whole, and keeps what the log has lost."""

import json
import shutil
import uuid
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from apps.tables.index.folders import new_index_folder
from apps.tables.index.results import store_failure, store_index, store_result
from apps.tables.models import Commit, StoredFinding, Table
from deltaweb.index.folder.result import IndexResult
from tests.support import cases
from tests.support.index.index_builds import build_index
from tests.support.index.index_folders import open_index
from tests.support.pages.factories import NOW, new_unindexed_table

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.database,
    pytest.mark.usefixtures("home"),
    pytest.mark.slow,
]


def register(location: Path) -> Table:
    return new_unindexed_table(location.name, location=str(location))


def build(table: Table, mark: str = "a", now: datetime = NOW) -> IndexResult:
    folder = new_index_folder(table.id, now=now, mark=mark)
    return build_index(table.location, None, folder)


def add_commit(table: Table, version: int, *actions: dict[str, object]) -> None:
    text = "".join(json.dumps(action) + "\n" for action in actions)
    path = Path(table.location, "_delta_log", f"{version:020d}.json")
    path.write_text(text)


def write_info(operation: str) -> dict[str, object]:
    return {"commitInfo": {"operation": operation, "timestamp": 5}}


class TestStoreIndex:
    def test_fills_every_table_that_pages_read(self, lake: Path) -> None:
        table = register(lake / "customers")

        store_index(table, build(table), now=NOW)

        assert table.state == Table.State.INDEXED
        assert (table.version, table.num_records) == (59, 3438)
        assert table.committed_at is not None
        assert table.committed_at < NOW
        assert (table.indexed_at, table.latest_version_seen) == (NOW, 59)
        assert table.comment.startswith("Customers")
        assert table.commits.count() == 60
        assert [m.version for m in table.metadata_versions.all()] == [39, 26, 20, 10, 0]
        assert [p.min_writer_version for p in table.protocol_versions.all()] == [3, 2]
        assert [column.path for column in table.columns.all()][-1] == "last_seen_at"
        newest = table.commits.get(version=59)
        assert newest.operation == "UPDATE"
        assert newest.metrics["numUpdatedRows"].isdigit()
        assert newest.sentence.startswith("Updated")

    @cases(
        "interval_s, seconds",
        {"the installation's": (None, 60), "its own": (86_400, 86_400)},
    )
    def test_is_due_again_as_its_schedule_says(
        self, settings: Settings, lake: Path, interval_s: int | None, seconds: int
    ) -> None:
        settings.PROBE_INTERVAL_S = 60
        table = register(lake / "returns")
        Table.objects.update(refresh_interval_s=interval_s, probe_failures=3)

        store_index(table, build(table), now=NOW)

        assert table.probe_due_at == NOW + timedelta(seconds=seconds)

    def test_names_the_folder_that_pages_open(self, lake: Path, home: Path) -> None:
        table = register(lake / "orders")

        store_index(table, build(table), now=NOW)

        folder = home / "index" / str(table.id) / table.index_name
        assert open_index(folder).files.num_rows == table.num_files

    def test_lists_nested_columns_by_their_path(self, lake: Path) -> None:
        table = register(lake / "device_readings")

        store_index(table, build(table), now=NOW)

        paths = dict(table.columns.values_list("path", "type_text"))
        assert paths["device.firmware.version"] == "string"
        assert paths["tags"] == "map<string, string>"

    def test_adds_new_commits_and_leaves_stored_ones(self, lake: Path, tmp_path: Path):
        table = register(Path(shutil.copytree(lake / "orders", tmp_path / "orders")))
        store_index(table, build(table), now=NOW)
        rows = dict(table.commits.values_list("version", "id"))
        add_commit(table, 22, write_info("CLUSTER BY"))

        store_index(table, build(table, "b"), now=NOW)

        stored = dict(table.commits.values_list("version", "id"))
        assert table.version == 22
        assert stored.pop(22)
        assert stored == rows

    def test_replaces_the_commits_of_another_log(self, lake: Path, tmp_path: Path):
        location = tmp_path / "table"
        shutil.copytree(lake / "customers", location)
        table = register(location)
        store_index(table, build(table), now=NOW)
        shutil.rmtree(location)
        shutil.copytree(lake / "device_readings", location)

        store_index(table, build(table, "b"), now=NOW)

        assert table.version == 6
        assert table.commits.count() == 7
        assert set(table.commits.values_list("user_name", flat=True)) == {
            "schema-deploy",
            "sensor-gateway",
        }

    def test_keeps_the_history_that_a_cleaned_log_has_lost(self, lake, tmp_path):
        location = Path(shutil.copytree(lake / "customers", tmp_path / "customers"))
        table = register(location)
        store_index(table, build(table), now=NOW)
        for version in range(50):
            (location / "_delta_log" / f"{version:020d}.json").unlink()
        add_commit(table, 60, write_info("WRITE"))

        store_index(table, build(table, "b"), now=NOW)

        assert table.commits.count() == 61
        old = table.commits.get(version=3)
        assert old.readability == Commit.Readability.GONE
        assert old.operation == "WRITE"
        assert table.commits.get(version=55).readability == "READABLE"

    def test_removes_the_folders_of_older_indexes(self, lake: Path, home: Path) -> None:
        table = register(lake / "returns")
        earlier = NOW - timedelta(seconds=1)
        store_index(table, build(table, "a", earlier), now=earlier)
        store_index(table, build(table, "b"), now=NOW)

        folders = list((home / "index" / str(table.id)).iterdir())

        assert [folder.name for folder in folders] == [table.index_name]
        assert table.index_name.endswith("-b")

    def test_passes_over_a_table_that_was_removed_meanwhile(self, lake, home):
        table = register(lake / "returns")
        result = build(table)
        table_id = table.id
        Table.objects.filter(id=table_id).delete()

        store_index(table, result, now=NOW)

        assert not (home / "index" / str(table_id)).exists()

    def test_changes_nothing_when_the_index_is_not_whole(self, lake: Path) -> None:
        table = register(lake / "returns")
        store_index(table, build(table, "a"), now=NOW)
        before = Table.objects.values().get(id=table.id)
        result = build(table, "b")
        (Path(result.folder) / "commits.arrow").write_bytes(b"torn")

        with pytest.raises(Exception, match=r"commits\.arrow"):
            store_index(table, result, now=NOW + timedelta(hours=1))

        assert Table.objects.values().get(id=table.id) == before
        assert table.commits.count() == 1

    def test_forgets_an_earlier_failure(self, lake: Path) -> None:
        table = register(lake / "returns")
        store_failure(table.id, code="log-gap", message="m", hint="h", now=NOW)

        store_index(table, build(table), now=NOW)

        assert (table.error_code, table.error, table.error_since) == ("", "", None)
        assert table.probe_failures == 0

    def test_asks_the_database_little(self, lake, django_assert_max_num_queries):
        table = register(lake / "customers")
        result = build(table)

        with django_assert_max_num_queries(42):
            store_index(table, result, now=NOW)


class TestStoreFailure:
    def test_keeps_what_was_indexed_before(self, lake: Path) -> None:
        table = register(lake / "returns")
        store_index(table, build(table), now=NOW)
        failed = IndexResult(
            state="FAILED", error_code="log-gap", error="A gap.", error_hint="Repair."
        )

        store_result(table, failed, now=NOW)

        table.refresh_from_db()
        assert (table.state, table.version) == (Table.State.INDEXED, 0)
        assert (table.error_code, table.error) == ("log-gap", "A gap.")
        assert table.error_since == NOW

    def test_shows_what_reads_of_a_broken_log_beside_the_fault(self, lake, tmp_path):
        table = register(Path(shutil.copytree(lake / "orders", tmp_path / "orders")))
        Path(table.location, "_delta_log", f"{20:020d}.json").unlink()

        store_result(table, build(table), now=NOW)

        table.refresh_from_db()
        assert (table.state, table.version) == (Table.State.INDEXED, 19)
        assert table.error_code == "log-gap"
        assert table.commits.count() == 20

    def test_never_puts_an_older_version_in_place_of_a_newer_one(
        self, lake: Path, tmp_path: Path, home: Path
    ) -> None:
        table = register(Path(shutil.copytree(lake / "orders", tmp_path / "orders")))
        store_index(table, build(table), now=NOW)
        Path(table.location, "_delta_log", f"{20:020d}.json").unlink()

        store_result(table, build(table, "b"), now=NOW)

        table.refresh_from_db()
        assert (table.version, table.error_code) == (21, "log-gap")
        assert table.commits.count() == 22
        folders = list((home / "index" / str(table.id)).iterdir())
        assert [folder.name for folder in folders] == [table.index_name]

    def test_marks_a_table_that_was_never_indexed(self) -> None:
        table = new_unindexed_table()

        store_failure(table.id, code="log-gap", message="m", hint="h", now=NOW)

        table.refresh_from_db()
        assert table.state == Table.State.FAILED

    def test_keeps_since_when_it_fails_and_rests_longer(self) -> None:
        table = new_unindexed_table(refresh_interval_s=600)
        later = NOW + timedelta(hours=1)

        store_failure(table.id, code="a", message="m", hint="h", now=NOW)
        store_failure(table.id, code="b", message="m", hint="h", now=later)

        table.refresh_from_db()
        assert (table.error_code, table.error_since) == ("b", NOW)
        assert table.probe_due_at == later + timedelta(minutes=40)

    def test_is_followed_once_by_what_follows_an_index(self, lake: Path) -> None:
        table = register(lake / "returns")
        store_index(table, build(table), now=NOW)
        said: dict[str, Any] = {
            "code": "log-gap",
            "message": "m",
            "hint": "h",
            "now": NOW,
        }

        store_failure(table.id, fault="commit 1 is missing", **said)

        (found,) = StoredFinding.objects.filter(table=table)
        assert found.sentence == (
            "Readers fail, or get version 0 at most: commit 1 is missing."
        )
        found.delete()
        store_failure(table.id, fault="commit 1 is missing", **said)
        assert not StoredFinding.objects.filter(table=table).exists()

    def test_passes_over_a_removed_table(self) -> None:
        store_failure(uuid.uuid4(), code="a", message="m", hint="h", now=NOW)

        assert not Table.objects.exists()
