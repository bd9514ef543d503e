"""Rows keep their ids through everything that writes them again."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.paths import commit_name
from deltaweb.table import DeltaTable
from tests.support.conditions.drawn_examples import examples
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.tracked_rows import TRACKED, Known, known_by, rows

pytestmark = pytest.mark.slow

VECTORS = {"delta.enableDeletionVectors": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}


@pytest.fixture(params=[{}, VECTORS, MAPPED], ids=["plain", "vectors", "mapped"])
def table(request: pytest.FixtureRequest) -> DeltaTable:
    """Keys 1 to 4 of version 1 with ids 0 to 3, and 5 and 6 of version 2."""
    kind = TRACKED.properties(request.param)
    return kind.rows(rows(1, 2, 3, 4), rows(5, 6)).build()


STARTED: Known = {1: (0, 1), 2: (1, 1), 3: (2, 1), 4: (3, 1), 5: (4, 2), 6: (5, 2)}


def actions(table: DeltaTable, version: int, kind: str) -> list[dict[str, object]]:
    data = table.store.read(commit_name(version)).splitlines()
    found = [json.loads(line) for line in data]
    return [action[kind] for action in found if kind in action]


def test_appended_rows_get_the_next_ids(table: DeltaTable) -> None:
    assert known_by(table) == STARTED


def test_the_log_has_the_highest_id_and_says_that_rows_are_kept(table: DeltaTable):
    (domain,) = actions(table, 2, "domainMetadata")
    (info,) = actions(table, 2, "commitInfo")
    (added,) = actions(table, 2, "add")

    assert domain == {
        "domain": "delta.rowTracking",
        "configuration": '{"rowIdHighWaterMark":5}',
        "removed": False,
    }
    assert info["tags"] == {"delta.rowTracking.preserved": "true"}
    assert (added["baseRowId"], added["defaultRowCommitVersion"]) == (4, 2)


def test_updated_rows_are_the_same_rows_of_another_version(table: DeltaTable) -> None:
    table.update({"v": "'new'"}, "k IN (2, 5)")

    assert known_by(table) == {**STARTED, 2: (1, 3), 5: (4, 3)}


def test_rows_that_stay_after_a_delete_stay_as_they_were(table: DeltaTable) -> None:
    table.delete("k = 2")
    table.delete("k = 4")

    assert known_by(table) == {k: STARTED[k] for k in (1, 3, 5, 6)}


def test_a_removed_file_is_shown_with_its_ids(table: DeltaTable) -> None:
    table.delete("k < 5")

    (removed,) = actions(table, 3, "remove")
    assert (removed["baseRowId"], removed["defaultRowCommitVersion"]) == (0, 1)


def test_merged_rows_keep_theirs_and_new_ones_get_new_ones(table: DeltaTable) -> None:
    source = rows(2, 6, 7, v="s")

    merge = table.merge(source, on="t.k = s.k").when_matched_delete("t.k = 6")
    merge.when_matched_update().when_not_matched_insert().execute()

    found = known_by(table)
    row_id, version = found.pop(7)
    assert found == {k: STARTED[k] for k in (1, 3, 4, 5)} | {2: (1, 3)}
    assert version == 3
    assert row_id > 5


@pytest.mark.parametrize("cluster_by", [(), ("v",)], ids=["packed", "clustered"])
def test_packed_rows_stay_as_they_were(table: DeltaTable, cluster_by: tuple[str, ...]):
    table.update({"v": "'b'"}, "k = 3")
    before = known_by(table)

    table.optimize(cluster_by=cluster_by)

    assert table.snapshot().num_files == 1
    assert known_by(table) == before


def test_rows_beside_overwritten_ones_stay_as_they_were(table: DeltaTable) -> None:
    table.overwrite(rows(1, 2), where="k <= 2")

    found = known_by(table)
    assert {k: found[k] for k in (3, 4, 5, 6)} == {k: STARTED[k] for k in (3, 4, 5, 6)}
    assert min(found[1][0], found[2][0]) > 5


def test_rows_that_come_back_are_those_that_were(table: DeltaTable) -> None:
    table.update({"v": "'new'"}, "k = 1")
    table.delete("k = 5")

    table.restore(2)

    assert known_by(table) == STARTED
    table.append(rows(9))
    assert known_by(table)[9][0] > 5


def test_a_checkpoint_keeps_all_of_it(table: DeltaTable) -> None:
    table.update({"v": "'new'"}, "k = 1")
    before = known_by(table)
    table.create_checkpoint()
    store = table.store
    assert isinstance(store, MemoryTableStore)
    for version in range(4):
        store.delete(commit_name(version))

    assert known_by(table) == before
    table.append(rows(9))
    assert known_by(table)[9][0] > max(row_id for row_id, _ in before.values())


def test_concurrent_appends_take_different_ids() -> None:
    store = MemoryTableStore()
    table = TRACKED.at(store).build()
    other = DeltaTable.from_store(store)
    table.append(rows(1, 2))
    other.append(rows(3))  # what it knows of the table is older
    table.append(rows(4, 5))

    assert known_by(table) == {1: (0, 1), 2: (1, 1), 3: (2, 2), 4: (3, 3), 5: (4, 3)}


def test_ids_begin_after_those_that_a_winner_took() -> None:
    class Overtaken(MemoryTableStore):
        rival: DeltaTable | None = None

        def put_if_absent(self, name: str, data: bytes) -> None:
            if self.rival is not None:
                rival, self.rival = self.rival, None
                rival.append(rows(8, 9))
            super().put_if_absent(name, data)

    store = Overtaken()
    table = TRACKED.at(store).build()
    table.append(rows(1))
    store.rival = DeltaTable.from_store(store)

    result = table.append(rows(2))

    assert result.rebased_over == (2,)
    assert known_by(table) == {1: (0, 1), 8: (1, 2), 9: (2, 2), 2: (3, 3)}


def test_rows_of_a_table_that_tracks_none_get_no_ids() -> None:
    table = TRACKED.property("delta.rowTrackingSuspended").rows(rows(1)).build()

    (added,) = actions(table, 1, "add")
    assert "baseRowId" not in added
    assert not actions(table, 1, "domainMetadata")


def test_a_table_does_not_begin_to_track_rows_that_have_no_ids() -> None:
    untracked = TRACKED.property("delta.enableRowTracking", "false")
    table = untracked.properties(VECTORS).build()
    table.set_properties({"delta.feature.rowTracking": "supported"})

    with pytest.raises(DeltaError, match="present rows have no ids"):
        table.set_properties({"delta.enableRowTracking": "true"})

    features = table.snapshot().protocol.writer_features
    assert features is not None
    assert "domainMetadata" in features


steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 4)),
        st.tuples(st.just("update"), st.integers(0, 12)),
        st.tuples(st.just("delete"), st.integers(0, 12)),
        st.tuples(st.just("merge"), st.integers(0, 12)),
        st.tuples(st.just("optimize"), st.just(0)),
    ),
    max_size=7,
)


@settings(max_examples=examples(12))
@given(steps, st.sampled_from([VECTORS, {}]))
def test_ids_are_as_a_dictionary_has_them(taken, properties):
    table = TRACKED.properties(properties).build()
    expected: Known = {}
    following = 0
    for step, number in taken:
        known = known_by(table)
        assert {k: known[k] for k in expected} == expected
        if step == "append":
            keys = range(following, following + number)
            following += number
            version = table.append(rows(*keys)).version
            new = known_by(table)
            expected |= {k: (new[k][0], version) for k in keys}
        elif step == "update":
            version = table.update({"v": "'x'"}, f"k % 3 = {number % 3}").version
            changed = {k for k in expected if k % 3 == number % 3}
            expected |= {k: (expected[k][0], version) for k in changed}
        elif step == "delete":
            table.delete(f"k = {number}")
            expected.pop(number, None)
        elif step == "merge" and expected:
            merge = table.merge(rows(number, v="m"), on="t.k = s.k")
            version = merge.when_matched_update().execute().version
            if number in expected:
                expected[number] = (expected[number][0], version)
        elif step == "optimize":
            table.optimize()
    assert known_by(table) == expected
