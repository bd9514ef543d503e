"""Versions that come back, and files that go."""

from datetime import UTC, datetime, timedelta

import pytest

from deltaweb.delta.errors import VersionNotFoundError
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.errors import (
    AppendOnlyError,
    RestoreFilesMissingError,
    RetentionTooShortError,
    UnsupportedWriteError,
)
from deltaweb.delta.writing.transaction import EVERYTHING_READ
from deltaweb.table import DeltaTable
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.written_tables import (
    AT_ONCE,
    added,
    create,
    live,
    live_paths,
    on_newest,
)

pytestmark = pytest.mark.slow

REMOVED_AT = datetime.fromtimestamp(1_700_000_000, UTC)
LATER = REMOVED_AT + timedelta(days=8)


def append(store: MemoryTableStore, path: str) -> None:
    store.put_data_file(path, b"data")
    files = added((path, "a", 1, 2))
    commit(store, on_newest(store, added=files), policy=AT_ONCE)


def remove(store: MemoryTableStore, *paths: str) -> None:
    transaction = on_newest(
        store, operation="DELETE", removed=live(store, *paths), read=EVERYTHING_READ
    )
    commit(store, transaction, policy=AT_ONCE)


@pytest.fixture
def store() -> MemoryTableStore:
    """Version 1 adds `a`, 2 `b c`, 3 removes `a`, 4 adds `d`."""
    made = MemoryTableStore()
    create(made)
    append(made, "a")
    append(made, "b%20c")
    remove(made, "a")
    append(made, "d")
    return made


@pytest.fixture
def table(store: MemoryTableStore) -> DeltaTable:
    return DeltaTable.from_store(store)


class TestRestore:
    def test_brings_files_back_and_takes_later_ones_away(self, store, table):
        before = table.snapshot(2)
        statistics = before.statistics().to_pylist()

        result = table.restore(2)

        assert (result.version, result.num_added_files) == (5, 1)
        assert result.num_removed_files == 1
        assert live_paths(store) == ["a", "b%20c"]
        assert table.snapshot().statistics().to_pylist() == statistics
        info = table.history(1)[0]
        assert (info.operation, info.parameters["version"]) == ("RESTORE", "2")
        assert info.metrics["numRestoredFiles"] == "1"

    def test_brings_back_what_a_checkpoint_holds(self, table: DeltaTable) -> None:
        table.create_checkpoint(2)

        table.restore(2)

        assert table.snapshot().statistics()["num_records"].to_pylist() == [1, 1]

    def test_brings_the_definition_back(self, table: DeltaTable) -> None:
        table.set_properties({"team": "blue"})
        table.add_columns("n INT")

        table.restore(4)

        assert table.definition().metadata == table.snapshot(4).metadata

    def test_of_the_newest_version_does_nothing(self, table: DeltaTable) -> None:
        assert table.restore(4).version == 4
        assert table.latest_version() == 4

    def test_names_files_that_are_gone(self, store, table):
        store.delete_data_file("a")

        assert table.plan_restore(2).missing == ("a",)
        with pytest.raises(RestoreFilesMissingError, match=r"Version 2.*: a"):
            table.restore(2)
        assert table.latest_version() == 4
        assert store.has_data_file("d")

    def test_finds_many_files_by_a_listing(self, store, table):
        names = [f"many%20{number}" for number in range(100)]
        files = added(*((name, "a", 1, 2) for name in names))
        commit(store, on_newest(store, added=files), policy=AT_ONCE)
        for name in names[1:]:
            store.put_data_file(name, b"data")
        remove(store, *names)

        assert table.plan_restore(5).missing == ("many%200",)

    def test_of_an_append_only_table_is_refused(self, table: DeltaTable) -> None:
        table.set_properties({"delta.appendOnly": "true"})

        with pytest.raises(AppendOnlyError, match="RESTORE"):
            table.restore(2)

    def test_of_no_version_is_refused(self, table: DeltaTable) -> None:
        with pytest.raises(VersionNotFoundError):
            table.restore(9)


