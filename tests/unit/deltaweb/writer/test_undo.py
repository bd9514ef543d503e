"""A commit is undone: its rows go, those that it removed return, later ones stay."""

from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.errors import VersionNotFoundError
from deltaweb.delta.protocol.actions import SetTransaction
from deltaweb.delta.writing.errors import AppendOnlyError, UndoRefusedError
from deltaweb.delta.writing.operations.undo import plan_undo
from deltaweb.table import DeltaTable
from deltaweb.writer.undo import carry_out_undo
from tests.support.conditions.drawn_examples import examples
from tests.support.tables.table_builder import TableBuilder, numbers
from tests.support.tables.tracked_rows import TRACKED, known_by, rows

pytestmark = pytest.mark.slow

MARKS = {"delta.enableDeletionVectors": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}
FEED = {"delta.enableChangeDataFeed": "true"}
# Version 1 has 0 to 5 in three partitions, and version 2 has 6 and 7.
TABLE = (
    TableBuilder()
    .partitioned_by("p")
    .rows(
        pa.table({"n": range(6), "s": list("abcdef"), "p": list("xxxyyz")}),
        pa.table({"n": [6, 7], "s": list("gh"), "p": list("xz")}),
    )
)
KINDS = [{}, MARKS, {**MAPPED, **MARKS}]
KIND_NAMES = ["plain", "marks", "mapped"]


@pytest.fixture(params=KINDS, ids=KIND_NAMES)
def table(request: pytest.FixtureRequest) -> DeltaTable:
    return TABLE.properties(request.param).build()


@pytest.fixture(params=KINDS, ids=KIND_NAMES)
def fed(request: pytest.FixtureRequest) -> DeltaTable:
    return TABLE.properties({**request.param, **FEED}).build()


def content(table: DeltaTable, version: int | None = None) -> list[tuple[Any, ...]]:
    read = table.snapshot(version).read().to_pylist()
    return sorted(tuple(row.values()) for row in read)


def refusal(table: DeltaTable, version: int) -> str:
    """The kind of refusal; it names the version, and nothing is committed."""
    before = table.latest_version()
    with pytest.raises(UndoRefusedError) as caught:
        table.undo(version)
    assert f"Version {version} cannot be undone: " in caught.value.message
    assert table.latest_version() == before
    return caught.value.kind


def told(table: DeltaTable, version: int) -> list[tuple[Any, ...]]:
    changes = table.changes(version, version).read_all().to_pylist()
    return sorted((row["_change_type"], row["n"], row["s"]) for row in changes)


class TestTheNewestCommit:
    @pytest.mark.parametrize("where", ["n = 1", "p = 'x'", "n > 0"])
    def test_rows_that_it_deleted_return(self, table: DeltaTable, where: str) -> None:
        table.delete(where)

        result = table.undo(3)

        assert result.version == 4
        assert content(table) == content(table, 2)
        assert table.read_commit(4)[0]["commitInfo"]["operation"] == "RESTORE"

    def test_rows_that_it_updated_are_as_they_were(self, table: DeltaTable) -> None:
        table.update({"s": "'new'"}, "n IN (0, 7)")

        table.undo(3)

        assert content(table) == content(table, 2)

    def test_columns_that_it_added_go(self, table: DeltaTable) -> None:
        table.append(
            pa.table({"n": [8], "s": ["i"], "p": ["x"], "new": [1]}), merge_schema=True
        )

        table.undo(3)

        assert table.snapshot().schema.names == ("n", "s", "p")
        assert content(table) == content(table, 2)

    def test_undone_commits_are_undone_one_after_the_other(
        self, table: DeltaTable
    ) -> None:
        table.delete("n = 1")
        table.update({"s": "'new'"}, "n = 3")

        table.undo(4)
        table.undo(3)

        assert content(table) == content(table, 2)

    def test_an_undo_is_undone(self, table: DeltaTable) -> None:
        table.delete("n = 1")
        table.undo(3)

        table.undo(4)

        assert content(table) == content(table, 3)

    def test_a_rearrangement_is_undone_as_one(self, table: DeltaTable) -> None:
        table.optimize()

        table.undo(3)

        assert content(table) == content(table, 2)
        actions = [*table.read_commit(4)]
        files = [a[k] for a in actions for k in ("add", "remove") if k in a]
        assert files
        assert not any(file["dataChange"] for file in files)


