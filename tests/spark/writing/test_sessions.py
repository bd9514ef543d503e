"""Sessions of other zones, and without ANSI mode: rows are chosen as Spark chooses."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.writing.errors import ConstraintViolatedError
from deltaweb.expressions.errors import ExpressionValueError
from deltaweb.table import DeltaTable
from tests.spark.settings_cases import (
    KOLKATA,
    NEW_YORK,
    ROWS,
    SCHEMA,
    by_id,
    frame,
    settings,
)
from tests.support import matrix

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Make = Callable[..., DeltaTable]
BY_FUNCTION = "write_table has Spark evaluate it"

SESSIONS = [("UTC", False), (NEW_YORK, True), (KOLKATA, False)]
CONDITIONS = [
    "ts >= '2024-03-10 00:00:00' AND id < 5",
    "NOT CAST(ts AS DATE) = DATE '2024-03-10' OR ts > w",
]
WITHOUT_ANSI = ["i IN ('01') OR l > 16777216F", "i + 1 > 0 OR w IN ('2024-03-10')"]


@pytest.fixture
def session(spark: "SparkSession", zone: str, ansi: bool):  # noqa: FBT001 (a parameter)
    """The shared session, with settings of each kind in turn."""
    with settings(spark, time_zone=zone, ansi=ansi):
        yield spark


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes a table of the rows, two a file; one for each partitioning."""
    folder = tmp_path_factory.mktemp("made")

    def make_table(*partition_by: str) -> Path:
        location = folder / ("_".join(partition_by) or "whole")
        if not location.exists():
            table = DeltaTable.create(str(location), SCHEMA, partition_by=partition_by)
            for start in range(0, ROWS.num_rows, 2):
                table.append(ROWS.slice(start, 2))
        return location

    return make_table


@pytest.fixture
def make(tmp_path: Path, made: Callable[..., Path]) -> Make:
    """Makes a table that may be changed."""

    def copied(*partition_by: str) -> DeltaTable:
        location = tmp_path / f"t{len(list(tmp_path.iterdir()))}"
        shutil.copytree(made(*partition_by), location)
        return DeltaTable(str(location))

    return copied


def ids(table: DeltaTable) -> list[int]:
    return sorted(table.snapshot().read(["id"])["id"].to_pylist())


def ids_of(rows: "DataFrame") -> list[int]:
    return sorted(row["id"] for row in rows.select("id").collect())


def conditions(session: "SparkSession") -> list[str]:
    is_ansi = session.conf.get("spark.sql.ansi.enabled") == "true"
    return CONDITIONS if is_ansi else [*CONDITIONS, *WITHOUT_ANSI]


@matrix("zone, ansi", SESSIONS, often=[(NEW_YORK, True)])
def test_rows_that_are_deleted_are_those_of_spark(session: "SparkSession", make: Make):
    from deltaweb.spark import delete_rows

    for where in conditions(session):
        table = make("day")
        gone = ids_of(frame(session).where(where))

        delete_rows(session, table.root, where)

        assert (where, ids(table)) == (where, [n for n in range(6) if n not in gone])


@matrix("zone, ansi", SESSIONS, often=[(KOLKATA, False)])
def test_rows_that_are_read_are_those_of_spark(session, made):
    from deltaweb.spark import read_table

    tables = [made("ts"), made("w", "i")]
    for where in conditions(session):
        wanted = ids_of(frame(session).where(where))

        for table in tables:
            found = ids_of(read_table(session, str(table), where=where))

            assert (where, found) == (where, wanted)


@matrix("zone, ansi", SESSIONS, often=[(NEW_YORK, True)])
def test_values_that_are_set_are_those_of_spark(session: "SparkSession", make: Make):
    from deltaweb.spark import merge_rows, update_rows

    values = {
        "ts": "TIMESTAMP '2024-03-10 12:00:00'",
        "w": "t.ts",
        "day": "CAST(t.ts AS DATE)",
        "i": "hour(t.ts)",
    }
    updated, merged = make(), make()
    rows = frame(session).alias("t")
    wanted = rows.selectExpr(
        *(
            f"CAST({values.get(name, name)} AS {kind}) {name}"
            for name, kind in rows.dtypes
        )
    ).toArrow()

    plain = {name: sql.replace("t.ts", "ts") for name, sql in values.items()}
    update_rows(session, updated.root, plain)
    merge = merge_rows(session, merged.root, rows.select("id"), "t.id = s.id")
    merge.when_matched_update(values).execute()

    assert by_id(updated.snapshot().read()) == by_id(wanted)
    assert by_id(merged.snapshot().read()) == by_id(wanted)


