"""The index of 100,000 commits beside `deltalake`: `python -m tests.benchmarks index`.

One log of 100,010 commits of one file each, with a checkpoint at 100,000; every commit
file is kept. In turn (A B A B), each in a process of its own after its imports:

    theirs   `DeltaTable(log)` and then `history()`; the line compares with
             `history()` alone, and a second one with both
    ours     `build_index(log)`: the rows of all commits with their totals, all files
             with typed statistics, the summary; everything from the first listing
             to the last byte on the disk

A line is the median of ours over theirs, beside what is needed: time of the clock and
of all threads, and peak of memory over that of the bare process; a second process that
helps counts in full, its start and its imports too. What both found must
agree. Besides, without a peer: the same log without its checkpoint, which makes the
newest version the sum of all commits, and going on from an index by one commit. Logs
are kept in the folder DELTAWEB_BENCH_HOME where that is set.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import deltalake

from deltaweb.environment.own_process import claim_process
from tests.benchmarks.bench_snapshot import HOME_VARIABLE, MEGABYTE
from tests.benchmarks.logs import append_commit, write_json_log, write_long_log
from tests.benchmarks.measured import peak_bytes
from tests.support.index.index_builds import build_index

COMMITS = 100_010
CHECKPOINT = 100_000
ROUNDS = 3
OURS = "ours"
THEIRS = "theirs"
GO_ON = "go-on"
NEEDED = 0.5  # of the time of `history()`
NEEDED_TO_GO_ON = 0.05  # of the time of the whole index


@dataclass(frozen=True, slots=True)
class Spent:
    """What one run cost; memory is the peak over that of a bare process.

    Attributes:
        wall: Seconds.
        cpu: Seconds of all threads, those of a second process among them.
        open_wall: Seconds that opening the table took before, which `wall` is
            without; 0 for ours.
        open_cpu: As above for all threads.
        peak_bytes: Memory.
        commits: How many commits were found.
    """

    wall: float
    cpu: float
    open_wall: float
    open_cpu: float
    peak_bytes: int
    commits: int


def main() -> None:
    """Make the log, let both read it, print every ratio."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as temporary:
        home = Path(os.environ.get(HOME_VARIABLE) or temporary)
        folder = home / f"{COMMITS}-commits"
        if not folder.exists():
            write_long_log(folder, commits=COMMITS, checkpoint=CHECKPOINT)
        indexes = Path(temporary)
        spent: dict[str, list[Spent]] = {THEIRS: [], OURS: []}
        for _ in range(ROUNDS):
            for who, runs in spent.items():
                runs.append(_run_apart(who, folder, indexes / "index"))
        _compare(spent[OURS], spent[THEIRS])
        copy = _linked_copy(folder, indexes / "grown")
        _go_on(copy, indexes, spent[OURS])
        _without_checkpoint(copy, indexes)


def _compare(ours: Sequence[Spent], theirs: Sequence[Spent]) -> None:
    if {run.commits for run in [*ours, *theirs]} != {COMMITS}:
        message = f"not everyone found {COMMITS:,} commits"
        raise SystemExit(message)
    what = f"{COMMITS:,} commits"
    seconds: list[tuple[str, Callable[[Spent], float]]] = [
        (f"time, {what}", lambda run: run.wall),
        (f"time with opening, {what}", lambda run: run.wall + run.open_wall),
        (f"cpu, {what}", lambda run: run.cpu),
        (f"cpu with opening, {what}", lambda run: run.cpu + run.open_cpu),
    ]
    for name, cost in seconds:
        _print(name, _medians(ours, theirs, cost), NEEDED, 1, "s")
    peak = _medians(ours, theirs, lambda run: run.peak_bytes)
    _print(f"peak, {what}", peak, None, MEGABYTE, "MiB")


