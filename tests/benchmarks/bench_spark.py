"""The pipeline on Spark beside `deltalake`: `python -m tests.benchmarks spark`.

Both replay the same logs in turn (A B A B) in a warm session: Spark to every row with
its statistics, in its executors; `deltalake` to its listing of files. Logs are kept in
the folder DELTAWEB_BENCH_HOME where that is set. How time and the driver's memory grow
with the files is plotted as a page in build/benchmarks (or DELTAWEB_BENCH_PLOTS); with
DELTAWEB_BENCH_LARGE=true up to ten million files, whose log takes 3 GB of disk.
"""

import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import deltalake
import pyarrow as pa
from pyspark.sql import SparkSession

from deltaweb.index.folder.result import INDEXED, IndexResult
from deltaweb.spark.arrow_frames import Batches
from deltaweb.spark.driver.session import SparkOptions, get_spark, stop_session
from deltaweb.spark.log.reader import file_rows
from deltaweb.spark.log.replay import ReplayedState, use_state
from deltaweb.spark.log.tail_layers import Blocks
from deltaweb.spark.pipeline import IndexRequest, index_tables
from deltaweb.storage.place import TablePlace
from tests.benchmarks.cpu_time import cpu_seconds
from tests.benchmarks.growth import Point, driver_memory, show
from tests.benchmarks.logs import write_checkpointed_log, write_json_log
from tests.benchmarks.measured import Spent, print_ratio, seconds_of

