"""Merges by tasks: the same log and rows as in process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.writing.errors import (
    AppendOnlyError,
    CommitConflictError,
    ConstraintViolatedError,
    UnsupportedWriteError,
)
from deltaweb.expressions.errors import ExpressionError
from deltaweb.table import DeltaTable
from deltaweb.writer.merge.builder import MergeBuilder
from deltaweb.writer.merge.file_merge import MergeMatchedTwiceError
from tests.spark.writing.changed_tables import (
    FEED,
    MAPPED,
    MARKS,
    ONLY_SPARK,
    SCHEMA,
    Make,
    facts_of,
    make_table,
    numbers,
    rows_of,
    told,
    unreferenced,
    write_rule,
)
from tests.support import by_turns, cases
from tests.support.tables.table_builder import TableBuilder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Merge = Callable[..., MergeBuilder]
Asked = Callable[[MergeBuilder], MergeBuilder]

PROPERTIES = {
    "plain": {},
    "feed": FEED,
    "mapped, marks and feed": {**FEED, **MARKS, **MAPPED},
}
SOURCE = pa.table(
    {
        "n": pa.array([1, 5, 7, 40, 41], pa.int32()),
        "S": ["new1", "new5", None, "new40", "new41"],
        "p": ["y", "z", "y", "w", "w"],
    }
)
"""Three rows match, and two are of a partition of their own."""


def upsert(merge: MergeBuilder) -> MergeBuilder:
    return merge.when_matched_update().when_not_matched_insert()


def every_clause(merge: MergeBuilder) -> MergeBuilder:
    return (
        merge.when_matched_delete("s.S is null")
        .when_matched_update({"s": "concat(t.s, s.S)"}, "t.n < 5 or s.n > 30")
        .when_not_matched_insert({"n": "s.n * 2", "p": "s.p"}, "s.n < 41")
        .when_not_matched_by_source_update({"n": "-t.n"}, "t.n = 3")
        .when_not_matched_by_source_delete("t.n > 9")
    )


ASKED = {
    "every clause": (every_clause, "s.n = t.n"),
    "upsert": (upsert, "t.n = s.n"),
}


def only_spark(merge: MergeBuilder) -> MergeBuilder:
    return (
        merge.when_matched_delete(f"s.S is null and {ONLY_SPARK.replace('n', 't.n')}")
        .when_matched_update({"s": "concat(t.s, soundex(s.S))"}, "t.n < 5")
        .when_not_matched_insert({"N": "s.n * 2", "p": "s.p"}, "s.n < 41")
        .when_not_matched_by_source_update({"n": "-t.n"}, "t.n = 3")
        .when_not_matched_by_source_delete("t.n > 9")
    )


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def make(name: str = "t", **properties: str) -> DeltaTable:
        return make_table(tmp_path / name, **properties)

    return make


@pytest.fixture
def pair(make: Make, properties: dict[str, str]) -> tuple[DeltaTable, DeltaTable]:
    """Two tables that are alike."""
    return make("here", **properties), make("there", **properties)


@pytest.fixture
def merge(spark: "SparkSession") -> Merge:
    from deltaweb.spark import merge_rows

    def merge(table: DeltaTable, source: pa.Table, on: str) -> MergeBuilder:
        return merge_rows(spark, table.root, spark.createDataFrame(source), on)

    return merge


def check_alike(here: DeltaTable, there: DeltaTable) -> None:
    assert rows_of(there) == rows_of(here)
    if FEED.keys() <= here.definition().metadata.configuration.keys():
        assert told(there) == told(here)


class TestTheLogIsThatOfAMergeInProcess:
    @by_turns({"properties": PROPERTIES, "asked, on": ASKED})
    def test_when_rows_change_go_and_come(self, pair, merge, asked, on):
        here, there = pair
        for table in pair:
            table.delete("n = 6")  # a file that is not new
        expected = asked(here.merge(SOURCE, on=on)).execute()
        done = asked(merge(there, SOURCE, on)).execute()

        assert done.version == expected.version
        assert done.num_rows_inserted == expected.num_rows_inserted
        check_alike(here, there)
        assert summed(there) == summed(here)

    @cases("properties", PROPERTIES)
    def test_when_several_rows_delete_one(self, pair, merge):
        here, there = pair
        source = pa.concat_tables([SOURCE.slice(0, 2)] * 3)
        others = "t.n = s.n and hash(t.n) = hash(t.n)"

        expected = here.merge(source, on="t.n = s.n").when_matched_delete().execute()
        done = merge(there, source, others).when_matched_delete().execute()

        assert done.num_rows_deleted == expected.num_rows_deleted == 2
        assert done.num_rows_copied == expected.num_rows_copied
        check_alike(here, there)

    def test_and_by_sql_that_only_spark_evaluates(self, make: Make, merge: Merge):
        properties = {**FEED, **MARKS, **MAPPED}
        here, there = make("here", **properties), make("there", **properties)
        asked = here.merge(SOURCE, on="t.n = s.n").when_matched_delete("s.S is null")
        asked = asked.when_matched_update({"s": "concat(t.s, 'N000')"}, "t.n < 5")
        asked = asked.when_not_matched_insert({"n": "s.n * 2", "p": "s.p"}, "s.n < 41")
        asked = asked.when_not_matched_by_source_update({"n": "-t.n"}, "t.n = 3")
        asked.when_not_matched_by_source_delete("t.n > 9").execute()

        only_spark(merge(there, SOURCE, "t.n = s.n")).execute()

        check_alike(here, there)


def summed(table: DeltaTable) -> tuple[Any, int]:
    """What the newest commit says; how rows are dealt to new files is the engine's."""
    facts = facts_of(table)
    operation, parameters, metrics, is_blind = json.loads(*facts["commitInfo"])
    metrics.pop("numTargetFilesAdded")
    return (operation, parameters, metrics, is_blind), len(facts["remove"])


