"""Times that Spark writes in the old calendar, as it reads them and as we do."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import TYPE_CHECKING

import pyarrow as pa

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructType,
)
from deltaweb.delta.scan.data_file import DataFile
from tests.support import matrix
from tests.support.tables.row_tables import LONG, TIMESTAMP, schema_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ZONES = ("UTC", "America/New_York", "Asia/Kolkata", "Europe/Amsterdam")
KINDS = ("INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS")
# From the year 1 to 1973, about 1,200 days apart and a bit more than a second.
MOMENTS = (
    "SELECT id AS n, timestamp_micros(id * 103999461000137 - 62135500000000000) AS t"
    " FROM range(600)"
)
ROWS = (
    "named_struct('a', array(t), 'n', n) AS s",
    "map(t, t) AS m",
    "CAST(t AS TIMESTAMP_NTZ) AS l",
    "CAST(t AS DATE) AS d",
)
READ = (
    "n, unix_micros(t), unix_micros(s.a[0]), unix_micros(map_values(m)[0]),"
    " unix_micros(CAST(l AS TIMESTAMP)), unix_date(d)"
)
TYPES: dict[str, DataType] = {
    "n": LONG,
    "t": TIMESTAMP,
    "s": StructType(schema_of(a=ArrayType(TIMESTAMP), n=LONG).fields),
    "m": MapType(TIMESTAMP, TIMESTAMP),
    "l": PrimitiveType("timestamp_ntz"),
    "d": PrimitiveType("date"),
}


@contextmanager
def told(spark: "SparkSession", **values: str) -> Iterator[None]:
    """Tell a session how to write, for a while."""
    names = {f"spark.sql.{name.replace('_', '.')}": name for name in values}
    before = {name: spark.conf.get(name) for name in names}
    for name, key in names.items():
        spark.conf.set(name, values[key])
    try:
        yield
    finally:
        for name, text in before.items():
            spark.conf.set(name, text or "")


def numbers(array: pa.Array) -> list[int | None]:
    kind = pa.int32() if pa.types.is_date32(array.type) else pa.int64()
    values: list[int | None] = array.cast(kind).to_pylist()
    return values


@matrix("kind, zone", product(KINDS, ZONES))
def test_are_read_as_spark_reads_them(spark, tmp_path, kind, zone):
    with told(
        spark,
        session_timeZone=zone,
        parquet_outputTimestampType=kind,
        parquet_int96RebaseModeInWrite="LEGACY",
        parquet_datetimeRebaseModeInWrite="LEGACY",
    ):
        frame = spark.sql(MOMENTS).selectExpr("n", "t", *ROWS).coalesce(1)
        frame.write.parquet(str(tmp_path / "old"))
    with told(spark, session_timeZone="UTC"):
        rows = spark.read.parquet(str(tmp_path / "old")).selectExpr(f"struct({READ})")
        expected = sorted(tuple(row[0]) for row in rows.collect())
    (path,) = (tmp_path / "old").glob("*.parquet")

    with DataFile(str(path), pa.OSFile) as file:
        found = [
            row
            for group in range(file.metadata.num_row_groups)
            for _, columns in file.batches(schema_of(**TYPES), group)
            for row in zip(
                numbers(columns["n"]),
                numbers(columns["t"]),
                numbers(columns["s"].field("a").flatten()),
                numbers(columns["m"].items),
                numbers(columns["l"]),
                numbers(columns["d"]),
                strict=True,
            )
        ]

    assert found == expected
