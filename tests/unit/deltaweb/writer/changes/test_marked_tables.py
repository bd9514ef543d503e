"""Rows that go from tables that mark them: vectors, and the files that stay."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.deletion_vectors.errors import DeletionVectorMissingError
from deltaweb.delta.writing.errors import CommitConflictError, RestoreFilesMissingError
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.table import DeltaTable
from deltaweb.writer.rewrite.run import deletion
from tests.support.conditions.drawn_examples import examples
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import ROWS, SCHEMA, TableBuilder, numbers

ON = {"delta.enableDeletionVectors": "true"}
LATER = datetime(2999, 1, 1, tzinfo=UTC)


# Ten rows in one file.
TABLE = TableBuilder().properties(ON).rows(n=range(10), s=[f"s{n}" for n in range(10)])


def actions(table: DeltaTable, name: str) -> list[dict[str, Any]]:
    commit = table.read_commit(table.latest_version())
    return [action[name] for action in commit if name in action]


def vectors(table: DeltaTable) -> list[Any]:
    found: list[Any] = table.snapshot().files["deletion_vector"].to_pylist()
    return found


def bins(table: DeltaTable) -> list[str]:
    places = [p for some in table.store.list_data_files() for p in some.to_pylist()]
    return [place for place in places if place.endswith(".bin")]


class TestDelete:
    def test_marks_rows_of_a_file_that_stays(self, table: DeltaTable) -> None:
        (file,) = table.snapshot().files["path"].to_pylist()

        result = table.delete("n % 3 = 0")

        assert numbers(table) == [1, 2, 4, 5, 7, 8]
        assert (result.num_rows_deleted, result.num_added_files) == (4, 0)
        assert (result.num_removed_files, result.num_rows_copied) == (0, 0)
        assert result.metrics["numDeletionVectorsAdded"] == 1
        (added,), (removed,) = actions(table, "add"), actions(table, "remove")
        assert added["path"] == removed["path"] == file
        assert "deletionVector" not in removed
        assert added["deletionVector"]["storageType"] == "u"
        assert added["deletionVector"]["offset"] == 1
        assert added["deletionVector"]["cardinality"] == 4
        stats = json.loads(added["stats"])
        assert (stats["numRecords"], stats["tightBounds"]) == (10, False)
        assert stats["minValues"]["n"] == 0

    def test_marks_more_rows_of_it(self, table: DeltaTable) -> None:
        table.delete("n < 3")
        before = vectors(table)[0]

        result = table.delete("s IN ('s2', 's5', 's9')")

        assert numbers(table) == [3, 4, 6, 7, 8]
        assert result.num_rows_deleted == 2
        assert result.metrics["numDeletionVectorsUpdated"] == 1
        (removed,) = actions(table, "remove")
        assert removed["deletionVector"]["pathOrInlineDv"] == before["pathOrInlineDv"]
        assert vectors(table)[0]["cardinality"] == 5

    def test_of_the_last_rows_removes_the_file(self, table: DeltaTable) -> None:
        table.delete("n < 3")

        result = table.delete("n >= 3")

        assert (result.num_removed_files, result.num_rows_deleted) == (1, 7)
        assert actions(table, "add") == []
        assert table.snapshot().num_files == 0

    def test_of_nothing_makes_no_version(self, table: DeltaTable) -> None:
        table.delete("n < 3")

        assert table.delete("n < 3").version == 2
        assert len(bins(table)) == 1

    def test_keeps_vectors_of_one_commit_in_one_file(self) -> None:
        builder = TableBuilder().columns(SCHEMA).partitioned_by("p").properties(ON)
        table = builder.rows(n=range(9), p=["x", "y", "z"] * 3).build()

        table.delete("n < 5")

        assert len(bins(table)) == 1
        offsets = {vector["offset"] for vector in vectors(table)}
        assert len(offsets) == 3
        assert numbers(table) == [5, 6, 7, 8]

    def test_can_be_planned_first(self, table: DeltaTable) -> None:
        plan = deletion(table.store, "n = 1").plan()

        assert (plan.outcome.num_rows, plan.outcome.num_copied_rows) == (1, 0)
        assert bins(table) == []
        assert plan.carry_out().num_rows_deleted == 1

    def test_of_a_property_that_is_off_writes_rows_again(self) -> None:
        table = TableBuilder().features("deletionVectors").rows(ROWS).build()

        table.delete("n = 1")

        assert vectors(table) == [None]
        assert bins(table) == []


class TestOtherChanges:
    def test_an_update_writes_the_new_rows_alone(self, table: DeltaTable) -> None:
        result = table.update({"s": "'new'"}, "n IN (3, 4)")

        assert (result.num_rows_updated, result.num_rows_copied) == (2, 0)
        assert (result.num_added_files, result.num_removed_files) == (1, 0)
        rows = table.snapshot().read(predicate=pc.field("s") == "new")
        assert sorted(rows["n"].to_pylist()) == [3, 4]
        assert numbers(table) == list(range(10))

    def test_a_merge_marks_what_matches(self, table: DeltaTable) -> None:
        source = pa.table({"n": [1, 2, 30], "s": ["one", "two", "thirty"]})

        result = (
            table.merge(source, on="t.n = s.n")
            .when_matched_delete("s.n = 2")
            .when_matched_update({"s": "s.s"})
            .when_not_matched_insert({"n": "s.n", "s": "s.s"})
            .execute()
        )

        assert numbers(table) == [0, 1, 3, 4, 5, 6, 7, 8, 9, 30]
        assert (result.num_rows_updated, result.num_rows_deleted) == (1, 1)
        assert (result.num_rows_inserted, result.num_rows_copied) == (1, 0)
        assert result.metrics["numTargetDeletionVectorsAdded"] == 1
        assert vectors(table).count(None) == 1

    def test_an_overwrite_of_a_condition_leaves_marked_rows_out(self, table):
        table.delete("n = 0")

        result = table.overwrite(pa.table({"n": [1], "s": ["x"]}), where="n < 3")

        assert numbers(table) == [1, *range(3, 10)]
        assert result.num_rows_deleted == 2

    def test_optimize_purges(self, table: DeltaTable) -> None:
        table.delete("n < 3")

        result = table.optimize()

        assert (result.num_added_files, result.num_removed_files) == (1, 1)
        assert vectors(table) == [None]
        assert numbers(table) == list(range(3, 10))
        assert actions(table, "remove")[0]["deletionVector"]["cardinality"] == 3
        assert table.optimize().version == result.version


class TestVersions:
    def test_come_back_with_their_vectors(self, table: DeltaTable) -> None:
        table.delete("n < 3")
        table.delete("n < 6")
        table.update({"s": "'x'"}, "n = 9")

        table.restore(version=2)

        assert numbers(table) == list(range(3, 10))
        table.restore(version=1)
        assert numbers(table) == list(range(10))
        assert vectors(table) == [None]
        table.restore(version=3)
        assert numbers(table) == list(range(6, 10))

    def test_a_vacuum_says_which_versions_lose_only_a_vector(self, table: DeltaTable):
        table.delete("n = 1")
        table.delete("n = 2")
        table.delete("n = 3")

        found = table.vacuum(now=LATER)

        assert found.files.num_rows == 2  # the vectors of versions 2 and 3
        assert found.lost_versions == (2, 3)

    def test_are_gone_when_their_vectors_are(self, table: DeltaTable) -> None:
        table.delete("n < 3")
        table.delete("n < 6")
        first = bins(table)
        kept = table.snapshot().files

        taken = table.vacuum(0, dry_run=False, allow_short_retention=True, now=LATER)

        assert taken.files.num_rows == 1
        assert len(bins(table)) == len(first) - 1
        assert numbers(table) == list(range(6, 10))
        assert table.snapshot().files.num_rows == kept.num_rows
        with pytest.raises(DeletionVectorMissingError):
            table.snapshot(2).read()
        with pytest.raises(RestoreFilesMissingError):
            table.restore(version=2)

    def test_within_the_retention_stay(self, table: DeltaTable) -> None:
        table.delete("n < 3")
        table.delete("n < 6")
        soon = datetime.now(UTC) + timedelta(hours=1)

        assert table.vacuum(now=soon).files.num_rows == 0


class TestConflicts:
    def test_are_about_files_whose_rows_another_marked(self, table: DeltaTable) -> None:
        plan = deletion(table.store, "n = 1").plan()
        table.delete("n = 2")
        before = bins(table)

        with pytest.raises(CommitConflictError) as caught:
            plan.carry_out()

        assert caught.value.kind == "file-removed"
        assert bins(table) == before
        assert numbers(table) == [0, 1, *range(3, 10)]

    def test_are_none_with_files_that_another_added(self, table: DeltaTable) -> None:
        plan = deletion(table.store, "n = 1").plan()
        table.append(pa.table({"n": [70]}))

        assert plan.carry_out().rebased_over == (2,)
        assert numbers(table) == [0, *range(2, 10), 70]


def test_peers_read_what_is_left(tmp_path: Path) -> None:
    place = str(tmp_path / "t")
    table = DeltaTable.create(place, SCHEMA, partition_by=["p"], properties=ON)
    table.append(pa.table({"n": range(1000), "p": ["x", "y"] * 500}))
    table.delete("n % 7 = 1 AND n < 900")
    table.update({"s": "'new'"}, "n = 2")

    peer = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(place))
    found = pa.table(peer.execute("SELECT n, s FROM t"))
    assert sorted(found["n"].to_pylist()) == numbers(table)
    assert sorted(found["s"].drop_null().to_pylist()) == ["new"]


def _change(table: DeltaTable, kind: str, low: int, high: int) -> CommitResult:
    where = f"n >= {low} AND n < {high}"
    if kind == "delete":
        return table.delete(where)
    if kind == "update":
        return table.update({"n": "n + 50"}, where)
    return table.optimize()


@settings(max_examples=examples(12))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["delete", "delete", "update", "update", "optimize"]),
            st.integers(0, 120),
            st.integers(0, 60),
        ),
        max_size=6,
    ),
    st.sets(st.integers(0, 5)),
)
def test_any_changes_leave_the_rows_of_a_list(changes, versions):
    table = TableBuilder().properties(ON).build()
    rows = list(range(60))
    table.append(pa.table({"n": rows[:25]}))
    table.append(pa.table({"n": rows[25:]}))
    seen = {table.latest_version(): sorted(rows)}
    for kind, low, width in changes:
        held = [low <= n < low + width for n in rows]
        if kind == "delete":
            rows = [n for n, hit in zip(rows, held, strict=True) if not hit]
        elif kind == "update":
            rows = [n + 50 * hit for n, hit in zip(rows, held, strict=True)]
        _change(table, kind, low, low + width)
        seen[table.latest_version()] = sorted(rows)

        assert numbers(table) == sorted(rows)
    for version in versions & seen.keys():
        table.restore(version=version)
        assert numbers(table) == seen[version]


def test_what_is_written_and_not_committed_is_taken_back(table, monkeypatch):
    assert isinstance(table.store, MemoryTableStore)
    before = dict(table.store.data_files)
    put = table.store.put_data_file

    def fail_after(path: str, data: bytes) -> None:
        put(path, data)
        if path.endswith(".bin"):
            raise ZeroDivisionError

    monkeypatch.setattr(table.store, "put_data_file", fail_after)
    with pytest.raises(ZeroDivisionError):
        table.update({"s": "'x'"}, "n = 1")

    assert table.store.data_files == before
