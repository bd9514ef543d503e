"""Checkpoints by Spark, in a warm session, beside those of our builder in process."""

import statistics
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from deltaweb.delta.writing.checkpoint.builder import (
    CheckpointRequest,
    build_checkpoint,
)
from deltaweb.spark import checkpoint
from deltaweb.spark.driver.session import SparkOptions, get_spark, stop_session
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from tests.benchmarks.checkpoint_copies import check_equal, copied_log
from tests.benchmarks.cpu_time import cpu_seconds
from tests.benchmarks.measured import Spent

ROUNDS = 3
NEEDED = 1.5
Builder = Callable[[Path, CheckpointRequest], object]


def compare(folder: Path, temporary: Path, parts: int) -> None:
    """Let both engines write a single file and parts, in turn; print the ratios."""
    spark = get_spark(SparkOptions(master="local[2]", folder=temporary / "spark"))

    def by_spark(copy: Path, request: CheckpointRequest) -> object:
        return checkpoint.build_checkpoint(spark, TablePlace(str(copy)), request)

    try:
        for wanted in (None, parts):
            request = CheckpointRequest(now=datetime.now(UTC), parts=wanted)
            _write(by_spark, folder, request, cpu_seconds)  # warms up
            spent = [
                (
                    _write(by_spark, folder, request, cpu_seconds),
                    _write(_here, folder, request, time.process_time),
                )
                for _ in range(ROUNDS)
            ]
            what = f", {wanted} parts" if wanted else ""
            for name in ("wall", "cpu"):
                pairs = [(getattr(a, name), getattr(b, name)) for a, b in spent]
                _print(f"Spark {name}{what}", pairs)
    finally:
        stop_session()


def _here(copy: Path, request: CheckpointRequest) -> object:
    return build_checkpoint(DeltaTable(str(copy)).store, request)


def _write(
    builder: Builder,
    folder: Path,
    request: CheckpointRequest,
    cpu_clock: Callable[[], float],
) -> Spent:
    with copied_log(folder) as copy:
        wall, cpu = time.perf_counter(), cpu_clock()
        builder(copy, request)
        spent = Spent(time.perf_counter() - wall, cpu_clock() - cpu)
        check_equal(copy, folder)
    return spent


def _print(what: str, pairs: Sequence[tuple[float, float]]) -> None:
    there, here = (statistics.median(some) for some in zip(*pairs, strict=True))
    verdict = "MISS" if there / here > NEEDED else "ok  "
    ratio = f"{there / here:6.3f}x  needed {NEEDED}x of in process"
    print(f"{verdict} {what:32} {ratio}  {there:.1f} beside {here:.1f} s", flush=True)