def test_what_overflows_is_null_or_an_error_as_the_session_says(spark, make):
    from deltaweb.spark import update_rows

    table = make()
    with settings(spark, ansi=False):
        update_rows(spark, table.root, {"i": "i DIV 0", "s": "CAST(l + l AS STRING)"})
        # What a column takes has its place in every mode.
        with pytest.raises(ExpressionValueError, match="not a valid int"):
            update_rows(spark, table.root, {"i": "l"}, "l > 1")
        with pytest.raises(ExpressionValueError, match="not a valid int"):
            update_rows(spark, table.root, {"i": "l - 1"}, "l > 1")

    read = table.snapshot().read(["i", "s"]).to_pydict()
    assert set(read["i"]) == {None}
    assert "-2" in read["s"]


def test_rows_take_the_place_of_those_of_a_condition_in_the_zone(spark, make):
    from deltaweb.spark import write_table

    table = make()
    where = "ts < '2024-03-10 00:00:00'"  # of New York: 02:00Z is, 12:00Z is not
    new = "7 id, TIMESTAMP '2024-03-09 23:00:00' ts"
    late = "8 id, TIMESTAMP '2024-03-10 01:00:00' ts"
    with settings(spark, time_zone=NEW_YORK):
        rows = spark.sql(f"SELECT {new}")
        write_table(rows, table.root, "overwrite", where=where)

        assert ids(table) == [1, 2, 4, 5, 7]
        with pytest.raises(ConstraintViolatedError, match="replaceWhere"):
            write_table(
                spark.sql(f"SELECT {late}"), table.root, "overwrite", where=where
            )
        with pytest.raises(Exception, match=BY_FUNCTION):
            rows.write.format("deltaweb").mode("overwrite").option(
                "replaceWhere", "id = 1 AND ts < '2024-03-10'"
            ).save(table.root)


def test_rules_and_generated_values_are_those_of_the_session(spark, tmp_path):
    from deltaweb.spark import merge_rows, register, update_rows, write_table

    made = {"delta.generationExpression": "CAST(ts AS DATE)"}
    schema = StructType(
        (
            StructField("id", PrimitiveType("integer")),
            StructField("ts", PrimitiveType("timestamp")),
            StructField("day", PrimitiveType("date"), metadata=made),
        )
    )
    rule = {"delta.constraints.late": "hour(ts) >= 20"}
    location = str(tmp_path / "t")
    table = DeltaTable.create(location, schema, properties=rule)
    register(spark)
    with settings(spark, time_zone=NEW_YORK):
        late = spark.sql("SELECT 1 id, TIMESTAMP '2024-03-10 22:00:00' ts")
        write_table(late, location)
        with pytest.raises(ConstraintViolatedError, match="late"):
            write_table(late.selectExpr("id", "ts - INTERVAL 3 HOURS ts"), location)
        with pytest.raises(Exception, match=BY_FUNCTION):
            late.write.format("deltaweb").mode("append").save(location)
        assert table.snapshot().read(["day"])["day"].to_pylist()[0].day == 10

        update_rows(spark, location, {"ts": "ts + INTERVAL 24 HOURS"})
        assert table.snapshot().read(["day"])["day"].to_pylist()[0].day == 11
        merge = merge_rows(spark, location, late, "t.id = s.id")
        merge.when_matched_update({"ts": "s.ts"}).execute()
        later = late.selectExpr("id + 1 id", "ts + INTERVAL 1 HOUR ts")
        merge = merge_rows(spark, location, later, "t.id = s.id")
        merge.when_not_matched_insert().execute()

    days = table.snapshot().read(["id", "day"]).sort_by("id")["day"].to_pylist()
    assert [day.day for day in days] == [10, 10]
