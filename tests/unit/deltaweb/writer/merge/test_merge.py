"""Merges, on tables in memory, beside a model, and beside `deltalake`."""

from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.writing.errors import (
    AppendOnlyError,
    CommitConflictError,
    ConstraintViolatedError,
    SchemaMismatchError,
    SourceColumnsError,
)
from deltaweb.expressions.errors import ExpressionError
from deltaweb.table import DeltaTable
from deltaweb.writer.merge.file_merge import MergeMatchedTwiceError
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import ROWS, TableBuilder

PAIRS = pa.schema([("k", pa.int64()), ("v", pa.int64())])
Pair = tuple[int | None, int | None]


def pairs(*rows: Pair) -> pa.Table:
    return pa.table({"k": [k for k, _ in rows], "v": [v for _, v in rows]}, PAIRS)


def table_of(*files: pa.Table, **properties: str) -> DeltaTable:
    table = TableBuilder().columns(PAIRS).properties(properties).build()
    for rows in files:
        table.append(rows)
    return table


def rows_of(table: DeltaTable) -> list[Pair]:
    rows = table.snapshot().read().to_pylist()
    return sorted(((row["k"], row["v"]) for row in rows), key=str)


class TestColumnsThatTheTableLacks:
    SOURCE = pa.table({"k": [1, 9], "v": [5, 6], "op": ["U", "I"], "w": [7, 8]})

    def test_are_not_lost_in_silence(self) -> None:
        table = table_of(pairs((1, 10)))
        merge = table.merge(self.SOURCE, on="t.k = s.k")

        for asked in (merge.when_matched_update(), merge.when_not_matched_insert()):
            with pytest.raises(SourceColumnsError) as caught:
                asked.execute()
            assert [*caught.value.misfits] == ["op", "w"]
        assert rows_of(table) == [(1, 10)]

    def test_may_say_what_becomes_of_rows(self) -> None:
        table = table_of(pairs((1, 10)))

        (
            table.merge(self.SOURCE.drop_columns("w"), on="t.k = s.k")
            .when_matched_delete("s.op = 'D'")
            .when_matched_update()
            .when_not_matched_insert()
            .execute()
        )

        assert rows_of(table) == [(1, 5), (9, 6)]

    def test_matter_nothing_where_columns_are_named(self) -> None:
        table = table_of(pairs((1, 10)))

        merge = table.merge(self.SOURCE, on="t.k = s.k")
        merge.when_matched_update({"v": "s.v"}).execute()

        assert rows_of(table) == [(1, 5)]


