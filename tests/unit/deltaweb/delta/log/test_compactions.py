"""Which compactions are read, and what becomes of one that is not what it should be."""

import json

import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.compactions import (
    Compaction,
    choose_compactions,
    names_to_replay,
    parse_compaction_name,
)
from deltaweb.delta.log.paths import checksum_name, commit_name
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.logs.delta_logs import (
    Action,
    LogBuilder,
    add,
    commit_bytes,
    metadata,
    remove,
)
from tests.support.stores.counting_store import CountingStore


@pytest.mark.parametrize(
    "name",
    [
        "00000000000000000003.00000000000000000003.compacted.json",
        "00000000000000000004.00000000000000000003.compacted.json",
        "00000000000000000001.99999999999999999999.compacted.json",
        "1.3.compacted.json",
        "00000000000000000001.00000000000000000003.compacted.json.tmp",
        "00000000000000000001.json",
    ],
)
def test_a_name_that_stands_for_no_commits_is_no_compaction(name: str) -> None:
    assert parse_compaction_name(name) is None


@cases(
    "there, chosen",
    {
        "none": ([], []),
        "overlapping: an equal one": ([(0, 3), (2, 5)], [(0, 3)]),
        "overlapping: the longer one": ([(0, 1), (1, 5)], [(1, 5)]),
        "one for two": ([(1, 2), (3, 4), (1, 4)], [(1, 4)]),
        "two that fit": ([(0, 2), (3, 5), (1, 4)], [(0, 2), (3, 5)]),
        "beyond what is read": ([(4, 9), (-1, 2)], []),
    },
)
def test_as_few_files_are_read_as_can_be(there, chosen):
    found = choose_compactions([Compaction(*pair) for pair in there], range(8))

    assert [tuple(one) for one in found] == chosen


def test_commits_stay_where_no_compaction_stands_for_them() -> None:
    names = [commit_name(version) for version in range(2, 8)]
    one = Compaction(3, 5)

    found = names_to_replay(range(2, 8), [one], names)

    assert found == [names[0], one.name, *names[4:]]


@pytest.fixture
def log() -> LogBuilder:
    """Files a, b and c of commits 0 to 3; of commits 1 to 3 a compaction."""
    builder = LogBuilder(CountingStore())
    builder.start(add("a", stats='{"numRecords":1}'))
    builder.commit(1, add("b", stats='{"numRecords":2}'))
    builder.commit(2, remove("a"), add("c", stats='{"numRecords":3}'))
    builder.commit(3, remove("c"))
    return builder


def compact(builder: LogBuilder, *actions: Action) -> str:
    name = Compaction(1, 3).name
    builder.store.put(name, commit_bytes(*actions))
    return name


RIGHT = (add("b", stats='{"numRecords":2}'), remove("a"), remove("c"))


def paths(table: DeltaTable, version: int | None = None) -> list[str]:
    return sorted(table.snapshot(version).files["path"].to_pylist())


def test_a_snapshot_is_read_by_the_compaction(log: LogBuilder) -> None:
    name = compact(log, *RIGHT)
    store = log.store
    assert isinstance(store, CountingStore)
    store.forget()

    snapshot = log.table.snapshot()

    assert snapshot.files["path"].to_pylist() == ["b"]
    assert sorted(snapshot.tombstones["path"].to_pylist()) == ["a", "c"]
    assert store.reads == [commit_name(0), name]
    assert snapshot.statistics()["num_records"].to_pylist() == [2]


def test_versions_within_are_read_by_their_commits(log: LogBuilder) -> None:
    compact(log, *RIGHT)

    assert paths(log.table, 1) == ["a", "b"]
    assert paths(log.table, 2) == ["b", "c"]


def test_history_is_of_the_commits(log: LogBuilder) -> None:
    compact(log, *RIGHT)

    assert [commit.version for commit in log.table.history()] == [3, 2, 1, 0]


@cases(
    "data",
    {
        "torn": b'{"add":{"path":"b"',
        "no text": b"\xff\xfe",
        "a file without a path": b'{"add":{"size":1}}\n',
        "not reconciled, the newest first": commit_bytes(
            remove("b"), add("b"), remove("c"), add("c")
        ),
        "two definitions": commit_bytes(metadata("x"), metadata("y")),
        "broken": b'{"metaData":{"id":7,"partitionColumns":3}}\n',
    },
)
def test_a_broken_compaction_leaves_the_commits(log: LogBuilder, data: bytes) -> None:
    log.store.put(Compaction(1, 3).name, data)

    assert paths(log.table) == ["b"]


def test_a_compaction_without_what_the_commits_define_leaves_the_commits() -> None:
    builder = LogBuilder().start(add("a")).commit(1, add("b"))
    builder.store.put(Compaction(0, 1).name, commit_bytes(add("a"), add("b")))

    assert paths(builder.table) == ["a", "b"]


def test_a_compaction_that_the_checksum_contradicts_leaves_the_commits(log: LogBuilder):
    compact(log, *RIGHT[:1])  # who made it left out what was deleted long ago
    log.store.put(
        checksum_name(3), json.dumps({"numFiles": 1, "tableSizeBytes": 1}).encode()
    )

    assert paths(log.table) == ["b"]


def test_a_torn_checksum_says_nothing_of_a_compaction(log: LogBuilder) -> None:
    compact(log, *RIGHT)
    log.store.put(checksum_name(3), b'{"numFi')

    assert paths(log.table) == ["b"]


def test_what_is_wrong_with_the_commits_is_said_of_them(log: LogBuilder) -> None:
    compact(log, *RIGHT)
    log.store.put(commit_name(0), b"{torn")

    with pytest.raises(DeltaError) as caught:
        log.table.snapshot()

    assert commit_name(0) in str(caught.value)


def test_a_definition_is_read_by_the_commits(log: LogBuilder) -> None:
    compact(log, *RIGHT, metadata("another"))

    assert log.table.definition().metadata.id == "table"
