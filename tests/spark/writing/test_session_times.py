"""Times of one kind in columns of another, by each door, and times that are said."""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from deltaweb.delta.writing.errors import SchemaMismatchError
from deltaweb.table import DeltaTable
from tests.spark.settings_cases import KOLKATA, NEW_YORK, settings
from tests.support import matrix
from tests.support.tables.table_builder import TableBuilder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Write = Callable[["DataFrame", str], Any]

ZONES = ["UTC", NEW_YORK, KOLKATA]
COLUMNS = {"ts": "timestamp", "w": "timestamp_ntz", "day": "date"}
SCHEMA = pa.schema(
    [
        ("n", pa.int32()),
        ("ts", pa.timestamp("us", "UTC")),
        ("w", pa.timestamp("us")),
        ("day", pa.date32()),
        ("l", pa.list_(pa.timestamp("us"))),
    ]
)
UNLIKE = [
    {
        "ts": "TIMESTAMP_NTZ '2024-03-10 02:30:00'",
        "w": "TIMESTAMP '2024-03-10 12:00:00'",
        "day": "TIMESTAMP '2024-03-10 23:00:00'",
    },
    {
        "ts": "TIMESTAMP_NTZ '2024-11-03 01:30:00.000001'",
        "w": "DATE '2024-03-10'",
        "day": "TIMESTAMP_NTZ '1969-12-31 23:59:59'",
    },
    {"ts": "DATE '2024-03-10'", "w": "TIMESTAMP '1900-01-01 00:00:00'", "day": "NULL"},
    {
        "ts": "TIMESTAMP_NTZ '2060-07-01 12:00:00'",
        "w": "TIMESTAMP '2060-07-01 12:00:00'",
        "day": "TIMESTAMP '2060-07-01 00:30:00'",
    },
]
"""Times in columns of another kind; in New York the first is skipped by clocks."""


def by_function(rows: "DataFrame", location: str) -> None:
    from deltaweb.spark import write_table

    write_table(rows, location)


def by_merge(rows: "DataFrame", location: str) -> None:
    from deltaweb.spark import merge_rows

    merge = merge_rows(rows.sparkSession, location, rows, "t.n = s.n")
    merge.when_not_matched_insert({n: f"s.{n}" for n in rows.columns}).execute()


def by_source(rows: "DataFrame", location: str) -> None:
    rows.write.format("deltaweb").mode("append").save(location)


def by_stream(rows: "DataFrame", location: str) -> None:
    source = f"{location}-source"
    by_source(rows, source)
    carry(rows.sparkSession, source, location)


def carry(spark: "SparkSession", source: str, sink: str, **options: str) -> None:
    """Write what a table has to another, as a stream."""
    stream = spark.readStream.format("deltaweb").options(**options).load(source)
    writer = stream.writeStream.format("deltaweb").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", f"{sink}-state")
    writer.start(sink).awaitTermination()


@pytest.fixture
def session(spark: "SparkSession", zone: str):
    from deltaweb.spark import register

    with settings(spark, time_zone=zone):
        register(spark)
        yield spark


TABLE = TableBuilder().columns(SCHEMA)


# Frames have one type a column: each row is written by itself.
@matrix(
    "write, zone, num_rows",
    [
        *product([by_function, by_merge, by_source], ZONES, [len(UNLIKE)]),
        *product([by_merge, by_source, by_stream], ZONES, [1]),
    ],
    often=[
        (by_function, "UTC", len(UNLIKE)),
        (by_merge, NEW_YORK, 1),
        (by_source, KOLKATA, 1),  # a stream is written by the same
    ],
)
def test_a_time_becomes_that_of_its_column_as_spark_stores_it(
    session: "SparkSession", local_table: DeltaTable, write: Write, num_rows: int
) -> None:
    wanted = []
    for number, unlike in enumerate(UNLIKE[:num_rows]):
        values = (f"{sql} {name}" for name, sql in unlike.items())
        rows = session.sql(f"SELECT {number} n, {', '.join(values)}")
        write(rows, local_table.root)
        cast = (f"CAST({name} AS {kind}) {name}" for name, kind in COLUMNS.items())
        wanted.append(rows.selectExpr("n", *cast).toArrow())

    found = local_table.snapshot().read(["n", *COLUMNS]).sort_by("n")

    kinds = pa.schema([SCHEMA.field(name) for name in ("n", *COLUMNS)])
    assert found.to_pylist() == [
        row for rows in wanted for row in rows.cast(kinds).to_pylist()
    ]