class TestClauses:
    def test_rows_change_go_and_come(self) -> None:
        table = table_of(pairs((1, 10), (2, 20)), pairs((3, 30)))

        result = (
            table.merge(pairs((1, 11), (2, None), (9, 90)), on="t.k = s.k")
            .when_matched_delete("s.v IS NULL")
            .when_matched_update({"v": "t.v + s.v"})
            .when_not_matched_insert()
            .execute()
        )

        assert rows_of(table) == [(1, 21), (3, 30), (9, 90)]
        metrics = result.metrics
        assert metrics["numSourceRows"] == 3
        assert metrics["numTargetRowsMatchedUpdated"] == 1
        assert metrics["numTargetRowsMatchedDeleted"] == 1
        assert metrics["numTargetRowsInserted"] == 1
        assert metrics["numTargetRowsCopied"] == 0
        assert metrics["numOutputRows"] == 2
        assert (result.num_removed_files, result.num_rows_updated) == (1, 1)
        said = table.history()[0]
        assert said.operation == "MERGE"

    def test_rows_that_the_source_lacks_change_or_go(self) -> None:
        table = table_of(pairs((1, 10), (2, 20), (3, 30)))

        result = (
            table.merge(pairs((1, 0)), on="t.k = s.k")
            .when_not_matched_by_source_delete("t.v > 20")
            .when_not_matched_by_source_update({"v": "t.v - 1"})
            .execute()
        )

        assert rows_of(table) == [(1, 10), (2, 19)]
        assert result.metrics["numTargetRowsNotMatchedBySourceDeleted"] == 1
        assert result.metrics["numTargetRowsNotMatchedBySourceUpdated"] == 1
        assert result.metrics["numTargetRowsCopied"] == 1

    def test_columns_that_an_insert_leaves_out_are_null(self) -> None:
        table = table_of()

        table.merge(pairs((1, 2)), on="t.k = s.k").when_not_matched_insert(
            {"K": "s.v * 2"}
        ).execute()

        assert rows_of(table) == [(4, None)]

    def test_the_first_clause_counts_whose_condition_is_true(self) -> None:
        table = table_of(pairs((1, 1), (2, 2), (3, None)))

        (
            table.merge(pairs((1, 0), (2, 0), (3, 0)), on="t.k = s.k")
            .when_matched_update({"v": "100"}, "t.v < 2")
            .when_matched_update({"v": "1 / (t.v - 1)"}, "t.v < 3")
            .execute()
        )

        assert rows_of(table) == [(1, 100), (2, 1), (3, None)]

    def test_partitions_take_the_rows_that_move(self) -> None:
        table = TableBuilder().partitioned_by("p").rows(ROWS).build()

        source = pa.table({"n": [1, 7], "s": ["z", "q"], "p": ["y", "w"]})
        table.merge(
            source, on="t.n = s.n"
        ).when_matched_update().when_not_matched_insert().execute()

        rows = table.snapshot().read(["n", "s"], "p = 'y'").to_pylist()
        assert sorted(row["n"] for row in rows) == [1, 2]

    def test_what_changes_nothing_makes_no_version(self) -> None:
        table = table_of(pairs((1, 1)))

        merge = table.merge(pairs((2, 2)), on="t.k = s.k").when_matched_delete()

        assert merge.execute().version == table.latest_version() == 1


class TestMatching:
    @pytest.mark.parametrize(
        "on",
        [
            "t.k = s.k",
            "s.k = t.k AND t.v <> s.v",
            "(t.k <=> s.k AND t.k IS NOT NULL)",
            "t.k + 0 = s.k",
        ],
    )
    def test_null_equals_nothing(self, on: str) -> None:
        table = table_of(pairs((None, 1), (1, 1)))

        table.merge(pairs((None, 5), (1, 5)), on=on).when_matched_update().execute()

        assert rows_of(table) == [(1, 5), (None, 1)]

    def test_an_unknown_condition_is_not_true(self) -> None:
        table = table_of(pairs((1, None), (2, 2)))

        table.merge(pairs((1, 5), (2, 5)), on="t.k = s.k").when_matched_delete(
            "t.v <> s.v"
        ).execute()

        assert rows_of(table) == [(1, None)]

    def test_a_row_that_matches_twice_is_refused(self) -> None:
        table = table_of(pairs((1, 1)))
        merge = table.merge(pairs((1, 2), (1, 3)), on="t.k = s.k")

        with pytest.raises(MergeMatchedTwiceError, match="'k': 1"):
            merge.when_matched_update().execute()
        assert rows_of(table) == [(1, 1)]
        merge.when_matched_update(condition="s.v = 2").execute()
        assert rows_of(table) == [(1, 2)]
        merge.when_not_matched_insert().execute()
        assert rows_of(table) == [(1, 2)]

    def test_a_row_that_matches_twice_is_deleted_once(self) -> None:
        table = table_of(
            pairs((1, 1), (2, 2)), **{"delta.enableChangeDataFeed": "true"}
        )
        source = pairs((1, 2), (1, 3), (9, 9))
        merge = table.merge(source, on="t.k = s.k").when_matched_delete()

        done = merge.when_not_matched_insert().execute()

        assert rows_of(table) == [(2, 2), (9, 9)]
        assert (done.num_rows_deleted, done.num_rows_inserted) == (1, 1)
        metrics = done.metrics
        assert metrics["numTargetRowsDeleted"] == 1
        assert metrics["numTargetRowsMatchedDeleted"] == 1
        changes = table.changes(done.version).read_all().to_pylist()
        assert sorted((row["_change_type"], row["k"]) for row in changes) == [
            ("delete", 1),
            ("insert", 9),
        ]

    @pytest.mark.parametrize("condition", ["s.v > 0", "TRUE"])
    def test_only_a_delete_of_all_that_matches_may_repeat(self, condition: str) -> None:
        table = table_of(pairs((1, 1)))
        merge = table.merge(pairs((1, 2), (1, 3)), on="t.k = s.k")
        deletes = merge.when_matched_delete(condition)

        for asked in (deletes, deletes.when_matched_delete()):
            with pytest.raises(MergeMatchedTwiceError):
                asked.execute()

        assert rows_of(table) == [(1, 1)]

    def test_keys_of_different_whole_numbers_match(self) -> None:
        table = table_of(pairs((1, 1)))
        source = pa.table(
            {"k": pa.array([1], pa.int8()), "v": pa.array([2], pa.int8())}
        )

        table.merge(source, on="t.k = s.k").when_matched_update().execute()

        assert rows_of(table) == [(1, 2)]


