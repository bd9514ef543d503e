"""What a delete or an update would do is found by doing all of it but writing."""

from collections.abc import Callable

import pyarrow as pa
import pytest

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.writing.errors import (
    AppendOnlyError,
    CommitConflictError,
    ConstraintViolatedError,
)
from deltaweb.table import DeltaTable
from tests.support.logs.spelled_partitions import append_spelled
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import ROWS, SCHEMA, TableBuilder, numbers

# Three rows, partitioned by p: two in x, one in y.
TABLE = TableBuilder().partitioned_by("p").rows(ROWS)


def num_data_files(table: DeltaTable) -> int:
    return sum(len(some) for some in table.store.list_data_files())


def stop_at(last: int) -> Callable[[int, int], None]:
    """Progress that is cancelled at a file."""

    def progress(done: int, _total: int) -> None:
        if done == last:
            raise InterruptedError

    return progress


class TestADryRun:
    def test_counts_rows_and_files_and_writes_nothing(self, table: DeltaTable) -> None:
        files = num_data_files(table)

        plan = table.plan_delete("n = 1")

        assert plan.outcome.num_rows == 1
        assert plan.outcome.num_copied_rows == 1
        assert plan.outcome.removed.num_rows == 1
        assert plan.outcome.written.added.num_rows == 0
        assert plan.before.to_pylist() == [{"n": 1, "s": "a", "p": "x"}]
        assert plan.after is None
        assert (table.latest_version(), num_data_files(table)) == (1, files)

    def test_shows_rows_before_and_after(self, table: DeltaTable) -> None:
        plan = table.plan_update({"n": "n * 10"}, "n <> 2")

        assert plan.before["n"].to_pylist() == [1, 3]
        assert plan.after is not None
        assert plan.after["n"].to_pylist() == [10, 30]

    def test_shows_rows_of_files_that_go_unopened(self, table: DeltaTable) -> None:
        plan = table.plan_delete("p = 'x'")

        assert plan.before["n"].to_pylist() == [1, 3]
        assert plan.outcome.num_rows == 2

    def test_tells_what_is_concerned_of_each_partition(self, table: DeltaTable) -> None:
        table.append(pa.table({"n": [5], "s": ["e"], "p": pa.nulls(1, pa.string())}))

        shares = table.plan_delete("n > 0").by_partition().to_pylist()

        assert [share["partition"] for share in shares] == ["p=x", "p=NULL", "p=y"]
        assert [share["num_rows"] for share in shares] == [2, 1, 1]
        assert all(share["num_files"] == 1 for share in shares)
        assert all(share["size_bytes"] > 0 for share in shares)

    def test_puts_one_partition_together_whatever_its_texts(self) -> None:
        rows = pa.table({"n": [1], "p": pa.array([7], pa.int32())})
        table = TableBuilder().columns(rows.schema).partitioned_by("p").build()
        for text in ("7", "07"):
            append_spelled(table, rows, p=text)

        (share,) = table.plan_delete().by_partition().to_pylist()

        assert (share["partition"], share["num_files"]) == ("p=7", 2)

    def test_names_partitions_as_a_table_of_mapped_columns_does(self) -> None:
        table = TABLE.property("delta.columnMapping.mode", "name").build()

        shares = table.plan_delete().by_partition()

        assert shares["partition"].to_pylist() == ["p=x", "p=y"]

    def test_has_one_share_where_there_are_no_partitions(self) -> None:
        table = TableBuilder().rows(ROWS).build()

        shares = table.plan_delete().by_partition()

        assert shares["partition"].to_pylist() == [""]
        assert shares["num_rows"].to_pylist() == [3]

    def test_of_no_row_has_nothing(self, table: DeltaTable) -> None:
        plan = table.plan_update({"n": "1"}, "n = 99")

        assert plan.outcome.num_rows == 0
        assert plan.by_partition().num_rows == 0
        assert plan.before.schema.names == ["n", "s", "p"]

    def test_shows_no_more_than_twenty_rows(self) -> None:
        table = TableBuilder().rows(n=range(50)).build()

        assert table.plan_delete("n >= 3").before["n"].to_pylist() == [*range(3, 23)]

    def test_refuses_what_the_run_refuses(self, table: DeltaTable) -> None:
        with pytest.raises(ColumnNotFoundError):
            table.plan_update({"nothing": "1"})
        only_grows = TableBuilder().property("delta.appendOnly").build()
        with pytest.raises(AppendOnlyError):
            only_grows.plan_delete()
        builder = TableBuilder().property("delta.constraints.small", "n < 9").rows(ROWS)
        ruled = builder.build()
        with pytest.raises(ConstraintViolatedError, match="small"):
            ruled.plan_update({"n": "n * 5"})

    def test_counts_rows_of_files_without_statistics(self, table: DeltaTable) -> None:
        bare = TABLE.property("delta.dataSkippingNumIndexedCols", "0").build()

        assert bare.plan_delete("p = 'x'").outcome.num_rows == 2
        assert table.plan_delete("p = 'x'").outcome.num_rows == 2


class TestCarryingOut:
    def test_does_what_was_planned(self, table: DeltaTable) -> None:
        plan = table.plan_update({"n": "n * 10"}, "n = 3")

        result = plan.carry_out(user_name="eve")

        assert numbers(table) == [1, 2, 30]
        assert result.metrics["numUpdatedRows"] == plan.outcome.num_rows
        assert result.metrics["numCopiedRows"] == plan.outcome.num_copied_rows
        assert result.num_removed_files == plan.outcome.removed.num_rows
        commit_info = table.read_commit(2)[0]["commitInfo"]
        assert commit_info["userName"] == "eve"

    def test_deletes_whole_files_and_parts(self, table: DeltaTable) -> None:
        table.append(pa.table({"n": [7], "s": ["z"], "p": ["z"]}))

        table.plan_delete("p = 'x'").carry_out()
        table.plan_delete("n > 2").carry_out()

        assert numbers(table) == [2]

    def test_gives_way_to_who_changed_a_file_since(self, table: DeltaTable) -> None:
        plan = table.plan_delete("n = 1")
        table.update({"s": "'new'"}, "n = 3")

        with pytest.raises(CommitConflictError):
            plan.carry_out()

        assert numbers(table) == [1, 2, 3]

    def test_that_is_stopped_leaves_nothing(self) -> None:
        table = TableBuilder().build()
        for n in range(3):
            table.append(pa.table({"n": [n, 10]}))
        assert isinstance(table.store, MemoryTableStore)

        with pytest.raises(InterruptedError):
            table.delete("n < 3", on_progress=stop_at(2))
        with pytest.raises(InterruptedError):
            table.plan_update({"n": "0"}, on_progress=stop_at(1))

        assert num_data_files(table) == 3
        assert table.latest_version() == 3


def test_new_values_that_are_too_much_at_once_are_made_in_parts(monkeypatch):
    builder = TableBuilder().columns(SCHEMA)
    table = builder.rows(n=range(100), s=["ab"] * 100, p=["x"] * 100).build()
    for module in ("bounds", "condition"):
        monkeypatch.setattr(f"deltaweb.expressions.{module}.MADE_BYTES", 100)

    table.update({"s": "concat(s, 'c', s)"}, "n >= 10")

    found = table.snapshot().read()
    assert found["n"].to_pylist() == [*range(100)]
    assert found["s"].to_pylist() == ["ab"] * 10 + ["abcab"] * 90
