"""Transactions that are refused before or while they are committed."""

from dataclasses import replace

import pytest

from deltaweb.delta.protocol.actions import Protocol
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.errors import (
    AppendOnlyError,
    CommitConflictError,
    CommitInvalidError,
    PartitionKeysError,
    UnsupportedWriteError,
)
from deltaweb.delta.writing.transaction import EVERYTHING_READ
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.written_tables import (
    AT_ONCE,
    METADATA,
    PROTOCOL,
    added,
    create,
    live,
    on_newest,
)


@pytest.fixture
def store() -> MemoryTableStore:
    made = MemoryTableStore()
    create(made)
    return made


class TestARefusedTransaction:
    def test_loses_its_files(self, store: MemoryTableStore) -> None:
        commit(store, on_newest(store, added=added(("old", "a", 1, 2))), policy=AT_ONCE)
        store.put_data_file("mine", b"data")
        ours, other = (
            on_newest(
                store,
                operation="UPDATE",
                read=EVERYTHING_READ,
                added=added((name, "a", 1, 2)),
                removed=live(store),
            )
            for name in ("mine", "theirs")
        )
        commit(store, other, policy=AT_ONCE)

        with pytest.raises(CommitConflictError) as caught:
            commit(store, ours, policy=AT_ONCE)

        error = caught.value
        assert (error.kind, error.version, error.subject) == ("file-removed", 2, "old")
        assert (error.operation, error.winning_operation) == ("UPDATE", "UPDATE")
        assert "old" in str(error)
        assert not store.has_data_file("mine")

    def test_keeps_files_that_were_there_before(self, store: MemoryTableStore) -> None:
        store.put_data_file("a", b"data")
        files = added(("a", "a", 1, 2), ("a", "a", 1, 2))
        transaction = on_newest(store, added=files, are_files_new=False)

        with pytest.raises(CommitInvalidError, match="added twice"):
            commit(store, transaction, policy=AT_ONCE)

        assert store.has_data_file("a")

    def test_of_an_append_only_table_removes_rows(self) -> None:
        store = MemoryTableStore()
        only = replace(METADATA, configuration={"delta.appendOnly": "true"})
        create(store, metadata=only)
        commit(store, on_newest(store, added=added(("a", "a", 1, 2))), policy=AT_ONCE)
        ours = on_newest(store, operation="DELETE", removed=live(store))

        with pytest.raises(AppendOnlyError, match="DELETE"):
            commit(store, ours, policy=AT_ONCE)

        rearranged = replace(ours, added=added(("b", "a", 1, 2)), data_change=False)
        assert commit(store, rearranged, policy=AT_ONCE).version == 2

    @pytest.mark.parametrize(
        ("protocol", "named"),
        [
            (Protocol(min_reader_version=1, min_writer_version=9), "writer version 9"),
            (
                Protocol(
                    min_reader_version=1,
                    min_writer_version=7,
                    writer_features=["appendOnly", "futureRule"],
                ),
                "futureRule",
            ),
        ],
    )
    def test_of_a_table_that_asks_more_is_named(self, protocol: Protocol, named: str):
        with pytest.raises(UnsupportedWriteError, match=named):
            create(MemoryTableStore(), protocol=protocol)

    def test_of_known_features_is_none(self) -> None:
        names = ["appendOnly", "invariants", "checkConstraints", "vacuumProtocolCheck"]
        protocol = replace(PROTOCOL, min_writer_version=7, writer_features=names)

        assert create(MemoryTableStore(), protocol=protocol).version == 0

    @pytest.mark.parametrize(
        ("path", "reason"),
        [
            ("a b", "encoded"),
            ("a%2", "encoded"),
            ("a%zz", "encoded"),
            ("/a", "relative"),
            ("s3://b/a", "relative"),
            ("../a", "leads out"),
            ("x/%2e%2E/a", "leads out"),
        ],
    )
    def test_has_a_path_that_is_none(self, store, path, reason):
        transaction = on_newest(store, added=added((path, "a", 1, 2)))

        with pytest.raises(CommitInvalidError, match=reason):
            commit(store, transaction, policy=AT_ONCE)

    def test_has_partition_values_of_other_columns(self, store: MemoryTableStore):
        files = added(("a", "", 1, 2)).to_pylist()
        for values in ([], [("q", "1")], [("p", "1"), ("q", "2")]):
            files[0]["partition_values"] = values
            table = added().from_pylist(files, added().schema)

            with pytest.raises(PartitionKeysError):
                commit(store, on_newest(store, added=table), policy=AT_ONCE)

    def test_has_statistics_without_rows(self, store: MemoryTableStore) -> None:
        files = added(("a", "a", 1, 2)).to_pylist()
        files[0]["stats"] = "{}"
        table = added().from_pylist(files, added().schema)

        with pytest.raises(CommitInvalidError, match="number of rows"):
            commit(store, on_newest(store, added=table), policy=AT_ONCE)
