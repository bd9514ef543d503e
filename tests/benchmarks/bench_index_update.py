"""An index of one more commit: `python -m tests.benchmarks index_update`.

Two large tables, one of files and one of commits, are indexed from the start; then one
commit comes, and the index is made by going on from the first one, and once more when
nothing is new. Each is done in a process of its own. A line has the processor time of
going on over that of reading the whole log, the clock, and the peak of memory beside
that of a bare process. Logs are kept in the folder DELTAWEB_BENCH_HOME where that is
set.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from deltaweb.environment.own_process import claim_process
from tests.benchmarks.bench_snapshot import HOME_VARIABLE, MEGABYTE, MILLION
from tests.benchmarks.logs import write_checkpointed_log, write_commit, write_json_log

GOAL = 0.25  # of the processor time that the whole log takes
COMMITS = 100_000


@dataclass(frozen=True, slots=True)
class Spent:
    """What one index cost; memory is the peak over that of a bare process."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Case:
    """A log, how it is written, and the version of the commit that comes."""

    name: str
    write: Callable[[Path], Path]
    next_version: int


CASES = [
    Case(
        "1,000,000 files",
        lambda folder: write_checkpointed_log(folder, files=MILLION),
        next_version=20,
    ),
    Case(
        "100,000 commits",
        lambda folder: write_json_log(folder, commits=COMMITS, adds=1, removes=0),
        next_version=COMMITS,
    ),
]


def main() -> None:
    """Make the logs, index them in all three ways, print every ratio."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as temporary:
        home = Path(os.environ.get(HOME_VARIABLE) or temporary)
        for number, case in enumerate(CASES):
            table = home / f"update-{number}"
            if not table.exists():
                case.write(table)
            missed += _measure(case, table, Path(temporary) / f"indexes-{number}")
    if missed:
        sys.exit(f"{missed} rows missed their goal.")


def _measure(case: Case, table: Path, indexes: Path) -> int:
    """Print what each way costs; return how many missed the goal."""
    commit = table / "_delta_log" / f"{case.next_version:020d}.json"
    commit.unlink(missing_ok=True)
    whole = _index(table, indexes / "whole", None)
    _print(f"{case.name}, the whole log", whole, whole)
    write_commit(commit.parent, case.next_version, first=10**9, adds=10, removed=[])
    more = _index(table, indexes / "more", indexes / "whole")
    same = _index(table, indexes / "same", indexes / "more")
    missed = 0
    missed += _print(f"{case.name}, one commit more", more, whole)
    missed += _print(f"{case.name}, nothing new", same, whole)
    commit.unlink()
    shutil.rmtree(indexes)
    return missed


def _print(what: str, spent: Spent, whole: Spent) -> bool:
    ratio = spent.cpu_s / whole.cpu_s
    is_missed = spent is not whole and ratio > GOAL
    note = f"{spent.wall_s:.2f} s, peak {spent.peak_bytes / MEGABYTE:.0f} MiB"
    goal = "" if spent is whole else f"goal {GOAL}x"
    verdict = "MISS" if is_missed else "ok  "
    cpu = f"{ratio:6.3f}x  {spent.cpu_s:6.2f} s cpu  {goal:10}"
    print(f"{verdict} {what:34} {cpu} {note}", flush=True)
    return is_missed


def _index(table: Path, folder: Path, base: Path | None) -> Spent:
    """Index in a process of its own."""
    module = [sys.executable, "-m", "tests.benchmarks.bench_index_update"]
    given = [str(table), str(folder), "" if base is None else str(base)]
    done = subprocess.run([*module, *given], check=True, capture_output=True)
    return Spent(**json.loads(done.stdout))


def _index_here(location: str, folder: str, base: str) -> Spent:
    from tests.support.index.index_builds import build_index

    claim_process()  # as those of a worker are
    bare = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.monotonic(), time.process_time()
    result = build_index(location, None, folder, base=base or None)
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    if result.state != "INDEXED":
        sys.exit(result.error)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Spent(wall, cpu, (peak - bare) * 1024)


if __name__ == "__main__":
    print(json.dumps(asdict(_index_here(*sys.argv[1:]))))
