"""Tables are laid out anew, and others read what we write and write what we read."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import polars as pl
import pyarrow as pa
import pytest

from deltaweb.delta.errors import ColumnNotFoundError, PredicateError
from deltaweb.table import DeltaTable
from deltaweb.writer.optimize import carry_out_optimize, plan_optimize
from tests.support.tables.table_builder import ROWS, TableBuilder, numbers

TABLE = TableBuilder().partitioned_by("p").rows(ROWS)


class TestOptimize:
    def test_small_files_become_one_a_partition(self, table: DeltaTable) -> None:
        for _ in range(3):
            table.append(ROWS)
        before = table.snapshot().read().sort_by("n")

        result = table.optimize()

        assert (result.num_added_files, result.num_removed_files) == (2, 8)
        assert table.snapshot().read().sort_by("n") == before
        changes = [a for a in table.read_commit(result.version or 0) if "add" in a]
        assert [action["add"]["dataChange"] for action in changes] == [False, False]
        assert table.optimize().version == result.version

    def test_a_condition_chooses_partitions(self, table: DeltaTable) -> None:
        table.append(ROWS)

        assert table.optimize("p = 'x'").num_removed_files == 2
        with pytest.raises(PredicateError, match="whole partitions"):
            table.optimize("n = 1")

    def test_rows_are_laid_out_by_columns(self) -> None:
        table = TableBuilder().rows(x=[3, 1, 2, None], y=["c", "a", "b", "d"]).build()

        table.optimize(cluster_by=["x"])

        assert table.snapshot().read()["x"].to_pylist() == [1, 2, 3, None]
        with pytest.raises(ColumnNotFoundError):
            table.optimize(cluster_by=["z"])

    def test_what_would_be_done_is_what_is_done(self, table: DeltaTable) -> None:
        for _ in range(3):
            table.append(ROWS)
        newest = table.latest_version()

        plan = plan_optimize(table.store)

        assert table.latest_version() == newest
        assert plan.removed.num_rows == 8
        assert [(one.values, one.num_files, one.num_after) for one in plan.partitions()]
        assert sum(one.num_after for one in plan.partitions()) == 2
        steps: list[tuple[int, int]] = []
        result = carry_out_optimize(
            table.store,
            plan,
            user_name="eve",
            on_progress=lambda done, total: steps.append((done, total)),
        )
        assert (result.num_added_files, result.num_removed_files) == (2, 8)
        assert steps == [(4, 8), (8, 8)]
        info = table.read_commit(result.version or 0)[0]["commitInfo"]
        assert info["userName"] == "eve"

    def test_rows_that_came_after_the_plan_stay_as_they_are(self, table: DeltaTable):
        table.append(ROWS)
        plan = plan_optimize(table.store, version=table.latest_version())
        table.append(ROWS)

        result = carry_out_optimize(table.store, plan)

        assert result.rebased_over == (3,)
        assert table.snapshot().num_files == 4
        assert table.snapshot().read().num_rows == 9

    def test_a_stopped_one_leaves_nothing(self, table: DeltaTable) -> None:
        table.append(ROWS)
        before = [*table.store.list_data_files()]

        def stop(_done: int, _total: int) -> None:
            raise InterruptedError

        with pytest.raises(InterruptedError):
            carry_out_optimize(
                table.store, plan_optimize(table.store), on_progress=stop
            )
        assert [*table.store.list_data_files()] == before

    def test_the_size_of_files_is_that_of_the_table(self) -> None:
        table = TableBuilder().partitioned_by("p").build()
        table.set_properties({"delta.targetFileSize": "500b"})
        for _ in range(2):
            table.append(ROWS)

        assert plan_optimize(table.store).target_bytes == 500
        assert not plan_optimize(table.store).bins


class TestOthers:
    """deltalake reads what we write, and we read and write on what it writes."""

    ROWS = pa.table(
        {
            "n": pa.array([1, None, -3], pa.int64()),
            "d": pa.array(
                [Decimal("-0.05"), Decimal("1.10"), None], pa.decimal128(20, 2)
            ),
            "s": pa.array(["a" * 40, "ä", None]),
            "t": pa.array([datetime(2026, 1, 1, 1, 2, 3, 456789, tzinfo=UTC)] * 3),
            "x": pa.array([1.5, -0.0, None]),
            "st": pa.array([{"a": 1, "b": "z"}, None, {"a": None, "b": "y"}]),
            "l": pa.array([[1, 2], [], None]),
            "p": pa.array(["a b/ö%=", None, "x"]),
        }
    )

    def test_they_read_our_rows_and_statistics(self, tmp_path: Path) -> None:
        place = str(tmp_path / "t")
        table = DeltaTable.create(place, self.ROWS.schema, partition_by=["p"])
        table.append(self.ROWS)

        theirs = deltalake.DeltaTable(place)

        ours = table.snapshot().read().sort_by("n").to_pylist()
        read = theirs.to_pyarrow_table().sort_by("n").to_pylist()
        assert self.plain(read) == self.plain(ours)
        assert self.plain(
            pl.read_delta(place).sort("n", nulls_last=True).to_dicts()
        ) == (self.plain(ours))
        actions: Any = pa.table(theirs.get_add_actions(flatten=True)).to_pylist()
        assert {action["partition.p"] for action in actions} == {"a b/ö%=", None, "x"}
        assert {action["min.d"] for action in actions} == {
            Decimal("-0.05"), Decimal("1.10"), None,
        }  # fmt: skip

    @staticmethod
    def plain(rows: list[dict[str, Any]]) -> list[str]:
        return sorted(repr(sorted(row.items())) for row in rows)

    def test_we_go_on_with_what_they_wrote(self, tmp_path: Path) -> None:
        place = str(tmp_path / "t")
        rows = pa.table({"n": [1, 2, 3], "p": ["x", "y", "x"]})
        deltalake.write_deltalake(place, rows, partition_by=["p"])
        deltalake.write_deltalake(place, rows, mode="append")
        theirs = deltalake.DeltaTable(place)
        theirs.delete("n = 2")
        theirs.optimize.compact()
        (
            theirs.merge(
                pa.table({"n": [3, 8], "p": ["x", "z"]}), "t.n = s.n", "s", "t"
            )
            .when_not_matched_insert_all()
            .when_matched_delete()
            .execute()
        )

        table = DeltaTable(place)
        assert numbers(table) == [1, 1, 8]
        table.append(rows)
        table.update({"n": "n + 100"}, "p = 'z'")
        table.delete("n = 1 AND p = 'x'")

        assert numbers(table) == [2, 3, 108]
        again = deltalake.DeltaTable(place).to_pyarrow_table()
        assert sorted(again["n"].to_pylist()) == [2, 3, 108]
