"""What a job costs beside its work: `python -m tests.benchmarks jobs`.

Small tables of ten commits are indexed by the real task, warm: one table, for the
overhead of a job, and a thousand, which wait together, for the rate. The median of
`REPEATS` counts for the first. Beside the rate stands the processor time of a table,
which tells more than the clock does where the machine has other work.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from deltaweb.storage.place import TablePlace

if TYPE_CHECKING:
    from apps.tables.models import Table

REPEATS = 7
NUM_TABLES = 1000
NUM_COMMITS = 10
CORES = 2
GOAL_OVERHEAD_S = 1.0
GOAL_TABLES_PER_S = 20.0
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def main() -> None:
    """Measure both and print them beside their goals."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["DELTAWEB_SPARK_MASTER"] = f"local[{CORES}]"
    import django

    django.setup()
    from django.core.management import call_command

    from deltaweb.spark.driver.session import stop_session

    call_command("migrate", verbosity=0)
    missed = 0
    with tempfile.TemporaryDirectory(prefix="deltaweb-jobs") as folder:
        try:
            lake = _make_lake(Path(folder))
            missed += _measure_overhead(lake[0])
            missed += _measure_pipeline(lake, Path(folder))
            missed += _measure_jobs(lake)
        finally:
            stop_session()
    if missed:
        sys.exit(f"{missed} rows missed their goal.")


def _make_lake(folder: Path) -> list[Path]:
    from tests.benchmarks.logs import write_json_log

    return [
        write_json_log(folder / f"t{number:04}", commits=NUM_COMMITS, adds=5, removes=1)
        for number in range(NUM_TABLES)
    ]


def _measure_overhead(location: Path) -> int:
    """One job a table: its whole time less that of the same work in this process."""
    from apps.tables.index.refresh import REFRESH, refresh_table
    from tests.support.index.index_builds import build_index

    table = _register(location, "overhead")

    def run_job() -> None:
        REFRESH.work(refresh_table(table, now=NOW).id)

    def work_alone() -> None:
        with tempfile.TemporaryDirectory() as folder:
            build_index(str(location), None, Path(folder) / "index")

    overhead_s = _median_s(run_job) - _median_s(work_alone)
    mark = "" if overhead_s < GOAL_OVERHEAD_S else "   MISSED"
    goal = f"below {GOAL_OVERHEAD_S:.1f}"
    print(
        f"{'overhead of a warm job':40} {overhead_s:7.2f} s  {goal}{mark}", flush=True
    )
    return bool(mark)


def _measure_pipeline(lake: list[Path], folder: Path) -> int:
    """A thousand tables by one Spark job, without rows in a database."""
    from apps.tables.index.spark_session import with_spark
    from deltaweb.spark.pipeline import IndexRequest, index_tables

    requests = [
        IndexRequest(
            place=TablePlace(str(place)), folder=str(folder / "index" / place.name)
        )
        for place in lake
    ]
    states: list[str] = []
    with _rate("tables a second, one Spark job", states) as missed:
        with_spark(
            lambda _step: None,
            lambda spark: index_tables(
                spark,
                requests,
                lambda _position, result: states.append(result.state),
                scratch=folder / "runs",
            ),
        )
    return len(missed)


def _measure_jobs(lake: list[Path]) -> int:
    """A thousand waiting jobs, to the end of their rows."""
    from apps.jobs.models import Job
    from apps.tables.index.refresh import REFRESH, refresh_table

    jobs = [refresh_table(_register(place, place.name), now=NOW) for place in lake]
    ids = [job.id for job in jobs]
    states: list[str] = []
    with _rate("tables a second, 1,000 jobs and rows", states) as missed:
        waiting = Job.objects.waiting().filter(id__in=ids)
        while job := waiting.first():
            REFRESH.work(job.id)
        ended = Job.objects.filter(id__in=ids)
        states.extend(ended.values_list("state", flat=True))
    return len(missed)


@contextmanager
def _rate(label: str, states: list[str]) -> Iterator[list[str]]:
    """Print how many tables a second the block does; list the label where too few."""
    from tests.benchmarks.cpu_time import cpu_seconds

    missed: list[str] = []
    cpu_s, started_s = cpu_seconds(), time.perf_counter()
    yield missed
    rate = len(states) / (time.perf_counter() - started_s)
    cpu_ms = 1000 * (cpu_seconds() - cpu_s) / NUM_TABLES
    if not set(states) <= {"DONE", "INDEXED"} or len(states) != NUM_TABLES:
        sys.exit(f"{label}: {len(states)} ended as {sorted(set(states))}.")
    if rate < GOAL_TABLES_PER_S:
        missed.append(label)
    mark = "   MISSED" if missed else ""
    goal = f"at least {GOAL_TABLES_PER_S:.0f}, with {cpu_ms:.0f} ms of CPU a table"
    print(f"{label:40} {rate:7.1f} /s {goal}{mark}", flush=True)


def _register(location: Path, name: str) -> "Table":
    from tests.support.pages.factories import new_unindexed_table

    return new_unindexed_table(name, location=str(location))


def _median_s(work: Callable[[], None]) -> float:
    work()
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)
