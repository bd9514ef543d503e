"""Spark writes beside `write_deltalake`: `python -m tests.benchmarks spark_write`.

Both take the same rows from a Parquet file and write them with statistics to a new
table, in turn (A B A B), Spark in a warm session. DELTAWEB_BENCH_ROWS says how many
rows there are, five million without it.

The goal is for the session of who calls `write_table`, with Spark's own options. Our
own, in which jobs run, is compared as well: it starts in two thirds of the time, and
its JVM never makes the code that long work gains from.

What the same session takes for less is measured beside it: to hand the rows to Python,
which drops them, and to write them by Spark's own Parquet writer, which collects no
statistics and commits nothing. No write on Spark takes less than the lesser of them.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

import deltalake
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from deltaweb.spark import write_table
from deltaweb.spark.driver.session import SparkOptions, get_spark, stop_session
from deltaweb.table import DeltaTable
from tests.benchmarks.cpu_time import cpu_seconds

ROWS_VARIABLE = "DELTAWEB_BENCH_ROWS"
ROWS = 5_000_000
GOAL = 1.5
ROUNDS = 3
MASTER = "local[2]"


def main() -> None:
    """Make the rows, write them by both in turn, print the ratio for each session."""
    num_rows = int(os.environ.get(ROWS_VARIABLE) or ROWS)
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as temporary:
        source = Path(temporary, "rows.parquet")
        pq.write_table(_rows(num_rows), source)
        for name, begin in SESSIONS.items():
            folder = Path(temporary, name)
            folder.mkdir()
            try:
                print(f"{name} session, ", end="", flush=True)
                _compare(begin(folder / "spark"), source, folder, num_rows)
            finally:
                stop_session()


def _users_session(folder: Path) -> SparkSession:
    """Begin a session as who calls `write_table` has one: with Spark's own options."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master(MASTER)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.local.dir", str(folder))
        .getOrCreate()
    )


def _our_session(folder: Path) -> SparkSession:
    """Begin a session as jobs of deltaweb have one: quick to start."""
    return get_spark(SparkOptions(master=MASTER, folder=folder))


SESSIONS: Final = {"a user's": _users_session, "our": _our_session}


def _rows(count: int) -> pa.Table:
    """Ten columns: numbers, texts, times, with few and with many values."""
    random = np.random.default_rng(7)
    numbers = np.arange(count)
    return pa.table(
        {
            "id": numbers,
            "key": random.integers(0, 1 << 40, count),
            "group": (numbers % 100).astype(np.int32),
            "price": random.random(count),
            "rate": random.random(count).astype(np.float32),
            "at": pa.array(numbers * 1_000_000, pa.timestamp("us", "UTC")),
            "day": pa.array((numbers % 365).astype(np.int32), pa.date32()),
            "is_paid": numbers % 3 == 0,
            "city": pa.array([f"city {n % 1_000}" for n in range(count)]),
            "note": pa.array([f"note of row {n}" for n in range(count)]),
        }
    )


def _compare(spark: SparkSession, source: Path, folder: Path, num_rows: int) -> None:
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    handed: list[tuple[float, float]] = []
    plain: list[tuple[float, float]] = []
    for number in range(ROUNDS + 1):
        here, there = folder / f"spark-{number}", folder / f"deltalake-{number}"
        ours.append(_spent(partial(_by_spark, spark, source, here)))
        theirs.append(_spent(partial(_by_deltalake, source, there)))
        handed.append(_spent(partial(_to_python, spark, source)))
        plain.append(_spent(partial(_as_parquet, spark, source, folder, number)))
        for table in (here, there):
            found = DeltaTable(str(table)).snapshot().statistics([])["num_records"]
            assert sum(found.to_pylist()) == num_rows
    print(f"{num_rows:,} rows x 10 columns, beside deltalake:")
    _print("write_table", ours, theirs, f" (goal {GOAL}x)")
    _print("rows handed to Python, and dropped", handed, theirs)
    _print("Spark's own Parquet writer", plain, theirs)


def _print(name, ours, theirs, goal=""):
    pairs = [*zip(ours, theirs, strict=True)][1:]  # the first warms up
    wall, cpu = (statistics.median(o[n] / t[n] for o, t in pairs) for n in (0, 1))
    seconds = [statistics.median(pair[n][0] for pair in pairs) for n in (0, 1)]
    print(
        f"  {name:<36}{seconds[0]:6.2f} s beside {seconds[1]:.2f} s, "
        f"{wall:.2f}x wall, {cpu:.2f}x CPU{goal}",
        flush=True,
    )


def _spent(work: Callable[[], object]) -> tuple[float, float]:
    cpu, wall = cpu_seconds(), time.perf_counter()
    work()
    return time.perf_counter() - wall, cpu_seconds() - cpu


def _by_spark(spark: SparkSession, source: Path, location: Path) -> None:
    write_table(spark.read.parquet(str(source)), str(location))


def _to_python(spark: SparkSession, source: Path) -> None:
    spark.read.parquet(str(source)).mapInArrow(_count, "num_rows long").collect()


def _count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    num_rows = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"num_rows": [num_rows]})


def _as_parquet(spark: SparkSession, source: Path, folder: Path, number: int) -> None:
    spark.read.parquet(str(source)).write.parquet(str(folder / f"parquet-{number}"))


def _by_deltalake(source: Path, location: Path) -> None:
    deltalake.write_deltalake(str(location), pq.read_table(source))