class TestFiles:
    @pytest.mark.parametrize("num_rows", [1, 1_000])
    def test_that_hold_no_key_of_the_source_are_not_opened(self, num_rows: int) -> None:
        table = table_of(pairs((1, 1), (2, 2)))
        assert isinstance(table.store, MemoryTableStore)
        table.store.data_files.clear()
        table.append(pairs((5, 5)))

        source = pairs(*((5 + k, 0) for k in range(num_rows)))
        table.merge(source, on="t.k = s.k").when_matched_update().execute()

        assert table.snapshot().read(predicate="k = 5")["v"].to_pylist() == [0]

    def test_that_others_change_meanwhile_matter_where_they_can_match(self) -> None:
        table = table_of(pairs((1, 1)), pairs((5, 5)))

        class Late:
            """Rows before which another writer is done."""

            def __arrow_c_stream__(self, requested: object = None) -> object:
                table.update({"v": "v + 1"}, "k = 1")
                return self.rows.__arrow_c_stream__(requested)

            def __init__(self, rows: pa.Table) -> None:
                self.rows = rows

        apart = table.merge(Late(pairs((5, 0))), on="t.k = s.k").when_matched_update()
        result = apart.execute()
        assert result.rebased_over == (3,)
        assert rows_of(table) == [(1, 2), (5, 0)]
        same = table.merge(Late(pairs((1, 0))), on="t.k = s.k").when_matched_update()
        with pytest.raises(CommitConflictError):
            same.execute()


class TestRefusals:
    def test_a_constraint_holds_for_what_is_written(self) -> None:
        table = table_of(pairs((1, 1)), **{"delta.constraints.c": "v > 0"})
        merge = table.merge(pairs((1, -1), (2, -1)), on="t.k = s.k")

        with pytest.raises(ConstraintViolatedError):
            merge.when_matched_update().execute()
        with pytest.raises(ConstraintViolatedError):
            merge.when_not_matched_insert().execute()

        assert rows_of(table) == [(1, 1)]
        assert isinstance(table.store, MemoryTableStore)
        assert sum(len(some) for some in table.store.list_data_files()) == 1

    def test_a_column_that_the_source_lacks_is_named(self) -> None:
        table = table_of(pairs((1, 1)))
        merge = table.merge(pa.table({"k": [1]}), on="t.k = s.k")

        for asked in (merge.when_matched_update(), merge.when_not_matched_insert()):
            with pytest.raises(
                SchemaMismatchError, match="missing in the source"
            ) as caught:
                asked.execute()
            assert [*caught.value.misfits] == ["v"]

    def test_what_does_not_fit_is_named(self) -> None:
        table = table_of(pairs((1, 1)))

        with pytest.raises(ColumnNotFoundError, match="nothing"):
            table.merge(pairs(), on="t.k = s.k").when_matched_update(
                {"nothing": "1"}
            ).execute()
        with pytest.raises(ExpressionError, match=r"s\.z|z"):
            table.merge(pairs(), on="t.k = s.z").when_matched_delete().execute()
        with pytest.raises(ExpressionError):
            table.merge(pairs(), on="t.k = s.k").when_not_matched_insert(
                {"k": "t.k"}
            ).execute()
        with pytest.raises(ValueError, match="say what to do with rows"):
            table.merge(pairs(), on="t.k = s.k").execute()

    def test_a_table_that_only_grows_takes_new_rows_alone(self) -> None:
        table = table_of(pairs((1, 1)), **{"delta.appendOnly": "true"})
        merge = table.merge(pairs((1, 5), (2, 2)), on="t.k = s.k")

        with pytest.raises(AppendOnlyError):
            merge.when_matched_update().execute()
        merge.when_not_matched_insert().execute()

        assert rows_of(table) == [(1, 1), (2, 2)]


