"""The commit loop on a store in memory, which fails as a test wants."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from deltaweb.delta.errors import LocationUnreachableError, StorageFullError
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.protocol.actions import SetTransaction
from deltaweb.delta.writing.commit import SMALL_COMMIT_BYTES, commit
from deltaweb.delta.writing.errors import (
    CommitConflictError,
    CommitOutcomeUnknownError,
    LocationTakenError,
)
from deltaweb.delta.writing.transaction import EVERYTHING_READ
from deltaweb.table import DeltaTable
from tests.support.stores.counting_store import CountingStore
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.written_tables import (
    AT_ONCE,
    added,
    create,
    live,
    live_paths,
    on_newest,
)

UNREACHABLE = LocationUnreachableError(location="memory://table", reason="TimeoutError")
Fault = Callable[["FailingStore", str, bytes], None]


class FailingStore(MemoryTableStore):
    """Puts fail as they are told, one after the other; then all goes well."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[Fault] = []
        self.read_faults: list[Exception] = []

    def put_if_absent(self, name: str, data: bytes) -> None:
        if self.faults:
            self.faults.pop(0)(self, name, data)
            return
        super().put_if_absent(name, data)

    def read_head(self, name: str, length: int) -> bytes:
        if self.read_faults:
            raise self.read_faults.pop(0)
        return super().read_head(name, length)


def done_and_told_otherwise(store: FailingStore, name: str, data: bytes) -> None:
    MemoryTableStore.put_if_absent(store, name, data)
    raise UNREACHABLE


def tried_twice_by_the_driver(store: FailingStore, name: str, data: bytes) -> None:
    MemoryTableStore.put_if_absent(store, name, data)
    MemoryTableStore.put_if_absent(store, name, data)


def not_done(_store: FailingStore, _name: str, _data: bytes) -> None:
    raise UNREACHABLE


def full(_store: FailingStore, _name: str, _data: bytes) -> None:
    raise StorageFullError(location="memory://table", reason="No space left")


def another_is_faster(store: FailingStore, _name: str, _data: bytes) -> None:
    transaction = on_newest(store, added=added(("other", "a", 1, 2)))
    rest, store.faults = store.faults, []
    commit(store, transaction, policy=AT_ONCE)
    store.faults = rest
    raise UNREACHABLE


@pytest.fixture
def store() -> FailingStore:
    made = FailingStore()
    create(made)
    return made


def lines(store: MemoryTableStore, version: int) -> list[dict[str, Any]]:
    text = store.log_files[commit_name(version)].decode()
    return [json.loads(line) for line in text.splitlines()]