class TestRowsOfTheSource:
    def test_that_match_one_of_the_table_twice_end_the_merge(self, make, merge):
        table = make()
        twice = pa.concat_tables([SOURCE, SOURCE.slice(0, 1)])

        with pytest.raises(MergeMatchedTwiceError, match="'s': 's1'"):
            upsert(merge(table, twice, "t.n = s.n")).execute()

        assert table.latest_version() == 1
        assert not unreferenced(table)
        first = merge(table, twice, "t.n = s.n")
        assert first.when_matched_delete("s.n = 5").execute().num_rows_deleted == 1

    def test_are_looked_at_once(self, spark: "SparkSession", make: Make) -> None:
        from pyspark.sql import functions as F  # noqa: N812

        from deltaweb.spark import merge_rows

        table = make()
        drawn = spark.range(40).select((F.rand() * 1000 + 12).cast("long").alias("n"))

        merged = merge_rows(spark, table.root, drawn, "t.n = s.n")
        done = merged.when_not_matched_insert({"n": "s.n"}).execute()

        assert done.metrics["numSourceRows"] == done.num_rows_inserted == 40
        assert len(numbers(table)) == 52

    def test_meet_every_row_where_nothing_is_held_equal(self, make: Make, merge: Merge):
        table = make()
        bounds = pa.table({"low": [2, 100], "high": [4, 200]})

        merged = merge(table, bounds, "t.n between s.low and s.high")
        insert = {"n": "s.low"}
        merged.when_matched_delete().when_not_matched_insert(insert).execute()

        assert numbers(table) == [0, 1, 5, 6, 7, 8, 9, 10, 11, 100]

    def test_that_change_nothing_make_no_version(self, make: Make, merge: Merge):
        table = make()
        none = merge(table, SOURCE.slice(0, 0), "t.n = s.n")
        assert upsert(none).execute().version == 1
        more = merge(table, SOURCE, "t.n = s.n and t.p = 'q'").when_matched_delete()
        assert more.execute().version == 1


class TestFilesThatCannotMatch:
    def test_are_not_opened(self, tmp_path: Path, merge: Merge) -> None:
        builder = TableBuilder(tmp_path).columns(SCHEMA)
        for n in range(0, 30, 10):
            builder = builder.rows(n=range(n, n + 10), s=["a"] * 10, p=["p"] * 10)
        table = builder.build()
        paths = table.snapshot().files["path"].to_pylist()
        for path, low in zip(paths, range(0, 30, 10), strict=True):
            if low != 10:
                (tmp_path / path).write_bytes(b"no Parquet")

        few = pa.table({"n": [12, 13]})
        merge(table, few, "t.n = s.n").when_matched_delete().execute()
        many = pa.table({"n": [14] * 300})
        again = merge(table, many, "t.n = s.n")
        with pytest.raises(MergeMatchedTwiceError):
            again.when_matched_delete("t.n > 0").execute()

        assert table.latest_version() == 4


