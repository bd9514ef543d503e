"""Parts of values that may not be null, as Spark writes and merges them."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from deltaweb.delta.writing.errors import ConstraintViolatedError
from deltaweb.table import DeltaTable
from tests.spark.settings_cases import NEW_YORK, settings
from tests.support import cases
from tests.unit.deltaweb.writer.rows.test_row_checks import CASES, rows_of
from tests.unit.deltaweb.writer.test_unusual_types import LEAVES, NESTS, required

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def stream(frame: "DataFrame", table: DeltaTable) -> None:
    from deltaweb.spark import register

    spark, place = frame.sparkSession, Path(table.root)
    register(spark)
    source = place.with_name("source")
    frame.write.parquet(str(source))
    rows = spark.readStream.schema(frame.schema).parquet(str(source))
    writer = rows.writeStream.format("deltaweb").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(place.with_name("state")))
    query = writer.start(table.root)
    query.awaitTermination()


def write(frame: "DataFrame", table: DeltaTable, **asked: Any) -> None:  # noqa: ANN401  # of `write_table`
    from deltaweb.spark import write_table

    write_table(frame, table.root, **asked)


def merge(frame: "DataFrame", table: DeltaTable, on: str) -> None:
    from deltaweb.spark import merge_rows

    asked = merge_rows(frame.sparkSession, table.root, frame, on)
    asked.when_matched_update().when_not_matched_insert().execute()


VERBS = {
    "append": lambda frame, table: write(frame, table, mode="append"),
    "overwrite": lambda frame, table: write(frame, table, mode="overwrite"),
    "replace where": lambda frame, table: write(
        frame, table, mode="overwrite", where="id >= 0 AND hash(id) = hash(id)"
    ),
    "merge": lambda frame, table: merge(frame, table, "t.id = s.id"),
    "merge by Spark": lambda frame, table: merge(
        frame, table, "t.id = s.id AND hash(t.id) = hash(s.id)"
    ),
}


def table_at(place: Path, kind: pa.DataType, *values: object) -> DeltaTable:
    table = DeltaTable.create(str(place / "t"), rows_of(kind).schema)
    table.append(rows_of(kind, *values))
    return table


def frame_of(spark: "SparkSession", rows: pa.Table) -> "DataFrame":
    from deltaweb.spark.writing.merge.run import frame_of

    return frame_of(spark, rows)


@cases("case", {name: (case,) for name, case in CASES.items()})
@cases("verb", VERBS, often=["append", "merge by Spark"])
def test_a_null_where_none_may_be_is_refused_by_its_path(spark, tmp_path, verb, case):
    kind, good, bad, path = case[0]
    table = table_at(tmp_path, kind, good, None)

    with pytest.raises(ConstraintViolatedError) as caught:
        verb(frame_of(spark, rows_of(kind, None, bad, good)), table)

    assert caught.value.name == f"NOT NULL {path}"
    assert table.latest_version() == 1


def test_a_stream_and_an_update_are_refused_too(spark, tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    from deltaweb.spark import update_rows

    kind, good, bad, _ = CASES["element"]
    table = table_at(tmp_path, kind, good)

    with pytest.raises(ConstraintViolatedError, match=r"NOT NULL v\.element"):
        update_rows(spark, table.root, {"v": "array(1, CAST(NULL AS BIGINT))"})
    with pytest.raises(StreamingQueryException, match=r"NOT NULL v\.element"):
        stream(frame_of(spark, rows_of(kind, bad)), table)

    assert table.latest_version() == 1


KINDS = {
    f"{leaf} in {nest}": NESTS[nest](pa.struct([required("x", kind)]), {"x": value})
    for place, (leaf, (kind, value)) in enumerate(LEAVES.items())
    for nest in [[*NESTS][place % len(NESTS)], [*NESTS][(place + 4) % len(NESTS)]]
}


@cases("kind, values", KINDS)
def test_every_change_keeps_the_values(spark, tmp_path, kind, values):
    from deltaweb.spark import delete_rows, read_table, update_rows

    source = pa.concat_tables(
        [rows_of(kind, *values).slice(n, 1) for n in (3, 1, 0, 2)]
    )
    table = table_at(tmp_path, kind, *values[::-1])

    with settings(spark, time_zone=NEW_YORK):
        frame = frame_of(spark, source)
        merge(frame, table, "t.id = s.id")
        merge(frame, table, "t.id = s.id AND hash(t.id) = hash(s.id)")
        update_rows(spark, table.root, {"id": "id + 0 * hash(id)"}, "id = 1")
        delete_rows(spark, table.root, "id = 3 AND hash(id) = hash(id)")
        write(frame, table, mode="overwrite", where="id >= 0 AND hash(id) = hash(id)")
        delete_rows(spark, table.root, "id = 3 AND hash(id) = hash(id)")
        write(frame.where("id = 3"), table, mode="append")
        found = read_table(spark, table.root).sort("id").toArrow()

    wanted = rows_of(kind, *values)["v"].to_pylist()
    assert repr(found["v"].to_pylist()) == repr(wanted)


@pytest.mark.parametrize(("month", "day", "hour"), [(3, 10, 2), (11, 3, 1), (7, 1, 0)])
def test_times_without_a_zone_keep_their_digits(spark, month, day, hour) -> None:
    shown = datetime(2024, month, day, hour, 30)  # noqa: DTZ001  # skipped, or twice
    rows = pa.table({"t": pa.array([shown], pa.timestamp("us"))})

    with settings(spark, time_zone=NEW_YORK):
        frame = frame_of(spark, rows)

        assert frame.schema["t"].dataType.simpleString() == "timestamp_ntz"
        assert frame.toArrow()["t"].to_pylist() == [shown]