class TestVacuum:
    def test_finds_what_the_table_no_longer_needs(self, store, table):
        store.put_data_file("orphan", b"more data")
        store.put_data_file("_hidden/x", b"")
        store.put_data_file(".crc", b"")
        store.put_data_file("_p=1/x", b"")

        found = table.vacuum(now=LATER)

        assert sorted((f["place"], f["kind"]) for f in found.files.to_pylist()) == [
            ("_p=1/x", "orphan"),
            ("a", "tombstoned"),
            ("orphan", "orphan"),
        ]
        assert found.size_bytes == 13
        assert found.live_bytes == 8
        assert found.lost_versions == (1, 2)
        assert not found.is_done
        assert store.has_data_file("a")

    def test_deletes_it_when_asked_to(self, store: MemoryTableStore, table: DeltaTable):
        store.put_data_file("orphan%20%2520", b"")
        done: list[tuple[int, int]] = []

        found = table.vacuum(
            dry_run=False, now=LATER, on_progress=lambda *at: done.append(at)
        )

        assert found.is_done
        assert done == [(2, 2)]
        assert sorted(store.data_files) == [f"{store.root}/b c", f"{store.root}/d"]
        assert table.vacuum(now=LATER).files.num_rows == 0
        assert table.latest_version() == 4

    def test_is_told_in_the_history_when_asked_to(self, table: DeltaTable) -> None:
        table.vacuum(dry_run=False, now=LATER, record_in_history=True)

        end, start = table.history(2)
        assert (start.version, start.operation) == (5, "VACUUM START")
        assert start.metrics["numFilesToDelete"] == "1"
        assert (end.version, end.operation) == (6, "VACUUM END")
        assert end.parameters["status"] == "COMPLETED"
        assert end.metrics["numDeletedFiles"] == "1"

    def test_that_was_stopped_says_so(self, table: DeltaTable) -> None:
        def stop(*_: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            table.vacuum(
                dry_run=False, now=LATER, record_in_history=True, on_progress=stop
            )

        (end,) = table.history(1)
        assert end.parameters["status"] == "FAILED"

    def test_keeps_what_left_or_came_within_the_retention(self, store, table):
        now = REMOVED_AT + timedelta(days=6)
        store.put_data_file("young", b"data")
        store.modification_times["young"] = 1_700_000_000_000

        found = table.vacuum(now=now)

        assert found.files.num_rows == 0
        assert found.kept_bytes == 8

    def test_takes_what_killed_writers_left_half_written(self, store, table):
        left = [".part-1-c000.parquet.x_1.tmp", "p=a/.part-2.parquet.abc.tmp"]
        for name in (*left, ".other.tmp", "_hidden/.part-1.tmp", ".part-1.parquet"):
            store.put_data_file(name, b"half")

        found = table.vacuum(now=LATER)

        assert sorted(found.files["place"].to_pylist()) == sorted([*left, "a"])
        assert set(found.files["kind"].to_pylist()) == {"orphan", "tombstoned"}

    def test_of_a_version_that_lacks_a_file_already_loses_no_more(self, store, table):
        paths = ["early", "late"]
        for path in paths:
            store.put_data_file(path, b"data")
            added_one = added((path, "a", 1, 2))
            commit(store, on_newest(store, added=added_one), policy=AT_ONCE)
        remove(store, *paths)
        store.delete_data_file("early")

        assert table.vacuum(now=LATER).lost_versions == (1, 2)

    def test_refuses_a_retention_below_the_table_s(self, table: DeltaTable) -> None:
        with pytest.raises(RetentionTooShortError, match=r"24 hours .* 168 hours"):
            table.vacuum(24, now=LATER)

        found = table.vacuum(24, now=LATER, allow_short_retention=True)
        assert found.files["place"].to_pylist() == ["a"]

    @pytest.mark.parametrize("hours", [1e9, 1e308])
    def test_for_longer_than_there_are_files_takes_none(self, table, hours) -> None:
        found = table.vacuum(hours, now=LATER)

        assert (found.files.num_rows, found.cutoff.year) == (0, 1970)

    def test_keeps_files_by_any_spelling_of_their_paths(self, store, table):
        files = added(
            (f"{store.root}/x%20y", "a", 1, 2), ("other://host/table/z", "a", 1, 2)
        )
        for name in ("x%20y", "z"):
            store.put_data_file(name, b"data")
        transaction = on_newest(store, added=files, are_files_new=False)
        commit(store, transaction, policy=AT_ONCE)

        found = table.vacuum(now=LATER)

        assert found.files["place"].to_pylist() == ["a"]

    def test_of_a_table_that_asks_more_of_writers_is_refused(self, store, table):
        name = "00000000000000000005.json"
        store.put(name, b'{"protocol":{"minReaderVersion":1,"minWriterVersion":9}}\n')

        with pytest.raises(UnsupportedWriteError, match="writer version 9"):
            table.vacuum(now=LATER)

    def test_of_an_empty_table_finds_nothing(self) -> None:
        store = MemoryTableStore()
        create(store)

        assert DeltaTable.from_store(store).vacuum(now=LATER).files.num_rows == 0