class TestAnOlderCommit:
    def test_rows_that_it_appended_go_and_later_ones_stay(
        self, table: DeltaTable
    ) -> None:
        result = table.undo(1)

        assert numbers(table) == [6, 7]
        info = table.read_commit(result.version or 0)[0]["commitInfo"]
        assert info["operation"] == "UNDO"
        assert info["operationParameters"] == {"version": "1"}

    def test_rows_that_it_deleted_return_beside_later_appends(
        self, table: DeltaTable
    ) -> None:
        table.delete("n = 1")
        table.append(pa.table({"n": [8], "s": ["i"], "p": ["y"]}))

        table.undo(3)

        assert numbers(table) == [*range(9)]

    def test_a_later_delete_of_other_files_does_not_keep_an_append(
        self, table: DeltaTable
    ) -> None:
        table.append(pa.table({"n": [8], "s": ["i"], "p": ["y"]}))
        table.delete("n = 1")

        table.undo(3)

        assert numbers(table) == [0, 2, 3, 4, 5, 6, 7]

    def test_a_later_change_of_its_rows_is_named(self, table: DeltaTable) -> None:
        table.update({"s": "'new'"}, "n = 6")

        assert refusal(table, 2) == "files-rewritten"
        assert "version 3 (UPDATE)" in str(table.plan_undo(2).refusal)

    def test_a_later_rearrangement_is_named(self, table: DeltaTable) -> None:
        table.optimize()

        assert refusal(table, 2) == "files-rewritten"
        assert "version 3 (OPTIMIZE) rewrote" in str(table.plan_undo(2).refusal)

    def test_the_first_of_later_changes_is_named_with_what_a_restore_reverts(
        self, table: DeltaTable
    ) -> None:
        table.update({"s": "'new'"}, "n = 6")
        table.update({"s": "'newer'"}, "n = 4")
        table.update({"s": "'newest'"}, "n = 6")

        found = table.plan_undo(2).refusal

        assert isinstance(found, UndoRefusedError)
        assert (found.later, found.restores) == (3, 1)
        assert "version 3 (UPDATE) removed or rewrote" in found.message
        assert found.hint == (
            "Restore version 1, which also reverts versions 3 to 5, or change the rows."
        )

    def test_rows_do_not_return_past_a_later_change_of_rows(
        self, table: DeltaTable
    ) -> None:
        table.delete("n = 1")
        table.update({"s": "'new'"}, "n = 5")

        assert refusal(table, 3) == "later-change"
        assert "version 4 (UPDATE)" in str(table.plan_undo(3).refusal)

    def test_rows_return_past_a_later_rearrangement_of_others(
        self, table: DeltaTable
    ) -> None:
        table.delete("p = 'x'")
        table.optimize()

        table.undo(3)

        assert numbers(table) == [*range(8)]

    def test_rows_do_not_return_past_a_new_constraint(self, table: DeltaTable) -> None:
        table.delete("n < 3")
        table.add_constraint("many", "n >= 3", upgrade=True)

        assert refusal(table, 3) == "definition"

    def test_rows_return_where_columns_were_added(self, table: DeltaTable) -> None:
        table.delete("n = 1")
        table.add_columns([pa.field("new", pa.int64())])

        table.undo(3)

        assert numbers(table) == [*range(8)]
        assert set(table.snapshot().read()["new"].to_pylist()) == {None}

    def test_a_change_of_properties_is_only_undone_while_it_is_the_newest(
        self, table: DeltaTable
    ) -> None:
        table.set_properties({"owner": "eve"})
        table.append(pa.table({"n": [8], "s": ["i"], "p": ["y"]}))

        assert refusal(table, 3) == "definition"
        found = str(table.plan_undo(3).refusal)
        assert "it changed the properties, and version 4 (WRITE) is based" in found

    def test_files_that_were_vacuumed_do_not_return(self, table: DeltaTable) -> None:
        table.delete("p = 'x'")
        for path in table.snapshot(2).files["path"].to_pylist():
            if "=x/" in path:
                table.store.delete_data_file(path)
        table.append(pa.table({"n": [8], "s": ["i"], "p": ["y"]}))

        assert refusal(table, 3) == "files-missing"