class TestRules:
    def test_rows_that_break_one_abort_the_merge(self, make: Make, merge: Merge):
        table = make(**{"delta.constraints.small": "n < 41"})

        with pytest.raises(ConstraintViolatedError, match="small"):
            upsert(merge(table, SOURCE, "t.n = s.n")).execute()

        assert table.latest_version() == 1
        assert not unreferenced(table)

    def test_some_of_which_only_spark_evaluates(self, make: Make, merge: Merge) -> None:
        table = make()
        write_rule(table, "hash(n) <> hash(40L)")

        with pytest.raises(ConstraintViolatedError, match="hash") as caught:
            upsert(merge(table, SOURCE, "t.n = s.n")).execute()
        assert caught.value.rows == [{"n": 40, "s": "new40", "p": "w"}]
        some = merge(table, SOURCE, "t.n = s.n")
        done = some.when_not_matched_insert(condition="s.n <> 40").execute()
        assert done.num_rows_inserted == 1

    def test_what_cannot_be_asked_is_refused(self, make: Make, merge: Merge) -> None:
        table = make()
        for on in ("t.n = rand()", "n = 1", "t.n = s.nothing", "t.n ="):
            with pytest.raises(ExpressionError):
                upsert(merge(table, SOURCE, on)).execute()
        fitting = merge(table, SOURCE, "t.n = s.n")
        for asked in (
            fitting.when_matched_update({"n": "soundex(s.S)"}),
            fitting.when_not_matched_insert({"n": "hash(t.n)"}),
            fitting.when_not_matched_by_source_delete("hash(s.n) = 1"),
        ):
            with pytest.raises(ExpressionError):
                asked.execute()
        with pytest.raises(ColumnNotFoundError):
            fitting.when_matched_update({"more": "1"}).execute()
        with pytest.raises(ValueError, match="say what to do with rows"):
            fitting.execute()
        assert table.latest_version() == 1

    def test_of_a_table_hold_for_its_merges(self, make: Make, merge: Merge) -> None:
        kept = make("kept", **{"delta.appendOnly": "true"})
        tracked = make("tracked", **{"delta.enableRowTracking": "true"})

        with pytest.raises(AppendOnlyError):
            upsert(merge(kept, SOURCE, "t.n = s.n")).execute()
        added = merge(kept, SOURCE, "t.n = s.n").when_not_matched_insert()
        assert added.execute().num_rows_inserted == 2
        with pytest.raises(UnsupportedWriteError, match="rowTracking"):
            upsert(merge(tracked, SOURCE, "t.n = s.n")).execute()

    def test_new_rows_that_a_table_numbers_are_left_to_a_process(self, tmp_path, merge):
        columns = parse_columns_ddl("k BIGINT GENERATED ALWAYS AS IDENTITY, n BIGINT")
        table = DeltaTable.create(str(tmp_path), StructType(columns))

        numbered = merge(table, SOURCE, "t.n = s.n")
        with pytest.raises(UnsupportedWriteError, match="identityColumns"):
            numbered.when_not_matched_insert({"n": "s.n"}).execute()
        assert numbered.when_matched_delete().execute().version == 0


class TestAnotherWriter:
    def test_that_changed_a_file_since_makes_the_merge_give_way(
        self, spark: "SparkSession", make: Make, merge: Merge
    ) -> None:
        from deltaweb.spark.writing.merge.run import MergeOnSpark
        from deltaweb.storage.place import TablePlace

        table = make()
        asked = upsert(merge(table, SOURCE, "t.n = s.n"))
        told: list[int] = []

        def disturb(done: int, total: int) -> None:
            if not told:
                table.delete("n = 1")
            told.append(done + total)

        there = MergeOnSpark(
            spark=spark,
            place=TablePlace(table.root),
            source=spark.createDataFrame(SOURCE),
            on="t.n = s.n",
            clauses=asked.clauses,
        )

        with pytest.raises(CommitConflictError):
            there.commit(disturb)
        assert told
        assert not unreferenced(table)
