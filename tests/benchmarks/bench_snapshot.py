"""Snapshots beside `deltalake`, in the same run: `python -m tests.benchmarks snapshot`.

Both open the same logs in turn (A B A B), after one round to warm up and after their
sets of files were found equal. Each line is the median time of ours over theirs, of
wall and of CPU, beside the goal. Logs are kept in the folder DELTAWEB_BENCH_HOME
where that is set, else they are made anew.
"""

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import deltalake

from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable
from tests.benchmarks.logs import (
    write_checkpointed_log,
    write_commit,
    write_json_log,
    write_sidecar_log,
)
from tests.benchmarks.measured import Spent, print_ratio, resident_bytes
from tests.benchmarks.vectored_log import write_vectored_log

HOME_VARIABLE = "DELTAWEB_BENCH_HOME"
MEGABYTE = 1 << 20
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """A log, how often it is opened, and the ratio to reach."""

    name: str
    write: Callable[[Path], object]
    rounds: int
    goal: float


CASES = [
    Case("1,000 files", lambda at: _checkpointed(at, 1_000, 10), 31, 0.5),
    Case("10,000 files", lambda at: _checkpointed(at, 10_000, 100), 15, 0.2),
    Case("100,000 files", lambda at: _checkpointed(at, 100_000, 100), 9, 0.12),
    Case("1,000,000 files", lambda at: _checkpointed(at, MILLION, 1_000), 5, 0.08),
    Case(
        "10,000 JSON commits",
        lambda at: write_json_log(at, commits=10_000, adds=10, removes=5),
        5,
        0.22,
    ),
    Case(
        "1,000,000 files in 8 sidecars",
        lambda at: write_sidecar_log(at, files=MILLION, sidecars=8),
        5,
        0.08,
    ),
    Case(
        "1,000,000 files, 200,000 vectors",
        lambda at: write_vectored_log(at, files=MILLION),
        5,
        0.1,
    ),
]
REFRESH_ROUNDS = 5
REFRESH_GOAL = 0.01
MEMORY_GOAL = 0.2


def main() -> None:
    """Make the logs, compare the two, print every ratio."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as temporary:
        home = Path(os.environ.get(HOME_VARIABLE) or temporary)
        for case in CASES:
            folder = _log(home, case)
            _check_equal(folder)
            ours, theirs = _interleaved(
                partial(_open_ours, str(folder)),
                partial(deltalake.DeltaTable, str(folder)),
                case.rounds,
            )
            _print_times(f"cold, {case.name}", ours, theirs, case.goal)
        million = _log(home, CASES[3])
        _print_memory(million, _log(home, CASES[0]))
        _measure_refresh(million)


def _open_ours(folder: str) -> object:
    return DeltaTable(folder).snapshot().files


def _checkpointed(folder: Path, files: int, adds: int) -> object:
    return write_checkpointed_log(folder, files=files, adds=adds, removes=adds // 2)


def _log(home: Path, case: Case) -> Path:
    folder = home / case.name.replace(",", "").replace(" ", "-")
    if not folder.exists():
        case.write(folder)
    return folder


def _check_equal(folder: Path) -> None:
    """Stop when the two do not see the same files of the same version."""
    ours = DeltaTable(str(folder)).snapshot()
    theirs = deltalake.DeltaTable(str(folder))
    paths = theirs.get_add_actions(flatten=True).column("path").to_pylist()
    if theirs.version() != ours.version or sorted(paths) != sorted(
        ours.files["path"].to_pylist()
    ):
        message = f"the two readers disagree about {folder}"
        raise SystemExit(message)


def _interleaved(ours: Callable[[], object], theirs: Callable[[], object], rounds: int):
    """Call both in turn; the first round warms up and does not count."""
    spent: tuple[list[Spent], list[Spent]] = ([], [])
    for _ in range(rounds + 1):
        for kept, call in zip(spent, (ours, theirs), strict=True):
            kept.append(_timed(call))
    return spent[0][1:], spent[1][1:]


def _timed(call: Callable[[], object]) -> Spent:
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    spent = Spent(time.perf_counter() - wall, time.process_time() - cpu)
    del result  # freeing memory is not what is measured
    return spent


def _print_times(what: str, ours: list[Spent], theirs: list[Spent], goal: float):
    wall = statistics.median(spent.wall for spent in ours)
    wall_ratio = wall / statistics.median(spent.wall for spent in theirs)
    cpu_ratio = statistics.median(spent.cpu for spent in ours) / statistics.median(
        spent.cpu for spent in theirs
    )
    print_ratio(what, wall_ratio, goal, f"cpu {cpu_ratio:.3f}x  {wall * 1000:.1f} ms")


# === One more commit ===


def _measure_refresh(folder: Path) -> None:
    """Compare going on by one commit, from a snapshot that is held already."""
    table = DeltaTable(str(folder))
    before = table.snapshot()
    version = before.version
    log = folder / "_delta_log"
    removed = before.files["path"].slice(0, 500).to_pylist()
    write_commit(log, version + 1, first=2 * MILLION, adds=1_000, removed=removed)
    before = table.snapshot(version)
    try:
        ours, theirs = _refreshes(table, before, folder)
    finally:
        (log / f"{version + 1:020d}.json").unlink()
    _print_times("one commit more, 1,000,000", ours, theirs, REFRESH_GOAL)


def _refreshes(table: DeltaTable, before: Snapshot, folder: Path):
    ours: list[Spent] = []
    theirs: list[Spent] = []
    for _ in range(REFRESH_ROUNDS + 1):
        ours.append(_timed(lambda: table.refresh(before)))
        peer = deltalake.DeltaTable(str(folder), version=before.version)
        theirs.append(_timed(peer.update_incremental))
        if peer.version() != table.refresh(before).version:
            message = "the two readers went on to different versions"
            raise SystemExit(message)
    return ours[1:], theirs[1:]


# === Memory ===


def _print_memory(folder: Path, small: Path) -> None:
    ours, theirs = (_memory_of(reader, folder, small) for reader in ("ours", "theirs"))
    note = f"{ours // MEGABYTE} MiB beside {theirs // MEGABYTE} MiB"
    print_ratio("memory kept, 1,000,000", ours / theirs, MEMORY_GOAL, note)


def _memory_of(reader: str, folder: Path, small: Path) -> int:
    """Return the bytes that a process of its own keeps for an open table.

    It opens a small one first: libraries, which are loaded then, are no table's.
    """
    command = [sys.executable, "-m", __name__, reader, str(folder), str(small)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout)


def _keep_open(reader: str, folder: str, small: str) -> None:
    """Open a table and print by how much that grew this process, in bytes."""
    read: Callable[[str], object] = (
        (lambda location: DeltaTable(location).snapshot())
        if reader == "ours"
        else deltalake.DeltaTable
    )
    read(small)
    before = resident_bytes()
    kept = read(folder)
    gc.collect()
    print(resident_bytes() - before)
    del kept


if __name__ == "__main__":
    _keep_open(*sys.argv[1:])