def _go_on(table: Path, indexes: Path, whole: Sequence[Spent]) -> None:
    """Add a commit, and make the index from the one before, again and again.

    The first time checks all that the whole index has written.
    """
    base = indexes / "base"
    build_index(str(table), None, base)
    runs = []
    for number in range(1 + ROUNDS):
        append_commit(table, COMMITS + number)
        spent = _run_apart(GO_ON, table, base)
        if spent.commits != COMMITS + number + 1:
            message = "the index did not go on"
            raise SystemExit(message)
        runs.append(spent)
    for name, some, needed in (
        ("for the first time", runs[:1], None),
        ("by one commit", runs[1:], NEEDED_TO_GO_ON),
    ):
        wall = _medians(some, whole, lambda run: run.wall)
        _print(f"time, going on {name}", wall, needed, 1, "s")
        cpu = _medians(some, whole, lambda run: run.cpu)
        _print(f"cpu, going on {name}", cpu, needed, 1, "s")


def _without_checkpoint(table: Path, indexes: Path) -> None:
    log = table / "_delta_log"
    (log / "_last_checkpoint").unlink()
    for path in log.glob("*.checkpoint.parquet"):
        path.unlink()
    runs = [_run_apart(OURS, table, indexes / "index") for _ in range(ROUNDS)]
    wall, cpu = (
        statistics.median(getattr(run, name) for run in runs)
        for name in ("wall", "cpu")
    )
    peak = statistics.median(run.peak_bytes for run in runs) / MEGABYTE
    note = f"{wall:.2f} s, {cpu:.2f} s of all threads, {peak:.0f} MiB"
    print(f"     without the checkpoint: ours {note}", flush=True)


def _medians(ours, theirs, cost):
    first, second = (statistics.median(map(cost, some)) for some in (ours, theirs))
    return first, second


def _print(what, pair, needed, scale, unit):
    ours, theirs = pair
    verdict, goal = "    ", ""
    if needed is not None:
        verdict = "MISS" if ours / theirs > needed else "ok  "
        goal = f"needed {needed}x  "
    note = f"{ours / scale:.2f} beside {theirs / scale:.2f} {unit}"
    print(f"{verdict} {what:40} {ours / theirs:6.3f}x  {goal}{note}", flush=True)


def _linked_copy(folder: Path, copy: Path) -> Path:
    """Copy a log by links: its files are never written to, only added to."""
    shutil.copytree(folder, copy, copy_function=os.link)
    return copy


# === In a process of its own ===


def _run_apart(who: str, table: Path, index: Path) -> Spent:
    """Run once; an index has a folder of its own, as the product gives each."""
    if who == OURS:
        shutil.rmtree(index, ignore_errors=True)
    command = [sys.executable, "-m", __name__, who, str(table), str(index)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Spent(**json.loads(done.stdout))


def _run(who: str, table: str, index: str) -> None:
    """Do the work and print what it cost this process.

    It does that of a small table first: libraries, which are loaded then, are not what
    is measured.
    """
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as temporary:
        small = write_json_log(Path(temporary), commits=2, adds=1, removes=0)
        if who == THEIRS:
            deltalake.DeltaTable(small).history()
        else:
            build_index(str(small), None, f"{temporary}/index")
    claim_process()  # as those of a worker are
    idle = peak_bytes()
    opening = _Clock()
    opened = deltalake.DeltaTable(table) if who == THEIRS else None
    open_wall, open_cpu = opening.read()
    clock = _Clock()
    if opened is not None:
        commits = len(opened.history())
    else:
        base = index if who == GO_ON else None
        result = build_index(table, None, index, base=base)
        commits = (result.version or 0) + 1
    wall, cpu = clock.read()
    spent = {
        "wall": wall,
        "cpu": cpu,
        "open_wall": open_wall if opened is not None else 0.0,
        "open_cpu": open_cpu if opened is not None else 0.0,
        "peak_bytes": peak_bytes() - idle + _helper_bytes(),
        "commits": commits,
    }
    print(json.dumps(spent))


class _Clock:
    """Seconds since it was made: of the clock, and of all threads."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), _cpu_s()

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self._wall, _cpu_s() - self._cpu


def _cpu_s() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def _helper_bytes() -> int:
    """At least the peak of a second process: it begins as a copy of this one."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


if __name__ == "__main__":
    _run(*sys.argv[1:])
