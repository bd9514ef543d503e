"""Checkpoints beside `deltalake`: `python -m tests.benchmarks checkpoint`.

Both start from the same log in turn (A B A B), each in a process of its own: open the
table, write the checkpoint of its newest version. A line is the median of ours over
theirs, beside what is needed and what is aimed at: time of the clock and of all
threads, peak of memory, and bytes of the file. What each wrote must hold the same
files. Then Spark writes the same checkpoints in a warm session beside our builder in
this process. Logs are kept in the folder DELTAWEB_BENCH_HOME where that is set.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import deltalake
import pyarrow as pa

from deltaweb.table import DeltaTable
from tests.benchmarks.bench_snapshot import HOME_VARIABLE, MEGABYTE, MILLION
from tests.benchmarks.checkpoint_copies import check_equal, copied_log
from tests.benchmarks.logs import write_checkpointed_log, write_json_log
from tests.benchmarks.measured import peak_bytes

NEW_NAMES = "*.checkpoint*.parquet"
OURS = "ours"
THEIRS = "theirs"
IN_PARTS = "parts"
PARTS = 2
WIDTHS = (500, 2_000)
ROUNDS_OF_WIDTHS = 3
TYPED = {"delta.checkpoint.writeStatsAsStruct": "true"}
NEEDED = {"time": 1.0, "cpu": 1.0, "size": 0.5, "peak": 0.6}


@dataclass(frozen=True, slots=True)
class Case:
    """A log, how often each writes its checkpoint, and the ratios to reach."""

    files: int
    rounds: int
    time_goal: float
    memory_goal: float | None = None
    size_goal: float = 0.25


@dataclass(frozen=True, slots=True)
class Spent:
    """What one checkpoint cost; memory is the peak over that of a bare process."""

    wall: float
    cpu: float
    peak_bytes: int
    size_bytes: int


CASES = [Case(100_000, 5, 0.7), Case(MILLION, 3, 0.3, memory_goal=0.25)]


def main() -> None:
    """Make the logs, let both write, print every ratio."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as temporary:
        home = Path(os.environ.get(HOME_VARIABLE) or temporary)
        for case in CASES:
            folder = home / f"{case.files}-files"
            if not folder.exists():
                adds = max(100, case.files // 1000)
                write_checkpointed_log(
                    folder, files=case.files, adds=adds, removes=adds // 2
                )
            _compare(case, folder)
        _compare_widths(Path(temporary))
        from tests.benchmarks import checkpoint_by_spark

        checkpoint_by_spark.compare(home / f"{MILLION}-files", Path(temporary), PARTS)


def _compare(case: Case, folder: Path) -> None:
    writers = (THEIRS, OURS, IN_PARTS)
    spent: dict[str, list[Spent]] = {writer: [] for writer in writers}
    for _ in range(case.rounds):
        for writer in writers:
            spent[writer].append(_write(writer, folder))
    for writer, name in ((OURS, ""), (IN_PARTS, f", {PARTS} parts")):
        what = f"{case.files:,} files{name}"
        ours, theirs = spent[writer], spent[THEIRS]
        _print(f"time, {what}", _medians(ours, theirs, "wall"), case.time_goal, "s")
        _print(f"cpu, {what}", _medians(ours, theirs, "cpu"), case.time_goal, "s")
        size = _medians(ours, theirs, "size_bytes")
        _print(f"size, {what}", size, case.size_goal, "MiB")
        if case.memory_goal is not None:
            peak = _medians(ours, theirs, "peak_bytes")
            _print(f"peak, {what}", peak, case.memory_goal, "MiB")


def _compare_widths(home: Path) -> None:
    """Print how processor time grows with the columns of typed statistics."""
    spent = {}
    for count in WIDTHS:
        schema = pa.schema([(f"c{number}", pa.int64()) for number in range(count)])
        folder = home / f"{count}-columns"
        table = DeltaTable.create(str(folder), schema, properties=TYPED)
        rows = pa.table({name: [1] for name in schema.names}, schema=schema)
        table.append(rows)
        table.create_checkpoint()
        table.append(rows)
        spent[count] = statistics.median(
            _write(OURS, folder).cpu for _ in range(ROUNDS_OF_WIDTHS)
        )
    few, many = WIDTHS
    growth = spent[many] / spent[few]
    verdict = "MISS" if growth > many / few else "ok  "
    print(
        f"{verdict} cpu, {many:,} columns of typed statistics {growth:6.3f}x of"
        f" {few:,}, needed {many / few}x  {spent[many]:.2f} s",
        flush=True,
    )


def _medians(ours: Sequence[Spent], theirs: Sequence[Spent], name: str):
    first, second = (
        statistics.median(getattr(spent, name) for spent in some)
        for some in (ours, theirs)
    )
    return first, second


def _print(what: str, pair: tuple[float, float], goal: float, unit: str) -> None:
    ours, theirs = pair
    scale = MEGABYTE if unit == "MiB" else 1
    needed = NEEDED[what.split(",", 1)[0]]
    verdict = "MISS" if ours / theirs > needed else "ok  "
    note = f"{ours / scale:.1f} beside {theirs / scale:.1f} {unit}"
    ratio = f"{ours / theirs:6.3f}x  needed {needed}x, aim {goal}x"
    print(f"{verdict} {what:32} {ratio}  {note}", flush=True)


def _write(writer: str, folder: Path) -> Spent:
    """Let a process of its own write the checkpoint of a copy of the log."""
    with copied_log(folder) as copy:
        before = set(copy.rglob(NEW_NAMES))
        command = [sys.executable, "-m", __name__, writer, str(copy)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        size_bytes = sum(
            path.stat().st_size for path in set(copy.rglob(NEW_NAMES)) - before
        )
        check_equal(copy, folder)
        return Spent(**json.loads(done.stdout), size_bytes=size_bytes)


def _run(writer: str, folder: str) -> None:
    """Write a checkpoint and print what it cost this process.

    It writes one of a small table first: libraries, which are loaded then, are no
    checkpoint's.
    """
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as temporary:
        small = write_json_log(Path(temporary), commits=2, adds=1, removes=0)
        _create_checkpoint(writer, str(small))
    idle = peak_bytes()
    wall, cpu = time.perf_counter(), time.process_time()
    _create_checkpoint(writer, folder)
    spent = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak_bytes": peak_bytes() - idle,
    }
    print(json.dumps(spent))


def _create_checkpoint(writer: str, folder: str) -> None:
    if writer == THEIRS:
        deltalake.DeltaTable(folder).create_checkpoint()
    else:
        parts = PARTS if writer == IN_PARTS else None
        DeltaTable(folder).create_checkpoint(parts=parts)


if __name__ == "__main__":
    _run(*sys.argv[1:])