# === Beside a model ===

small = st.one_of(st.none(), st.integers(0, 4))
some_rows = st.lists(st.tuples(small, small), max_size=6)


@given(
    files=st.lists(some_rows, max_size=3),
    source=st.lists(
        st.tuples(small, small), max_size=5, unique_by=lambda row: row[0] or -1
    ),
    on=st.sampled_from(["t.k = s.k", "t.k + 0 = s.k", "t.k = s.k AND t.v >= s.v"]),
)
def test_a_merge_does_what_dictionaries_would(files, source, on):
    table = table_of(*(pairs(*rows) for rows in files))
    (
        table.merge(pairs(*source), on=on)
        .when_matched_delete("s.v = 0")
        .when_matched_update({"v": "s.v"}, "t.v > 1")
        .when_not_matched_insert(condition="s.v <> 3")
        .when_not_matched_by_source_delete("t.v = 4")
        .execute()
    )

    expected: list[Pair] = []
    met = set()
    for k, v in (row for rows in files for row in rows):
        found = [
            other
            for other in source
            if k is not None
            and other[0] == k
            and (">=" not in on or not (v is None or other[1] is None or v < other[1]))
        ]
        met.update(found)
        if not found:
            if v != 4:
                expected.append((k, v))
        elif found[0][1] != 0:
            expected.append((k, found[0][1] if v is not None and v > 1 else v))
    expected += [
        row for row in source if row not in met and row[1] is not None and row[1] != 3
    ]
    assert rows_of(table) == sorted(expected, key=str)


# === Beside deltalake ===


@pytest.mark.parametrize("delete", [None, "s.v < 0"])
def test_rows_are_those_that_deltalake_leaves(tmp_path: Path, delete: str | None):
    first = pairs(*((k, k % 7) for k in range(100)), (None, 1))
    source = pairs(*((k, -k % 5 - 2) for k in range(50, 150)), (None, 2))
    mine, theirs = str(tmp_path / "mine"), str(tmp_path / "theirs")
    table = DeltaTable.create(mine, PAIRS)
    table.append(first)
    deltalake.write_deltalake(theirs, first)

    ours = table.merge(source, on="t.k = s.k")
    other: Any = deltalake.DeltaTable(theirs).merge(
        source, "t.k = s.k", source_alias="s", target_alias="t"
    )
    if delete:
        ours, other = (
            ours.when_matched_delete(delete),
            other.when_matched_delete(delete),
        )
    metrics = ours.when_matched_update().when_not_matched_insert().execute().metrics
    told = other.when_matched_update_all().when_not_matched_insert_all().execute()

    rows = rows_of(DeltaTable(theirs))
    assert rows_of(table) == rows
    assert rows_of(DeltaTable(mine)) == sorted(
        zip(
            *deltalake.DeltaTable(mine).to_pyarrow_table().to_pydict().values(),
            strict=True,
        ),
        key=str,
    )
    assert metrics["numTargetRowsInserted"] == told["num_target_rows_inserted"]
    assert metrics["numTargetRowsUpdated"] == told["num_target_rows_updated"]
    assert metrics["numTargetRowsDeleted"] == told["num_target_rows_deleted"]
