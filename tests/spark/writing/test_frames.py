"""DataFrames to tables and back: the same log and rows as in process."""

import json
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltalake
import pyarrow as pa
import pytest

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.writing.errors import (
    ConstraintViolatedError,
    LocationTakenError,
    SchemaMismatchError,
    UnsupportedWriteError,
)
from deltaweb.expressions.errors import ExpressionError
from deltaweb.table import DeltaTable
from tests.support import matrix
from tests.support.tables.table_builder import TableBuilder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaweb.delta.writing.transaction import CommitResult

Rows = Callable[[str], "DataFrame"]
ODD = (
    "select id n, concat('k', id % 2) p, if(id = 3, null, cast(id as double)) f, "
    "timestamp_seconds(id) t, timestamp_ntz'2024-02-29 12:00:00' tn, "
    "cast(id as decimal(12, 2)) d, date'2024-02-29' day, array(id, null) a, "
    "map('k', id) m, named_struct('x', id, 'y', 'é') st, binary('ab') b "
    "from range(0, 6, 1, 1)"
)


def write(frame: "DataFrame", *arguments: Any, **options: Any) -> "CommitResult":  # noqa: ANN401  # of write_table
    from deltaweb.spark import write_table

    return write_table(frame, *arguments, **options)


def numbers(location: Path) -> list[int]:
    return sorted(DeltaTable(str(location)).snapshot().read(["n"])["n"].to_pylist())


def log_of(location: Path, version: int) -> list[dict[str, Any]]:
    text = (location / f"_delta_log/{version:020}.json").read_text()
    return [json.loads(line) for line in text.splitlines()]


def facts_of(actions: list[dict[str, Any]]) -> dict[str, Any]:
    """What a log says that two writers of the same rows have to say alike."""
    adds = [action["add"] for action in actions if "add" in action]
    found: dict[str, Any] = {
        "adds": sorted(
            (
                sorted(add["partitionValues"].items()),
                json.loads(add["stats"]),
                add["dataChange"],
            )
            for add in adds
        )
    }
    for action in actions:
        if "protocol" in action:
            found["protocol"] = action["protocol"]
        if "metaData" in action:
            kept = ("schemaString", "partitionColumns", "configuration", "format")
            found["metaData"] = {key: action["metaData"][key] for key in kept}
    return found


@pytest.fixture
def sql(spark: "SparkSession") -> Rows:
    return spark.sql