class TestCommit:
    def test_the_first_version_has_protocol_and_metadata(self, store: FailingStore):
        info, protocol, metadata = lines(store, 0)

        assert info["commitInfo"]["operation"] == "CREATE TABLE"
        assert protocol == {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
        assert metadata["metaData"]["partitionColumns"] == ["p"]
        assert DeltaTable.from_store(store).snapshot().num_files == 0

    def test_files_are_added_and_removed(self, store: FailingStore) -> None:
        first = on_newest(store, added=added(("a%20b", "ü\n\"'\\", 1, 2)))
        commit(store, first, policy=AT_ONCE)
        transaction = on_newest(
            store,
            operation="DELETE",
            parameters={"predicate": ["x > 1"]},
            metrics={"numDeletedRows": 3, "numOutputRows": 1},
            read=EVERYTHING_READ,
            added=added(("c", "z", 5, 6)),
            removed=live(store),
        )

        result = commit(store, transaction, policy=AT_ONCE)

        info, removed, new = lines(store, 2)
        assert result.version == 2
        assert (result.num_added_files, result.num_removed_files) == (1, 1)
        assert (result.num_rows_deleted, result.num_rows_inserted) == (3, 0)
        assert (result.attempts, result.rebased_over) == (1, ())
        assert info["commitInfo"]["readVersion"] == 1
        assert info["commitInfo"]["isBlindAppend"] is False
        assert info["commitInfo"]["operationParameters"] == {"predicate": '["x > 1"]'}
        assert info["commitInfo"]["operationMetrics"]["numDeletedRows"] == "3"
        assert removed["remove"] == {
            "path": "a%20b",
            "deletionTimestamp": 1_700_000_000_000,
            "dataChange": True,
            "extendedFileMetadata": True,
            "partitionValues": {"p": "ü\n\"'\\"},
            "size": 1,
        }
        assert new["add"]["partitionValues"] == {"p": "z"}
        assert json.loads(new["add"]["stats"])["maxValues"] == {"x": 6}
        assert live_paths(store) == ["c"]

    def test_a_null_partition_value_is_null(self, store: FailingStore) -> None:
        files = added(("a", "", 1, 2)).to_pylist()
        files[0]["partition_values"] = [("p", None)]
        table = added().from_pylist(files, added().schema)

        commit(store, on_newest(store, added=table), policy=AT_ONCE)

        assert lines(store, 1)[1]["add"]["partitionValues"] == {"p": None}

    def test_what_changes_nothing_makes_no_version(self, store: FailingStore) -> None:
        result = commit(store, on_newest(store), policy=AT_ONCE)

        assert (result.version, result.attempts) == (0, 0)
        assert len(store.log_files) == 1

    def test_an_append_gives_way(self, store: FailingStore) -> None:
        transaction = on_newest(store, added=added(("ours", "a", 1, 2)))
        for name in ("b", "c"):
            other = on_newest(store, added=added((name, "a", 1, 2)))
            commit(store, other, policy=AT_ONCE)

        result = commit(store, transaction, policy=AT_ONCE)

        assert (result.version, result.rebased_over) == (3, (1, 2))
        assert result.attempts == 2
        assert live_paths(store) == ["b", "c", "ours"]

    def test_each_commit_that_was_faster_is_read_once(self) -> None:
        store = CountingStore()
        create(store)
        transaction = on_newest(store, added=added(("ours", "a", 1, 2)))
        for name in ("b", "c"):
            other = on_newest(store, added=added((name, "a", 1, 2)))
            commit(store, other, policy=AT_ONCE)
        store.forget()

        commit(store, transaction, policy=AT_ONCE)

        assert store.heads == [commit_name(1)]
        assert store.reads == [commit_name(2), commit_name(3)]
        assert store.listings == []

    @pytest.mark.parametrize("surplus", [-1, 0, 1, 1_000])
    def test_a_long_commit_that_was_faster_is_read_to_its_end(self, store, surplus):
        commit(store, on_newest(store, added=added(("a", "a", 1, 2))), policy=AT_ONCE)
        transaction = on_newest(store, read=EVERYTHING_READ, removed=live(store))
        other = on_newest(store, removed=live(store))
        commit(store, other, policy=AT_ONCE)
        text, name = store.log_files[commit_name(2)], commit_name(2)
        info, end = text.split(b"\n", 1)
        filling = b" " * (SMALL_COMMIT_BYTES + surplus - len(text))
        store.log_files[name] = info + filling + b"\n" + end

        with pytest.raises(CommitConflictError) as caught:
            commit(store, transaction, policy=AT_ONCE)

        assert caught.value.version == 2

    def test_pauses_of_a_race_are_short(self, store: FailingStore) -> None:
        pauses: list[float] = []
        policy = replace(AT_ONCE, pause=pauses.append, draw=lambda: 1.0)
        store.faults = [not_done] * 9
        commit(store, on_newest(store, added=added(("a", "a", 1, 2))), policy=policy)
        alone, pauses[:] = max(pauses), []
        store.faults = [another_is_faster_by(number) for number in range(9)]

        commit(store, on_newest(store, added=added(("b", "a", 1, 2))), policy=policy)

        assert alone == policy.longest_pause_s
        assert max(pauses) == policy.longest_race_pause_s

    def test_a_table_is_created_once(self, store: FailingStore) -> None:
        with pytest.raises(LocationTakenError):
            create(store)

    def test_a_log_that_was_cleaned_up_meanwhile_is_not_written(self, store):
        commit(store, on_newest(store, added=added(("a", "a", 1, 2))), policy=AT_ONCE)
        transaction = on_newest(store, added=added(("ours", "a", 1, 2)))
        for name in ("b", "c"):
            other = on_newest(store, added=added((name, "a", 1, 2)))
            commit(store, other, policy=AT_ONCE)
        DeltaTable.from_store(store).create_checkpoint()
        for version in range(3):
            store.delete(commit_name(version))

        with pytest.raises(CommitConflictError) as caught:
            commit(store, transaction, policy=AT_ONCE)

        assert caught.value.kind == "history"


class TestAnAmbiguousPut:
    @pytest.mark.parametrize(
        "fault", [done_and_told_otherwise, tried_twice_by_the_driver]
    )
    def test_a_commit_that_is_there_is_won(self, store: FailingStore, fault: Fault):
        store.faults = [fault]

        result = commit(
            store, on_newest(store, added=added(("a", "a", 1, 2))), policy=AT_ONCE
        )

        assert (result.version, result.attempts, result.rebased_over) == (1, 1, ())
        assert sorted(store.log_files) == [commit_name(0), commit_name(1)]

    def test_a_commit_that_is_not_there_is_tried_again(self, store: FailingStore):
        store.faults = [not_done, not_done]

        result = commit(
            store, on_newest(store, added=added(("a", "a", 1, 2))), policy=AT_ONCE
        )

        assert (result.version, result.attempts) == (1, 3)

    def test_a_commit_of_another_is_given_way_to(self, store: FailingStore) -> None:
        store.faults = [another_is_faster]

        result = commit(
            store, on_newest(store, added=added(("a", "a", 1, 2))), policy=AT_ONCE
        )

        assert (result.version, result.rebased_over) == (2, (1,))

    def test_storage_that_never_says_leaves_the_files(self, store: FailingStore):
        store.put_data_file("a", b"data")
        transaction = on_newest(store, added=added(("a", "a", 1, 2)))
        store.faults = [not_done] * 3
        store.read_faults = [UNREACHABLE] * 3

        with pytest.raises(CommitOutcomeUnknownError, match="txnId"):
            commit(store, transaction, policy=replace(AT_ONCE, max_attempts=3))

        assert store.has_data_file("a")

    def test_a_full_disk_is_told_at_once(self, store: FailingStore) -> None:
        store.put_data_file("a", b"data")
        store.faults = [full]

        with pytest.raises(StorageFullError):
            commit(
                store, on_newest(store, added=added(("a", "a", 1, 2))), policy=AT_ONCE
            )

        assert not store.has_data_file("a")
        assert sorted(store.log_files) == [commit_name(0)]

    def test_what_others_always_win_is_given_up(self, store: FailingStore) -> None:
        store.faults = [another_is_faster_by(number) for number in range(3)]
        transaction = on_newest(store, added=added(("a", "a", 1, 2)))

        with pytest.raises(CommitConflictError) as caught:
            commit(store, transaction, policy=replace(AT_ONCE, max_attempts=3))

        assert caught.value.kind == "attempts"

    def test_an_interrupted_put_leaves_the_files(self, store: FailingStore) -> None:
        def interrupted(store: FailingStore, name: str, data: bytes) -> None:
            MemoryTableStore.put_if_absent(store, name, data)
            raise KeyboardInterrupt

        store.put_data_file("a", b"data")
        store.faults = [interrupted]

        with pytest.raises(KeyboardInterrupt):
            commit(
                store, on_newest(store, added=added(("a", "a", 1, 2))), policy=AT_ONCE
            )

        assert store.has_data_file("a")


def another_is_faster_by(number: int) -> Fault:
    def put(store: FailingStore, name: str, data: bytes) -> None:
        transaction = on_newest(store, added=added((f"other{number}", "a", 1, 2)))
        rest, store.faults = store.faults, []
        commit(store, transaction, policy=AT_ONCE)
        store.faults = rest
        MemoryTableStore.put_if_absent(store, name, data)

    return put


class TestATransactionOfAnApplication:
    @pytest.mark.parametrize("version", [6, 7])
    def test_that_was_done_before_the_base_is_not_done_again(self, store, version):
        txn = SetTransaction(app_id="stream", version=7)
        first = on_newest(store, added=added(("a", "a", 1, 2)), txn=txn)
        commit(store, first, policy=AT_ONCE)
        store.put_data_file("b", b"data")
        again = on_newest(
            store, added=added(("b", "a", 1, 2)), txn=replace(txn, version=version)
        )

        result = commit(store, again, policy=AT_ONCE)

        assert (result.version, result.num_added_files) == (None, 0)
        assert live_paths(store) == ["a"]
        assert not store.has_data_file("b")

    def test_is_done_once(self, store: FailingStore) -> None:
        txn = SetTransaction(app_id="stream", version=7)
        transaction = on_newest(store, added=added(("a", "a", 1, 2)), txn=txn)
        other = on_newest(store, added=added(("b", "a", 1, 2)), txn=txn)
        commit(store, other, policy=AT_ONCE)
        store.put_data_file("a", b"data")

        result = commit(store, transaction, policy=AT_ONCE)

        assert result.version is None
        assert live_paths(store) == ["b"]
        assert not store.has_data_file("a")
        assert lines(store, 1)[1] == {"txn": {"appId": "stream", "version": 7}}

    def test_that_comes_after_an_older_one_conflicts(self, store: FailingStore) -> None:
        newer = SetTransaction(app_id="stream", version=8)
        transaction = on_newest(store, added=added(("a", "a", 1, 2)), txn=newer)
        txn = replace(newer, version=7)
        other = on_newest(store, added=added(("b", "a", 1, 2)), txn=txn)
        commit(store, other, policy=AT_ONCE)

        with pytest.raises(CommitConflictError) as caught:
            commit(store, transaction, policy=AT_ONCE)

        assert caught.value.kind == "transaction"