HOME_VARIABLE = "DELTAWEB_BENCH_HOME"
LARGE_VARIABLE = "DELTAWEB_BENCH_LARGE"
MILLION = 1_000_000
GROWTH = [MILLION // 10, MILLION]
LARGE = 10 * MILLION

ROUNDS = 5
REPLAY_GOAL = 0.6
SMALL_GOAL = 1.0
JSON_GOAL = 0.3
GROWTH_GOAL = 1.25  # of ten times the time for ten times the files
MEMORY_GOAL_MIB = 128
SMALL_TABLES = 1_000
TABLES_A_SECOND_GOAL = 20
OVERHEAD_GOAL_S = 1.0

COUNTS = pa.schema([("files", pa.int64()), ("bytes", pa.int64())])


def main() -> None:
    """Make the logs, start a session, print every ratio."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as temporary:
        home = Path(os.environ.get(HOME_VARIABLE) or temporary)
        options = SparkOptions(master="local[2]", folder=Path(temporary) / "spark")
        spark = get_spark(options)
        try:
            small = _json_log(Path(temporary), "small", commits=3)
            _replay(spark, small)
            _measure_overhead(spark, small)
            _measure_small_tables(spark, Path(temporary))
            commits = _json_log(home, "10000-commits", commits=10_000)
            _compare(spark, "10,000 JSON commits", commits, JSON_GOAL)
            _measure_growth(spark, home)
        finally:
            stop_session()


def _measure_growth(spark: SparkSession, home: Path) -> None:
    """Compare at each size, and each size with a tenth of it."""
    sizes = [*GROWTH]
    if os.environ.get(LARGE_VARIABLE) == "true":
        sizes.append(LARGE)
    points: list[Point] = []
    for files in sizes:
        log = _log(home, files)
        with driver_memory(spark) as grown:
            wall = seconds_of(partial(_replay, spark, log))
        if files < LARGE:  # the peer would take more memory than a small machine has
            goal = REPLAY_GOAL if files >= MILLION else SMALL_GOAL
            wall = _compare(spark, f"{files:,} files", log, goal)
        point = Point(files, wall, grown.python_mib, grown.heap_mib)
        if points:
            growth = wall / (10 * points[-1].seconds)
            print_ratio(f"growth to {files:,} files", growth, GROWTH_GOAL, "of linear")
        points.append(point)
        total = point.python_mib + point.heap_mib
        note = f"grew by {total:.0f} MiB"
        print_ratio(f"driver, {files:,} files", total / MEMORY_GOAL_MIB, 1, note)
    show(points)


def _compare(spark: SparkSession, what: str, log: Path, goal: float) -> float:
    """Replay a log by both; return the seconds that ours takes."""
    ours, theirs = _interleaved(
        partial(_replay, spark, log), partial(_list_theirs, log)
    )
    cpu = f"cpu {ours.cpu / theirs.cpu:.2f}x"
    note = f"{cpu}  {ours.wall:.2f} s beside {theirs.wall:.2f} s"
    print_ratio(f"replay, {what}", ours.wall / theirs.wall, goal, note)
    return ours.wall


def _measure_overhead(spark: SparkSession, log: Path) -> None:
    """Time one job for a table of three commits in a warm session."""
    spent = statistics.median(
        seconds_of(partial(_replay, spark, log)) for _ in range(2 * ROUNDS)
    )
    note = f"{spent * 1000:.0f} ms"
    print_ratio("one job, small table", spent / OVERHEAD_GOAL_S, 1, note)


def _measure_small_tables(spark: SparkSession, home: Path) -> None:
    """Index many tables by one job, a table a task."""
    tables = [
        _json_log(home / "tables", str(number), commits=3)
        for number in range(SMALL_TABLES)
    ]
    requests = [
        IndexRequest(place=TablePlace(str(log)), folder=str(home / "index" / log.name))
        for log in tables
    ]
    results: dict[int, IndexResult] = {}
    spent = seconds_of(
        lambda: index_tables(
            spark, requests, results.__setitem__, scratch=home / "runs"
        )
    )
    if {result.state for result in results.values()} != {INDEXED}:
        message = "not every small table was indexed"
        raise SystemExit(message)
    rate = SMALL_TABLES / spent
    note = f"{rate:.0f} tables/s"
    print_ratio("1,000 tables in one job", TABLES_A_SECOND_GOAL / rate, 1, note)


# === What is measured ===


def _replay(spark: SparkSession, log: Path) -> int:
    """Make every live row, with its statistics, in the executors; count them."""
    return use_state(spark, TablePlace(str(log)), None, _count_files)


def _count_files(state: ReplayedState) -> int:
    rows = state.map_files(_count_rows, COUNTS).collect()
    return sum(row["files"] for row in rows)


def _count_rows(blocks: Blocks) -> Batches:
    for block in blocks:
        rows = file_rows(block)
        yield pa.RecordBatch.from_arrays(
            [pa.array([rows.num_rows]), pa.array([rows.nbytes])], schema=COUNTS
        )


def _list_theirs(log: Path) -> int:
    return int(deltalake.DeltaTable(str(log)).get_add_actions().num_rows)


def _log(home: Path, files: int) -> Path:
    folder = home / f"{files}-files"
    if not folder.exists():
        adds = files // 1_000
        write_checkpointed_log(folder, files=files, adds=adds, removes=adds // 2)
    return folder


def _json_log(home: Path, name: str, *, commits: int) -> Path:
    folder = home / name
    if not folder.exists():
        write_json_log(folder, commits=commits, adds=10, removes=5)
    return folder


# === Measuring ===


def _interleaved(ours: Callable[[], int], theirs: Callable[[], int]):
    """Call both in turn, after a round that warms up; return the medians."""
    if ours() != theirs():
        message = "the two readers disagree"
        raise SystemExit(message)
    spent = [(_spent(ours), _spent(theirs)) for _ in range(ROUNDS)]
    return (_median([pair[0] for pair in spent]), _median([pair[1] for pair in spent]))


def _median(spent: Sequence[Spent]) -> Spent:
    return Spent(
        statistics.median(one.wall for one in spent),
        statistics.median(one.cpu for one in spent),
    )


def _spent(call: Callable[[], object]) -> Spent:
    cpu = cpu_seconds()
    wall = seconds_of(call)
    return Spent(wall, cpu_seconds() - cpu)
