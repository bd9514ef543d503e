"""Deletes and updates by tasks: the same log and rows as in process."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import ColumnNotFoundError, DataFileRowsError
from deltaweb.delta.writing.errors import (
    AppendOnlyError,
    CommitConflictError,
    ConstraintViolatedError,
    UnsupportedWriteError,
)
from deltaweb.expressions.errors import ExpressionError
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from tests.spark.writing.changed_tables import (
    FEED,
    MAPPED,
    MARKS,
    ONLY_SPARK,
    Make,
    facts_of,
    make_table,
    numbers,
    rows_of,
    told,
    unreferenced,
    write_rule,
)
from tests.support import cases
from tests.support.files.lossy_files import written
from tests.support.tables.table_builder import TableBuilder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from deltaweb.delta.writing.transaction import CommitResult


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def make(name: str = "t", **properties: str) -> DeltaTable:
        return make_table(tmp_path / name, **properties)

    return make


PROPERTIES = {
    "plain": {},
    "feed": FEED,
    "marks": MARKS,
    "mapped, marks and feed": {**FEED, **MARKS, **MAPPED},
}


@pytest.fixture
def pair(make: Make, properties: dict[str, str]) -> tuple[DeltaTable, DeltaTable]:
    """Two tables that are alike."""
    return make("here", **properties), make("there", **properties)


@pytest.fixture
def delete(spark: "SparkSession") -> Callable[..., "CommitResult"]:
    from deltaweb.spark import delete_rows

    return lambda table, *asked: delete_rows(spark, table.root, *asked)


@pytest.fixture
def update(spark: "SparkSession") -> Callable[..., "CommitResult"]:
    from deltaweb.spark import update_rows

    return lambda table, *asked: update_rows(spark, table.root, *asked)


def check_alike(here: DeltaTable, there: DeltaTable) -> None:
    assert rows_of(there) == rows_of(here)
    if FEED.keys() <= here.definition().metadata.configuration.keys():
        assert told(there) == told(here)


class TestTheLogIsThatOfAChangeInProcess:
    @cases("properties", PROPERTIES, often={"feed", "mapped, marks and feed"})
    def test_when_rows_go_that_are_some_of_files(self, pair, delete):
        here, there = pair
        expected = here.delete("n in (1, 5, 9)")
        done = delete(there, "n in (1, 5, 9)")
        assert done.num_rows_deleted == expected.num_rows_deleted == 3
        check_alike(here, there)
        assert facts_of(there) == facts_of(here)

        # Of rows that are marked, more are marked; and by what only Spark knows.
        here.delete("n in (2, 6)")
        delete(there, f"{ONLY_SPARK} and n in (2, 6)")
        check_alike(here, there)

    @cases("properties", PROPERTIES, often={"plain", "mapped, marks and feed"})
    def test_when_columns_take_values(self, pair, update):
        here, there = pair
        asked = {"n": "n + 100", "S": "concat(s, p)"}
        here.update(asked, "n in (0, 7) or p = 'z'")
        done = update(there, asked, "n in (0, 7) or p = 'z'")
        assert done.num_rows_updated == 6
        check_alike(here, there)
        assert facts_of(there) == facts_of(here)

        here.update({"p": "concat('q', p)"}, "n < 103")
        update(there, {"p": "concat('q', p)"}, f"{ONLY_SPARK} and n < 103")
        check_alike(here, there)


class TestWholeFiles:
    def test_go_unopened(self, make: Make, delete: Callable[..., "CommitResult"]):
        table = make(**FEED)

        done = delete(table, "p = 'y'")

        assert (done.num_removed_files, done.num_rows_deleted) == (1, 4)
        assert not any("cdc" in one for one in table.read_commit(done.version or 0))
        assert numbers(table) == [0, 2, 3, 5, 6, 8, 9, 11]
        assert delete(table, "p = 'x' and n = 3").num_rows_deleted == 1
        assert told(table) == [("delete", 3, "s3", "x")]
        assert delete(table).num_rows_deleted == 7
        assert numbers(table) == []

    def test_and_a_condition_that_holds_for_none_makes_no_version(self, make, delete):
        table = make()
        assert delete(table, "n = 70").version == 1
        assert delete(table, f"not ({ONLY_SPARK})").version == 1


class TestRules:
    def test_rows_that_break_one_abort_the_change(self, make, update):
        table = make(**{"delta.constraints.small": "n < 50"})

        with pytest.raises(ConstraintViolatedError, match="small"):
            update(table, {"n": "n + 45"}, "p = 'x' or n > 8")
        with pytest.raises(ConstraintViolatedError, match="small") as caught:
            update(table, {"n": "n + 40 + length(soundex(s))"}, "n > 10")
        assert caught.value.rows == [{"n": 55, "s": "s11", "p": "z"}]
        assert numbers(table) == list(range(12))
        assert not unreferenced(table)

    def test_some_of_which_only_spark_evaluates(self, make, update):
        rule = "hash(n) <> hash(77L)"
        table = make()
        write_rule(table, rule)

        with pytest.raises(ConstraintViolatedError, match="hash") as caught:
            update(table, {"n": "77"}, "n = 4")
        assert caught.value.rows == [{"n": 77, "s": "s4", "p": "y"}]
        assert update(table, {"n": "78"}, "n = 4").num_rows_updated == 1

    def test_what_is_no_function_of_the_row_is_refused(self, make, delete, update):
        table = make()
        for where in ("rand() < 2", "nothing = 1", "n >", "no_such_function(n)"):
            with pytest.raises(ExpressionError):
                delete(table, where)
        for asked in ({"n": "rand()"}, {"n": "soundex(s)"}, {"s": "hash(n)"}):
            with pytest.raises(ExpressionError):
                update(table, asked)
        with pytest.raises(ColumnNotFoundError):
            update(table, {"more": "1"})
        assert table.latest_version() == 1

    def test_a_table_that_only_takes_rows_keeps_them(self, make, delete):
        table = make(**{"delta.appendOnly": "true"})
        with pytest.raises(AppendOnlyError):
            delete(table, "n = 1")

    def test_a_table_that_tracks_its_rows_is_left_to_a_process(self, make, delete):
        table = make(**{"delta.enableRowTracking": "true"})
        with pytest.raises(UnsupportedWriteError, match="rowTracking"):
            delete(table, "n = 1")
        assert table.latest_version() == 1


class TestADryRun:
    @pytest.mark.parametrize("more", ["", f" and {ONLY_SPARK}"], ids=["here", "spark"])
    def test_tells_what_is_then_done(self, spark, make, more):
        from deltaweb.spark.writing.rewrite.run import update

        table = make(**MARKS)
        place = TablePlace(table.root)
        expected = table.plan_update({"n": "-n"}, "n in (1, 2, 7)")

        plan = update(spark, place, {"n": "-n"}, f"n in (1, 2, 7){more}").plan()

        assert plan.outcome.num_rows == expected.outcome.num_rows == 3
        assert plan.by_partition().to_pylist() == expected.by_partition().to_pylist()
        assert _by_number(plan.before) == _by_number(expected.before)
        assert plan.after is not None
        assert sorted(plan.after["n"].to_pylist()) == [-7, -2, -1]
        assert table.latest_version() == 1
        assert plan.carry_out().version == 2
        assert numbers(table)[:4] == [-7, -2, -1, 0]

    def test_goes_on_from_what_a_process_has_found(self, spark, make):
        from deltaweb.spark.writing.rewrite.run import by_tasks
        from deltaweb.writer.rewrite.run import RowsAsked

        table = make()
        asked, place = RowsAsked(where="n in (1, 7)"), TablePlace(table.root)
        snapshot = asked.read(table.store)
        here = asked.here(table.store, snapshot)

        found = by_tasks(spark, place, asked, snapshot, here)

        assert found.snapshot is snapshot
        assert found.concerned is here.concerned
        assert found.plan().outcome.num_rows == here.plan().outcome.num_rows == 2

    def test_gives_way_to_who_changed_a_file_since(self, spark, make):
        from deltaweb.spark.writing.rewrite.run import deletion

        table = make()
        plan = deletion(spark, TablePlace(table.root), "n in (1, 7)").plan()
        table.delete("n = 1")

        with pytest.raises(CommitConflictError):
            plan.carry_out()
        assert not unreferenced(table)


def _by_number(rows: pa.Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rows.sort_by("n").to_pylist()
    return found


class TestMissingRows:
    """A file has fewer rows than the log says."""

    @pytest.fixture
    def table(self, tmp_path: Path) -> DeltaTable:
        rows = pa.table({"n": range(20), "s": ["x"] * 20})
        table = TableBuilder(tmp_path / "short").rows(rows).build()
        (file,) = (tmp_path / "short").glob("*.parquet")
        file.write_bytes(written(rows.slice(0, 19)))
        return table

    def test_stop_a_change(self, table, delete, update):
        with pytest.raises(DataFileRowsError, match="19 rows, but the log says 20"):
            delete(table, "n = 1")
        with pytest.raises(DataFileRowsError, match="19 rows, but the log says 20"):
            update(table, {"s": "soundex(s)"}, f"{ONLY_SPARK} and n = 1")

        assert table.latest_version() == 1