class TestWhatIsNeverUndone:
    def test_the_commit_that_made_the_table(self, table: DeltaTable) -> None:
        assert refusal(table, 0) == "first-version"

    def test_a_version_that_does_not_exist(self, table: DeltaTable) -> None:
        with pytest.raises(VersionNotFoundError):
            table.undo(9)

    def test_an_append_to_a_table_that_only_takes_new_rows(self) -> None:
        table = TABLE.property("delta.appendOnly").build()

        with pytest.raises(AppendOnlyError):
            table.undo(2)

        assert numbers(table) == [*range(8)]

    def test_a_commit_that_changed_nothing(self, table: DeltaTable) -> None:
        table.vacuum(dry_run=False, record_in_history=True)

        assert refusal(table, 3) == "nothing"


class TestTheChangeDataFeed:
    def test_tells_the_reverse_of_an_update(self, fed: DeltaTable) -> None:
        fed.update({"s": "'new'"}, "n IN (0, 7)")

        fed.undo(3)

        assert told(fed, 4) == [
            ("update_postimage", 0, "a"),
            ("update_postimage", 7, "h"),
            ("update_preimage", 0, "new"),
            ("update_preimage", 7, "new"),
        ]
        assert content(fed) == content(fed, 2)

    def test_tells_the_reverse_of_a_merge(self, fed: DeltaTable) -> None:
        source = pa.table({"n": [1, 9], "s": ["m", "m"], "p": ["x", "y"]})
        merge = fed.merge(source, on="t.n = s.n")
        merge.when_matched_update().when_not_matched_insert().execute()
        fed.append(pa.table({"n": [8], "s": ["i"], "p": ["y"]}))

        fed.undo(3)

        assert told(fed, 5) == [
            ("delete", 9, "m"),
            ("update_postimage", 1, "b"),
            ("update_preimage", 1, "m"),
        ]
        assert numbers(fed) == [*range(9)]

    @pytest.mark.parametrize("where", ["n = 1", "p = 'x'"])
    def test_tells_only_rows_that_return(self, fed: DeltaTable, where: str) -> None:
        fed.delete(where)
        gone = [row[1:] for row in told(fed, 3)]

        fed.undo(3)

        assert told(fed, 4) == [("insert", *row) for row in gone]

    def test_tells_rows_of_an_append_as_deleted(self, fed: DeltaTable) -> None:
        fed.undo(2)

        assert told(fed, 3) == [("delete", 6, "g"), ("delete", 7, "h")]

    def test_leaves_no_file_of_an_undo_that_lost(self, fed: DeltaTable) -> None:
        fed.update({"s": "'new'"}, "n = 0")
        plan = fed.plan_undo(3)
        fed.update({"s": "'newer'"}, "n = 0")
        before = _change_data(fed)

        with pytest.raises(Exception, match="conflicts with version 4"):
            carry_out_undo(fed.store, plan)

        assert _change_data(fed) == before


def _change_data(table: DeltaTable) -> list[str]:
    paths = [p for some in table.store.list_data_files() for p in some.to_pylist()]
    return sorted(path for path in paths if "_change_data" in path)