@pytest.fixture(scope="module")
def written(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten rows of two partitions, a file each; no test changes them."""
    folder = tmp_path_factory.mktemp("written") / "t"
    rows = "select id n, id % 2 p, concat('s', id) s from range(0, 10, 1, 1)"
    write(spark.sql(rows), str(folder), partition_by=["p"])
    return folder


@pytest.fixture
def table(written: Path, tmp_path: Path) -> Path:
    """A copy of them that may be changed."""
    return Path(shutil.copytree(written, tmp_path / "t"))


def test_statistics_keep_as_much_of_texts_as_the_table_says(
    tmp_path: Path, sql: Rows
) -> None:
    place = tmp_path / "t"
    properties = {"delta.dataSkippingStringPrefixLength": "4"}
    schema = pa.schema([("s", pa.string())])
    table = TableBuilder(place).columns(schema).properties(properties).build()

    write(sql("select concat('zebra', id) s from range(0, 2, 1, 1)"), str(place))
    table.append(pa.table({"s": ["zebra0", "zebra1"]}))

    for version in (1, 2):
        (add,) = (a["add"] for a in log_of(place, version) if "add" in a)
        stats = json.loads(add["stats"])
        bounds = (stats["minValues"]["s"], stats["maxValues"]["s"])
        assert bounds == ("zebr", "zebr\x7f")


class TestTheLogIsThatOfAWriteInProcess:
    def test_when_a_table_is_made_and_appended_to(self, tmp_path: Path, sql: Rows):
        here, there = tmp_path / "here", tmp_path / "there"
        rows = sql(ODD)

        write(rows, str(there), partition_by=["p"])
        write(rows, str(there))

        from deltaweb.spark.writing.spark_types import frame_schema

        schema = frame_schema(rows.schema)
        arrow = rows.toArrow().cast(schema)
        TableBuilder(here).columns(schema).partitioned_by("p").rows(arrow).build()
        assert facts_of(log_of(there, 1)) == facts_of(log_of(here, 1))
        made = facts_of(log_of(there, 0))
        assert made == facts_of(log_of(here, 0)) | {"adds": made["adds"]}
        assert made["adds"] == facts_of(log_of(here, 1))["adds"]

    def test_and_others_read_the_same_rows(self, tmp_path: Path, sql: Rows) -> None:
        rows = sql(ODD)
        write(rows, str(tmp_path / "t"), partition_by=["p"])

        found = pa.table(deltalake.DeltaTable(str(tmp_path / "t")).to_pyarrow_table())

        expected = rows.toArrow().sort_by("n")
        assert found.sort_by("n").select(expected.column_names).to_pylist() == (
            expected.to_pylist()
        )

    def test_statistics_hold_what_spark_says_of_the_rows(self, table: Path) -> None:
        adds = [action["add"] for action in log_of(table, 0) if "add" in action]

        stats = {add["partitionValues"]["p"]: json.loads(add["stats"]) for add in adds}
        assert stats["1"]["minValues"] == {"n": 1, "s": "s1"}
        assert stats["1"]["maxValues"] == {"n": 9, "s": "s9"}
        assert stats["0"]["numRecords"] == 5


class TestModes:
    def test_rows_take_the_place_of_all_others(self, table: Path, sql: Rows) -> None:
        done = write(sql("select 1L n, 1L p, 'x' s"), str(table), "overwrite")

        assert numbers(table) == [1]
        assert (done.num_removed_files, done.num_rows_deleted) == (2, 10)

    def test_only_partitions_that_new_rows_are_in_go(self, table: Path, sql: Rows):
        rows = sql("select 100L n, 1L p, 'x' s")

        write(rows, str(table), "overwrite", dynamic=True)

        assert numbers(table) == [0, 2, 4, 6, 8, 100]

    def test_only_rows_of_a_condition_of_spark_alone_go(self, table: Path, sql: Rows):
        rows = sql("select 200L n, 0L p, 's4' s")

        done = write(
            rows,
            str(table),
            "overwrite",
            where="soundex(s) = soundex('s4') and hash(s) = hash('s4')",
        )

        assert numbers(table) == [0, 1, 2, 3, 5, 6, 7, 8, 9, 200]
        assert (done.num_rows_deleted, done.num_rows_copied) == (1, 4)

    def test_new_rows_have_to_satisfy_the_condition(self, table: Path, sql: Rows):
        rows = sql("select 200L n, 0L p, 's' s")

        with pytest.raises(ConstraintViolatedError, match="replaceWhere"):
            write(rows, str(table), "overwrite", where="hash(n) = hash(1L)")
        with pytest.raises(ConstraintViolatedError, match="replaceWhere"):
            write(rows, str(table), "overwrite", where="n = 1")

    def test_a_condition_of_chance_is_refused(self, table: Path, sql: Rows) -> None:
        rows = sql("select 200L n, 0L p, 's' s")

        with pytest.raises(ExpressionError, match="changes with each evaluation"):
            write(rows, str(table), "overwrite", where="rand() < 2")
        assert len(list(table.rglob("*.parquet"))) == 2

    def test_a_table_that_is_there_may_be_refused_or_left(self, table: Path, sql: Rows):
        with pytest.raises(LocationTakenError):
            write(sql("select 1L n"), str(table), "error")
        assert write(sql("select 1L n"), str(table), "ignore").version is None
        with pytest.raises(ValueError, match="upsert"):
            write(sql("select 1L n"), str(table), "upsert")


class TestRules:
    def test_every_column_that_does_not_fit_is_named(self, table: Path, sql: Rows):
        with pytest.raises(SchemaMismatchError) as caught:
            write(sql("select 'x' n, 1 p, 2 more"), str(table))
        assert set(caught.value.misfits) == {"n", "more"}

    def test_a_column_is_added_when_asked_for(self, table: Path, sql: Rows) -> None:
        write(sql("select 50L n, 1L p, 2.5d more"), str(table), merge_schema=True)

        snapshot = DeltaTable(str(table)).snapshot()
        assert snapshot.schema.names == ("n", "p", "s", "more")
        assert numbers(table)[-1] == 50

    def test_rows_that_break_a_rule_abort_the_write(self, tmp_path: Path, sql: Rows):
        rules = {
            "delta.constraints.small": "n < 5",
            "delta.constraints.told": "soundex(s) = soundex('s')",
        }
        location = str(tmp_path / "t")
        write(sql("select 1L n, 's' s"), location, properties=rules)

        with pytest.raises(ConstraintViolatedError, match="small") as caught:
            write(sql("select id n, 's' s from range(3, 8, 1, 2)"), location)
        assert caught.value.name == "small"
        with pytest.raises(ConstraintViolatedError, match="soundex") as caught:
            write(sql("select 2L n, 'other' s"), location)
        assert caught.value.rows == [{"n": 2, "s": "other"}]
        with pytest.raises(ConstraintViolatedError, match="told"):
            write(sql("select 2L n, null s"), location)
        assert numbers(tmp_path / "t") == [1]

    def test_a_table_that_numbers_its_rows_is_left_to_a_process(self, tmp_path, sql):
        columns = parse_columns_ddl("k BIGINT GENERATED ALWAYS AS IDENTITY, n BIGINT")
        TableBuilder(tmp_path / "t").columns(StructType(columns)).build()

        with pytest.raises(UnsupportedWriteError, match="identityColumns"):
            write(sql("select 1L n"), str(tmp_path / "t"))

    def test_what_an_application_noted_is_not_done_again(self, table: Path, sql: Rows):
        rows = sql("select 50L n, 1L p, 's' s")

        assert write(rows, str(table), txn=("app", 7)).version == 1
        assert write(rows, str(table), txn=("app", 7)).version is None
        assert numbers(table).count(50) == 1


class TestReading:
    def test_versions_and_columns_are_chosen(self, spark, table, sql):
        from deltaweb.spark import read_table

        write(sql("select 50L n, 1L p, 's' s"), str(table))

        old = read_table(spark, str(table), version=0, columns=["S", "n"])
        assert old.columns == ["s", "n"]
        assert old.count() == 10
        assert read_table(spark, str(table)).count() == 11
        with pytest.raises(ColumnNotFoundError):
            read_table(spark, str(table), columns=["nothing"])

    def test_a_condition_leaves_files_and_columns_unread(self, spark, table):
        from deltaweb.spark import read_table

        gone = next(table.glob("p=0/*.parquet"))
        gone.unlink()

        by_partition = "p = 1 and soundex(s) = 'S000' and n > 3"
        found = read_table(spark, str(table), columns=["n"], where=by_partition)
        assert found.columns == ["n"]
        assert sorted(row.n for row in found.collect()) == [5, 7, 9]
        by_statistics = read_table(spark, str(table), where="n in (9, 11)")
        assert [row.s for row in by_statistics.collect()] == ["s9"]
        with pytest.raises(Exception, match=gone.name):
            read_table(spark, str(table)).where("n = 9").collect()

    def test_the_format_reads_and_writes(self, spark, table, sql):
        from deltaweb.spark import register

        register(spark)
        rows = sql("select 50L n, 1L p, 's' s")
        rows.write.format("deltaweb").mode("append").save(str(table))
        replaced = rows.write.format("deltaweb").mode("overwrite")
        replaced.option("replaceWhere", "p = 1").save(str(table))

        assert numbers(table) == [0, 2, 4, 6, 8, 50]
        frame = spark.read.format("deltaweb").option("versionAsOf", 1).load(str(table))
        assert frame.count() == 11
        assert frame.schema.names == ["n", "p", "s"]


OF_ONE_ROW = (
    *("c > 5", "c = double('NaN')", "NOT c <= 5"),
    *("f > 5", "s.x > 5", "c < 2"),
)


@matrix("condition, writer", product(OF_ONE_ROW, ["in process", "by Spark"]))
def test_spark_finds_the_rows_of_a_nan_in_our_files(
    spark: "SparkSession", nan_tables: dict[str, str], condition: str, writer: str
) -> None:
    """Parquet's filters are pushed down, as Spark does by itself."""
    assert spark.conf.get("spark.sql.parquet.filterPushdown") == "true"
    files = spark.read.parquet(nan_tables[writer])

    assert files.where(condition).count() == 1


@pytest.fixture(scope="module")
def nan_tables(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory):
    """The same three rows, written by each engine."""
    frame = spark.sql(
        "select n, c, cast(c as float) f, named_struct('x', c) s from values "
        "(1, 1D), (2, double('NaN')), (3, 3D) as t(n, c)"
    )
    places = {name: str(tmp_path_factory.mktemp("nan") / "t") for name in "ab"}
    rows = pa.Table.from_batches(frame.coalesce(1).toArrow().to_batches())
    DeltaTable.create(places["a"], rows.schema).append(rows)
    write(frame.coalesce(1), places["b"])
    return {"in process": places["a"], "by Spark": places["b"]}
