"""What a log has lost stays in the database; what contradicts the log does not."""

import shutil
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.tables.index import folders as index_folders
from apps.tables.index import stored_history
from apps.tables.index.folders import indexes_folder, new_index_folder
from apps.tables.index.history import open_history
from apps.tables.index.results import store_index
from apps.tables.index.stored_history import load_ahead
from apps.tables.models import Commit, Table
from deltaweb.delta.log.paths import commit_name
from deltaweb.index.folder.file_index import METADATA, METADATA_SCHEMA
from deltaweb.index.folder.parts import write_parts
from deltaweb.index.folder.result import IndexResult
from tests.support.index.index_builds import build_index
from tests.support.index.indexed_tables import index_table, new_indexed_table
from tests.support.logs.dated_log import DatedLog
from tests.support.logs.delta_logs import metadata
from tests.support.pages.factories import NOW, new_unindexed_table

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.database,
    pytest.mark.usefixtures("home"),
    pytest.mark.slow,
]


@pytest.fixture
def log(tmp_path: Path) -> DatedLog:
    """Ten versions."""
    return DatedLog(tmp_path / "lake").write(0, 9)


@pytest.fixture
def table(log: DatedLog) -> Table:
    return new_indexed_table("orders", Path(log.location))


def versions(table: Table, **fields: object) -> list[int]:
    found = table.commits.filter(**fields).order_by("version")
    return list(found.values_list("version", flat=True))


def forget_index(table: Table) -> None:
    """Lose the folder of a table's index, as a new machine has none."""
    shutil.rmtree(indexes_folder() / str(table.id))


def build(table: Table, mark: str = "a") -> IndexResult:
    folder = new_index_folder(table.id, now=NOW, mark=mark)
    return build_index(table.location, None, folder)


