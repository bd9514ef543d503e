"""Merges by Spark beside those in process: `python -m tests.benchmarks spark_merge`.

Both merge the same rows into copies of the same table in turn (A B A B): half of them
match and change theirs, half are new. The session is our own and warm, as a worker has
it. There is no goal: the figures tell from which size on tasks are worth their start.
"""

import os
import shutil
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark.sql import SparkSession

from deltaweb.spark import merge_rows
from deltaweb.spark.driver.session import SparkOptions, get_spark, stop_session
from deltaweb.table import DeltaTable
from tests.benchmarks.cpu_time import cpu_seconds
from tests.benchmarks.written_tables import SMALL_SCHEMA, small_rows

FILES: Final = 8
ROWS_A_FILE: Final = 250_000
SOURCE_ROWS: Final = 100_000
ROUNDS: Final = 2
ON: Final = "t.id = s.id"


def main() -> None:
    """Make the table, merge by both in turn, print the figures."""
    last = FILES * ROWS_A_FILE
    source = small_rows(last - SOURCE_ROWS // 2, SOURCE_ROWS)
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as temporary:
        origin, folder = Path(temporary, "origin"), Path(temporary, "copy")
        _make(origin)
        options = SparkOptions(master="local[2]", folder=Path(temporary, "spark"))
        spark = get_spark(options)
        ours: list[tuple[float, float]] = []
        theirs: list[tuple[float, float]] = []
        try:
            for _ in range(ROUNDS + 1):
                for work, spent in ((_here, ours), (partial(_tasks, spark), theirs)):
                    spent.append(_spent(work, origin, folder, source))
        finally:
            stop_session()
    for name, spent in (("in process", ours), ("by Spark", theirs)):
        wall, cpu = (statistics.median(one[n] for one in spent[1:]) for n in (0, 1))
        print(
            f"{SOURCE_ROWS:,} rows into {last:,} {name:10}: "
            f"{wall:.2f} s wall, {cpu:.2f} s CPU",
            flush=True,
        )


def _make(folder: Path) -> None:
    table = DeltaTable.create(str(folder), SMALL_SCHEMA)
    for number in range(FILES):
        table.append(small_rows(number * ROWS_A_FILE, ROWS_A_FILE))


def _spent(work, origin, folder, source):
    shutil.copytree(origin, folder, copy_function=os.link)
    cpu, wall = cpu_seconds(), time.perf_counter()
    work(folder, source)
    wall_s = time.perf_counter() - wall
    cpu_s = cpu_seconds() - cpu
    found = DeltaTable(str(folder)).snapshot().statistics([])["num_records"]
    assert sum(found.to_pylist()) == FILES * ROWS_A_FILE + SOURCE_ROWS // 2
    shutil.rmtree(folder)
    return wall_s, cpu_s


def _here(folder: Path, source: pa.Table) -> None:
    merge = DeltaTable(str(folder)).merge(source, on=ON)
    merge.when_matched_update().when_not_matched_insert().execute()


def _tasks(spark: SparkSession, folder: Path, source: pa.Table) -> None:
    merge = merge_rows(spark, str(folder), spark.createDataFrame(source), ON)
    merge.when_matched_update().when_not_matched_insert().execute()