@pytest.mark.parametrize("kind", [{}, MARKS], ids=["plain", "marks"])
def test_rows_return_with_the_ids_that_they_had(kind: dict[str, str]) -> None:
    table = TRACKED.properties(kind).rows(rows(1, 2, 3, 4), rows(5, 6)).build()
    before = known_by(table)
    table.delete("k IN (2, 5)")
    table.append(rows(7))

    table.undo(3)

    known = known_by(table)
    assert {k: known[k] for k in before} == before


def test_numbers_of_an_identity_column_are_not_given_twice() -> None:
    table = (
        TableBuilder()
        .columns("id BIGINT GENERATED ALWAYS AS IDENTITY, n BIGINT")
        .build()
    )
    for n in range(3):
        table.append(pa.table({"n": [n]}))

    table.undo(2)
    table.undo(3)
    table.append(pa.table({"n": [9]}))

    ids = {row["n"]: row["id"] for row in table.snapshot().read().to_pylist()}
    assert set(ids) == {0, 9}
    assert ids[9] > 3


def test_the_progress_of_a_stream_is_named(table: DeltaTable) -> None:
    table.append(pa.table({"n": [8], "s": ["i"], "p": ["y"]}), txn=("stream-a", 5))

    assert table.plan_undo(3).applications == ("stream-a",)


def test_an_undo_that_was_committed_before_is_not_repeated(table: DeltaTable) -> None:
    txn = SetTransaction(app_id="deltaweb:job", version=0)
    carry_out_undo(table.store, plan_undo(table.store, 2, txn=txn))

    again = plan_undo(table.store, 2, txn=txn)

    assert again.is_done
    assert carry_out_undo(table.store, again).attempts == 0
    assert (table.latest_version(), numbers(table)) == (3, [*range(6)])


STEPS = st.lists(
    st.sampled_from(["append", "delete", "delete all", "update", "optimize"]),
    min_size=2,
    max_size=5,
)


@given(STEPS, st.data(), st.sampled_from([{}, MARKS]))
@settings(max_examples=examples(25), deadline=None)
def test_an_undone_table_is_as_if_the_commit_had_never_been_made(
    steps: list[str], data: st.DataObject, kind: dict[str, str]
) -> None:
    """Every step is made on two tables, but for one on the second."""
    left_out = data.draw(st.integers(0, len(steps) - 1))
    table, other = (TABLE.properties(kind).build() for _ in range(2))
    made: list[int] = []
    for at, step in enumerate(steps):
        before = table.latest_version()
        _make(table, step, at)
        made.append(table.latest_version() if table.latest_version() > before else -1)
        if at != left_out:
            _make(other, step, at)
    if made[left_out] < 0:
        return
    plan = table.plan_undo(made[left_out])
    if plan.refusal is None:
        carry_out_undo(table.store, plan)
        assert content(table) == content(other)
    else:
        assert isinstance(plan.refusal, UndoRefusedError)


def _make(table: DeltaTable, step: str, at: int) -> None:
    if step == "append":
        table.append(pa.table({"n": [100 + at], "s": ["z"], "p": ["xyz"[at % 3]]}))
    elif step == "delete":
        table.delete(f"n % 5 = {at}")
    elif step == "delete all":
        table.delete("p = 'x'")
    elif step == "update":
        table.update({"s": f"concat(s, '{at}')"}, f"n % 3 = {at % 3}")
    else:
        table.optimize()


def test_another_reader_sees_the_reverse_changes(tmp_path: Path) -> None:
    place = tmp_path / "table"
    table = TABLE.properties(FEED).at(place).build()
    table.update({"s": "'new'"}, "n IN (0, 7)")
    table.append(pa.table({"n": [8], "s": ["i"], "p": ["y"]}))
    table.undo(3)

    other = deltalake.DeltaTable(str(place))
    feed = pa.table(other.load_cdf(starting_version=5, ending_version=5))
    seen = sorted((row["_change_type"], row["n"], row["s"]) for row in feed.to_pylist())

    assert seen == told(table, 5)
    assert len(seen) == 4
    assert sorted(pa.table(other.to_pyarrow_table())["n"].to_pylist()) == [*range(9)]
