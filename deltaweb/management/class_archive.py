"""Makes the archive with which Spark's JVM starts in half the time.

    python -m deltaweb.management.class_archive

It runs a small job of each kind that deltaweb has, and keeps the classes which that
loaded. A Java that can make no archive does without.
"""

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from deltaweb.spark.arrow_frames import map_in_arrow
from deltaweb.spark.driver import class_archive
from deltaweb.spark.driver.java import JavaNotFoundError, find_java_home
from deltaweb.spark.driver.session import SparkOptions, end_session, get_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENDS_WITHIN_S: Final = 600.0  # it writes the archive, for minutes on a busy machine


def make_archive(folder: Path) -> Path | None:
    """Make the archive of this machine's Java and Spark, unless it is there.

    Args:
        folder: An empty folder that Spark may use.

    Returns:
        Where it stands, None where this Java makes none.
    """
    java_home = find_java_home(folder)
    if archive := class_archive.find_archive(java_home):
        return archive
    if not class_archive.has_base_archive(java_home):
        return None
    made = folder / "classes.jsa"
    options = SparkOptions(
        master="local[2]", folder=folder, driver_memory="1g", class_archive=made
    )
    run_small_jobs(get_spark(options), folder / "rows")
    end_session(ENDS_WITHIN_S)
    return class_archive.keep_archive(made, java_home) if made.exists() else None


def run_small_jobs(spark: "SparkSession", folder: Path) -> None:
    """Write, read, group and join some rows, in Java and in Python."""
    rows = spark.range(20).selectExpr(
        "id", "id % 3 AS part", "to_json(struct(id)) AS j"
    )
    rows.write.parquet(str(folder / "parquet"))
    rows.select("j").write.text(str(folder / "json"))
    read = spark.read.parquet(str(folder / "parquet"))
    again = spark.read.schema("id long").json(str(folder / "json"))
    joined = read.join(again, "id").groupBy("part").count().orderBy("part")
    counted = pa.schema([("part", pa.int64()), ("count", pa.int64())])
    map_in_arrow(joined, iter, counted).collect()


def main() -> int:
    """Make the archive; without a Java nothing is made, and nothing is wrong."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-classes-") as name:
        try:
            make_archive(Path(name))
        except JavaNotFoundError as error:
            sys.stderr.write(f"{error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
