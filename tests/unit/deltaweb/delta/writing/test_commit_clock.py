"""Commits that carry their own times."""

import json
from dataclasses import replace

import pytest

from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.protocol.actions import Protocol
from deltaweb.delta.writing.commit import CommitPolicy, commit
from deltaweb.delta.writing.errors import CommitTimeError
from deltaweb.table import DeltaTable
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import ROWS, TableBuilder
from tests.support.tables.written_tables import METADATA, added, create, on_newest

ON = {"delta.enableInCommitTimestamps": "true"}
PROTOCOL = Protocol(
    min_reader_version=1, min_writer_version=7, writer_features=["inCommitTimestamp"]
)


def at(time_ms: int) -> CommitPolicy:
    return CommitPolicy(pause=lambda _: None, now_ms=lambda: time_ms)


def own_times(table: DeltaTable) -> list[int | None]:
    versions = range(table.latest_version() + 1)
    return [
        table.read_commit(version)[0]["commitInfo"].get("inCommitTimestamp")
        for version in versions
    ]


def append(store: MemoryTableStore, name: str, time_ms: int) -> None:
    files = added((name, "a", 1, 2))
    commit(store, on_newest(store, added=files), policy=at(time_ms))


class TestTheTimeOfACommit:
    def test_is_later_than_that_before_whatever_the_clock_says(self) -> None:
        table = TableBuilder().properties(ON).build()
        store = table.store
        assert isinstance(store, MemoryTableStore)
        table.append(ROWS)
        first = own_times(table)[1]
        assert first is not None
        transaction = on_newest(store, metadata=table.definition().metadata)

        commit(store, transaction, policy=at(5))
        commit(
            store, replace(transaction, base=table.definition()), policy=at(first + 90)
        )

        assert own_times(table)[1:] == [first, first + 1, first + 90]
        assert table.snapshot().timestamp.timestamp() * 1000 == first + 90

    def test_is_none_after_the_last_one_there_is(self) -> None:
        table = TableBuilder().properties(ON).build()
        store = table.store
        assert isinstance(store, MemoryTableStore)
        info = {"inCommitTimestamp": 2**63 - 1, "operation": "WRITE"}
        store.put(commit_name(1), json.dumps({"commitInfo": info}).encode())

        with pytest.raises(CommitTimeError) as caught:
            table.append(ROWS)

        assert (caught.value.version, table.latest_version()) == (2, 1)
        table.set_properties({"delta.enableInCommitTimestamps": "false"})
        assert table.append(ROWS).version == 3

    def test_of_one_that_gives_way_is_later_than_the_winners(self) -> None:
        store = MemoryTableStore()
        create(store, metadata=replace(METADATA, configuration=ON), protocol=PROTOCOL)
        late = on_newest(store, added=added(("late", "a", 1, 2)))
        start = own_times(DeltaTable.from_store(store))[0]
        assert start is not None
        append(store, "first", start + 500)

        result = commit(store, late, policy=at(start + 100))

        assert (result.version, result.rebased_over) == (2, (1,))
        assert own_times(DeltaTable.from_store(store))[1:] == [start + 500, start + 501]

    def test_counts_from_the_version_that_turned_it_on(self) -> None:
        store = MemoryTableStore()
        create(store, protocol=PROTOCOL)
        append(store, "a", 10)
        store.modification_times[commit_name(1)] = 7_000
        metadata = replace(METADATA, configuration=ON)

        commit(store, on_newest(store, metadata=metadata), policy=at(3_000))
        append(store, "b", 3_000)

        table = DeltaTable.from_store(store)
        assert own_times(table) == [None, None, 7_001, 7_002]
        assert dict(table.definition().metadata.configuration) == {
            **ON,
            "delta.inCommitTimestampEnablementVersion": "2",
            "delta.inCommitTimestampEnablementTimestamp": "7001",
        }

    def test_is_none_where_the_protocol_does_not_know_of_it(self) -> None:
        store = MemoryTableStore()
        create(store, metadata=replace(METADATA, configuration=ON))

        assert own_times(DeltaTable.from_store(store)) == [None]

    def test_is_turned_on_by_a_property_once_the_protocol_knows_of_it(self) -> None:
        table = TableBuilder().build()
        table.upgrade_protocol(writer=7)
        table.set_properties({"delta.feature.inCommitTimestamp": "supported", **ON})

        (first, second, third) = own_times(table)
        assert (first, second) == (None, None)
        assert third is not None
        configuration = table.definition().metadata.configuration
        assert configuration["delta.inCommitTimestampEnablementTimestamp"] == str(third)


@pytest.mark.parametrize("feature", ["checkpointProtection", "v2Checkpoint"])
def test_what_is_about_the_log_alone_is_written(feature: str) -> None:
    table = TableBuilder().features(feature).rows(ROWS).build()

    assert table.snapshot().read().num_rows == 3


def test_a_table_that_asks_for_it_gets_checkpoints_of_the_second_specification():
    builder = TableBuilder().property("delta.checkpointPolicy", "v2")
    table = builder.property("delta.checkpointInterval", "2").build()
    for _ in range(2):
        table.append(ROWS)

    (name,) = [
        name for name in table.store.list_names_from("") if ".checkpoint." in name
    ]
    assert len(name.split(".")) == 4
    assert table.snapshot().read().num_rows == 6