class TestACleanedLog:
    @pytest.mark.parametrize("has_index", [True, False])
    def test_keeps_its_commits_in_the_database(self, log, table, *, has_index):
        log.clean_up(6).write(10, 11)
        if not has_index:
            forget_index(table)

        index_table(table)

        assert versions(table) == [*range(12)]
        assert versions(table, is_archived=True) == [*range(6)]
        assert versions(table, readability="GONE") == [*range(6)]
        old = table.commits.get(version=3)
        assert (old.user_name, old.parameters["batch"]) == ("etl", "3")
        assert old.readability_reason

    @pytest.mark.parametrize("has_index", [True, False])
    def test_keeps_them_when_the_newest_is_gone_from_the_log_as_well(
        self, log: DatedLog, table: Table, *, has_index: bool
    ) -> None:
        log.write(10, 14).clean_up(13)
        if not has_index:
            forget_index(table)

        index_table(table)

        assert versions(table, is_archived=True) == [*range(10)]
        assert versions(table, is_archived=False) == [13, 14]
        assert table.version == 14

    def test_keeps_them_when_it_holds_no_commit_at_all(self, log, table):
        log.clean_up(9)
        (log.log / commit_name(9)).unlink()

        index_table(table)

        assert versions(table, is_archived=True) == [*range(10)]

    def test_keeps_them_when_the_form_of_the_index_changes(
        self, log: DatedLog, table: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        index_table(table)
        log.clean_up(6).write(10, 10)
        index_table(table)
        table.commits.filter(version=8).update(sentence="In older words.")
        monkeypatch.setattr(index_folders, "INDEX_FORMAT", "next")

        index_table(table)

        assert versions(table) == [*range(11)]
        assert versions(table, is_archived=True) == [*range(6)]
        assert table.commits.get(version=8).sentence != "In older words."

    def test_keeps_them_when_the_table_was_replaced_in_place(self, log, table):
        log.clean_up(6)
        index_table(table)
        log.commit(10, metadata("other"))
        log.write(11, 12)
        forget_index(table)

        index_table(table)

        assert table.delta_id == "other"
        assert versions(table) == [*range(13)]

    def test_says_once_what_its_checkpoint_says_again(self, log, table):
        log.write(10, 14).clean_up(13)
        forget_index(table)

        index_table(table)

        assert [row.version for row in table.metadata_versions.all()] == [0]
        assert [row.version for row in table.protocol_versions.all()] == [0]

    def test_is_as_it_was_when_older_commits_are_put_back(self, log, table, tmp_path):
        backup = shutil.copytree(log.log, tmp_path / "backup")
        log.clean_up(6)
        index_table(table)
        shutil.copytree(backup, log.log, dirs_exist_ok=True)
        forget_index(table)

        index_table(table)

        assert versions(table, is_archived=True) == []
        assert versions(table, readability="READABLE") == [*range(10)]

    def test_marks_them_without_looking_at_each(
        self,
        log: DatedLog,
        table: Table,
        django_assert_max_num_queries: DjangoAssertNumQueries,
    ) -> None:
        log.clean_up(6)

        with django_assert_max_num_queries(34):
            index_table(table)


class TestAnotherLog:
    @pytest.mark.parametrize("has_index", [True, False])
    @pytest.mark.parametrize("last", [4, 9, 14], ids=["fewer", "as many", "more"])
    def test_of_a_table_made_anew_replaces_every_row(
        self, log: DatedLog, table: Table, *, last: int, has_index: bool
    ) -> None:
        log.clean_up(6)
        index_table(table)
        if not has_index:
            forget_index(table)
        shutil.rmtree(log.folder)
        DatedLog(log.folder, table_id="anew", writer="eve").write(0, last)

        index_table(table)

        assert table.version == last
        assert versions(table, user_name="eve") == [*range(last + 1)]
        assert versions(table, is_archived=True) == []
        assert table.commits.count() == last + 1
        ids = table.metadata_versions.values_list("version", "metadata_id")
        assert list(ids) == [(0, "anew")]

    @pytest.mark.parametrize("has_index", [True, False])
    def test_put_back_from_a_backup_ends_where_it_ends(
        self, log: DatedLog, table: Table, tmp_path: Path, *, has_index: bool
    ) -> None:
        backup = shutil.copytree(log.log, tmp_path / "backup")
        log.write(10, 12)
        index_table(table)
        if not has_index:
            forget_index(table)
        shutil.rmtree(log.log)
        shutil.copytree(backup, log.log)

        index_table(table)

        assert (table.version, versions(table)) == (9, [*range(10)])

    def test_put_back_from_a_backup_keeps_what_that_has_lost(
        self, log: DatedLog, table: Table, tmp_path: Path
    ) -> None:
        log.clean_up(6)
        backup = shutil.copytree(log.log, tmp_path / "backup")
        log.write(10, 12)
        index_table(table)
        shutil.rmtree(log.log)
        shutil.copytree(backup, log.log)

        index_table(table)

        assert (table.version, versions(table)) == (9, [*range(10)])
        assert versions(table, is_archived=True) == [*range(6)]

    def test_of_other_commits_under_the_same_id_replaces_them(self, log, table):
        shutil.rmtree(log.folder)
        DatedLog(log.folder, writer="eve").write(0, 9)

        index_table(table)

        assert versions(table, user_name="eve") == [*range(10)]

    def test_has_its_own_columns_and_metadata(self, log: DatedLog, table: Table):
        log.commit(10, metadata(schemaString='{"type": "struct", "fields": []}'))
        index_table(table)
        assert table.columns.count() == 0
        (log.log / commit_name(10)).unlink()

        index_table(table)

        assert list(table.columns.values_list("path", flat=True)) == ["id", "p"]
        assert [row.version for row in table.metadata_versions.all()] == [0]


class TestABrokenCommit:
    def test_hides_nothing_that_is_stored(self, log: DatedLog) -> None:
        log.commit(8, metadata("other"))
        table = new_indexed_table("orders", Path(log.location))
        (log.log / commit_name(6)).write_bytes(b"{torn")
        forget_index(table)

        index_table(table)

        assert (table.version, table.delta_id) == (9, "other")
        assert table.error_code
        assert versions(table) == [*range(10)]

    def test_is_read_again_once_it_is_repaired(self, log: DatedLog) -> None:
        path = log.log / commit_name(4)
        good = path.read_bytes()
        path.write_bytes(b"{torn")
        log.checkpoint(8, *log.definition())
        table = new_indexed_table("orders", Path(log.location))
        assert table.commits.get(version=4).operation == ""
        path.write_bytes(good)
        forget_index(table)

        index_table(table)

        assert table.commits.get(version=4).operation == "WRITE"
        assert versions(table, readability="READABLE") == [*range(10)]
        assert table.commits.count() == 10


class TestAnIndexThatCannotBeStored:
    def test_changes_nothing(self, log: DatedLog, table: Table) -> None:
        before = Table.objects.values().get()
        log.clean_up(6).write(10, 11).commit(12, metadata(description="New"))
        result = build(table)
        folder = Path(result.folder)
        rows = open_history(folder, result).metadata.to_pylist()
        rows[-1]["configuration"] = "{torn"
        batch = pa.RecordBatch.from_pylist(rows, METADATA_SCHEMA)
        write_parts(folder, METADATA, METADATA_SCHEMA, [batch])

        with pytest.raises(ValueError, match="property name"):
            store_index(table, result, now=NOW)

        assert Table.objects.values().get() == before
        assert versions(table, is_archived=False) == [*range(10)]


class TestLoadAhead:
    @pytest.fixture(autouse=True)
    def small_transactions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(stored_history, "ROWS_A_TRANSACTION", 3)

    def test_ends_as_one_transaction_would(self, log: DatedLog) -> None:
        table = new_unindexed_table(location=log.location)

        store_index(table, build(table), now=NOW)

        assert versions(table) == [*range(10)]
        assert [row.version for row in table.metadata_versions.all()] == [0]
        assert table.columns.count() == 2

    def test_leaves_the_last_rows_to_what_shows_them(self, log: DatedLog) -> None:
        table = new_unindexed_table(location=log.location)
        result = build(table)

        load_ahead(table, open_history(Path(result.folder), result))

        assert versions(table) == [*range(9)]
        table.refresh_from_db()
        assert (table.state, table.version) == (Table.State.NEW, None)

    def test_is_gone_on_from_when_its_worker_was_killed(self, log: DatedLog) -> None:
        table = new_unindexed_table(location=log.location)
        result = build(table)
        load_ahead(table, open_history(Path(result.folder), result))
        ids = dict(table.commits.values_list("version", "id"))
        log.write(10, 11)

        store_index(table, build(table, "b"), now=NOW)

        stored = dict(table.commits.values_list("version", "id"))
        assert sorted(stored) == [*range(12)]
        assert ids.items() <= stored.items()
        assert table.metadata_versions.count() == 1

    def test_tells_what_became_of_the_log_since_its_worker_was_killed(self, log):
        table = new_unindexed_table(location=log.location)
        result = build(table)
        load_ahead(table, open_history(Path(result.folder), result))
        assert versions(table, readability="READABLE") == [*range(9)]
        log.clean_up(5)

        store_index(table, build(table, "b"), now=NOW)

        assert versions(table, readability="GONE") == [*range(5)]
        assert versions(table, is_archived=True) == [*range(5)]
        assert versions(table, readability="READABLE") == [*range(5, 10)]

    def test_is_replaced_when_the_log_is_another_by_then(self, log: DatedLog) -> None:
        table = new_unindexed_table(location=log.location)
        result = build(table)
        load_ahead(table, open_history(Path(result.folder), result))
        shutil.rmtree(log.folder)
        DatedLog(log.folder, table_id="anew", writer="eve").write(0, 7)

        store_index(table, build(table, "b"), now=NOW)

        assert versions(table, user_name="eve") == [*range(8)]
        assert Commit.objects.count() == 8

    def test_leaves_a_table_that_pages_show(self, log: DatedLog, table: Table) -> None:
        log.write(10, 19)
        result = build(table, "b")

        load_ahead(table, open_history(Path(result.folder), result))

        assert versions(table) == [*range(10)]


class TestAnOlderIndex:
    def test_never_takes_the_place_of_a_newer_one(self, log: DatedLog, table: Table):
        began = table.indexed_at - timedelta(minutes=1) if table.indexed_at else NOW
        folder = new_index_folder(table.id, now=began, mark="late")
        late = build_index(table.location, None, folder)
        log.write(10, 11)
        index_table(table)
        name = table.index_name

        store_index(table, late, now=NOW + timedelta(days=36500))

        table.refresh_from_db()
        assert (table.version, table.index_name) == (11, name)
        assert versions(table) == [*range(12)]
        assert not folder.exists()

    def test_of_a_log_that_goes_on_is_stored_whatever_the_clock_said(self, log, table):
        log.write(10, 11)
        folder = new_index_folder(table.id, now=NOW - timedelta(days=9), mark="slow")
        result = build_index(table.location, None, folder)

        store_index(table, result, now=NOW + timedelta(days=36500))

        assert (table.version, table.index_name) == (11, folder.name)