def test_a_time_inside_another_value_too(
    spark: "SparkSession", local_table: DeltaTable
):
    from deltaweb.spark import register

    register(spark)
    with settings(spark, time_zone=NEW_YORK):
        rows = spark.sql("SELECT 1 n, array(TIMESTAMP '2024-03-10 12:00:00', NULL) l")
        by_function(rows, local_table.root)
        with pytest.raises(Exception, match="local_timestamp"):
            by_source(rows, local_table.root)

    noon = datetime(2024, 3, 10, 12)  # noqa: DTZ001  # of a clock
    assert local_table.snapshot().read(["l"])["l"].to_pylist() == [[noon, None]]


def test_in_process_it_is_refused_by_name(local_table: DeltaTable) -> None:
    noon = datetime(2024, 3, 10, 12, tzinfo=UTC)
    zoned = pa.table({"w": pa.array([noon], pa.timestamp("us", NEW_YORK))})
    local = pa.table({"ts": pa.array([noon], pa.timestamp("us"))})

    with pytest.raises(SchemaMismatchError, match="local_timestamp"):
        local_table.append(zoned)
    with pytest.raises(SchemaMismatchError, match="assume_timezone"):
        local_table.append(local)


@matrix("zone", ZONES, often=[NEW_YORK])
def test_rows_and_changes_have_their_instants_in_every_zone(session, tmp_path):
    from deltaweb.spark import delete_rows, read_table, write_table

    location = str(tmp_path / "fed")
    rows = session.sql("SELECT 1 n, TIMESTAMP '2024-03-10 12:00:00Z' ts")
    write_table(rows, location, properties={"delta.enableChangeDataFeed": "true"})
    delete_rows(session, location, "ts = '2024-03-10 12:00:00Z'")

    noon = datetime(2024, 3, 10, 12, tzinfo=UTC)
    changes = DeltaTable(location).changes(0, 1).read_all()
    assert {moment.astimezone(UTC) for moment in changes["ts"].to_pylist()} == {noon}
    frame = read_table(session, location, version=0).toArrow()
    assert [moment.astimezone(UTC) for moment in frame["ts"].to_pylist()] == [noon]


def test_a_time_without_a_zone_is_of_the_session(spark, local_table):
    from pyspark.sql.types import StructType

    from deltaweb.spark import read_table, register
    from deltaweb.spark.writing.source.options import SourceOptions
    from deltaweb.spark.writing.source.stream_files import StreamOffset
    from deltaweb.spark.writing.source.stream_reader import StreamReader

    local_table.append(pa.table({"n": pa.array([1], pa.int32())}))
    register(spark)
    made = local_table.history(limit=1)[0].timestamp
    with settings(spark, time_zone=KOLKATA):
        shown = spark.sql(f"SELECT CAST(TIMESTAMP '{made}' AS STRING) clock")
        [clock] = shown.toArrow()["clock"].to_pylist()
        assert read_table(spark, local_table.root, timestamp=clock).count() == 1
        reader = spark.read.format("deltaweb").option("timestampAsOf", clock)
        assert reader.option("timeZone", KOLKATA).load(local_table.root).count() == 1
        said = {"startingTimestamp": clock, "timeZone": KOLKATA}
        options = SourceOptions({"path": local_table.root, **said})
        stream = StreamReader(options, StructType(), is_whole=True)
        assert stream.initialOffset() == StreamOffset(1).to_json()
