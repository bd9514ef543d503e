"""How long commands take, from start to end: `python -m tests.benchmarks commands`.

Each runs as a person runs it, in a process of its own, once to warm up and then
`REPEATS` times. The quickest run counts, for a busy machine only adds to it, and of
that what the processor did, for a command hardly waits; the clock stands beside.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.logs import write_checkpointed_log
from tests.benchmarks.measured import Spent
from tests.support.processes.installation import environment, run

GOAL_S = 0.7
REPEATS = 9
NUM_FILES = 100_000
LIBRARIES = (
    "import django.core.management, django.db.models, django.http",
    "import pyarrow.compute, pyarrow.parquet",
)


def main() -> None:
    """Make a table of many files, run the commands, print what each took."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as folder:
        home, table = Path(folder, "home"), Path(folder, "table")
        home.mkdir()
        run(home, "migrate")
        run(home, "user", "add", "ana", "--role", "viewer")
        write_checkpointed_log(table, files=NUM_FILES, adds=100, removes=50)
        for arguments in (
            ["table", "show", str(table)],
            ["table", "history", str(table), "--limit", "20"],
            ["table", "list"],
            ["user", "link", "ana"],
        ):
            spent = _quickest(home, ["-m", "deltaweb", *arguments])
            verdict = "ok  " if spent.cpu <= GOAL_S else "MISS"
            _print(verdict, " ".join(arguments[:2]), spent, f"goal {GOAL_S} s")
        spent = _quickest(home, ["-c", "\n".join(LIBRARIES)])
        _print("    ", "Django and Arrow alone", spent, " " * len(f"goal {GOAL_S} s"))


def _quickest(home: Path, arguments: list[str]) -> Spent:
    _run(home, arguments)
    runs = [_run(home, arguments) for _ in range(REPEATS)]
    return Spent(min(run.wall for run in runs), min(run.cpu for run in runs))


def _run(home: Path, arguments: list[str]) -> Spent:
    # Where compiled modules are not kept, each run would compile them again.
    caches = {"PYTHONPYCACHEPREFIX": str(home / "compiled")}
    variables = environment(home, **caches)
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    before, started = _processor_s(), time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        env=variables,
        cwd=home,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return Spent(time.perf_counter() - started, _processor_s() - before)


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _print(verdict: str, name: str, spent: Spent, goal: str) -> None:
    note = f"wall {spent.wall:.2f} s  load {os.getloadavg()[0]:.1f}"
    print(f"{verdict} {name:28} {spent.cpu:7.2f} s  {goal}  {note}", flush=True)
