"""An installation whose worker runs Spark jobs, for tests that look from outside."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.support.index.index_folders import OpenIndex, open_index
from tests.support.processes.installation import (
    ROOT,
    environment,
    migrate,
    rows,
    run,
)
from tests.support.processes.spark_cluster import quick_java
from tests.support.stores.gated_storage import PASSES, Gate, gated_environment

STOP_TIMEOUT_S = 30
QUEUES = "spark,interactive"
# A query of some rows takes less than the making of code for it does.
NO_CODE = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# What a session of the tests' own process has set for itself.
SET_BY_A_SESSION = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_LOCAL_IP")


def new_home(folder: Path, lake: Path, *names: str) -> Path:
    """An installation with a queued index job for each of some tables of the lake.

    A name may be `copy=table`.
    """
    for name in names:
        copy, _, table = name.partition("=")
        log = Path(table or copy) / "_delta_log"
        shutil.copytree(lake / log, folder / "lake" / copy / "_delta_log")
    home = folder / "home"
    home.mkdir()
    migrate(home)
    if (folder / "lake").exists():
        done = run(home, "table", "scan", "../lake")
        assert done.returncode == 0, done.stderr
    return home


def add_gated(home: Path, table: Path) -> Gate:
    """Register a copy of a table behind a gate: its job is queued, and waits there.

    It is closed before, since a worker may take the job at once.
    """
    copy = home.parent / "gated" / table.name
    shutil.copytree(table, copy)
    gate = Gate.before(copy)
    variables = gated_environment(home.parent / "site") | {PASSES: "yes"}
    done = run(home, "table", "add", f"slow_{table.name}", gate.location, **variables)
    assert done.returncode == 0, done.stderr
    return gate


QUEUE = """
from deltaweb.environment.own_process import prepare_process
prepare_process()
import json, sys
import django
django.setup()
from django.utils import timezone
from apps.tables.work.diff_rows import DIFF_ROWS, DiffRows
from apps.tables.work.profile import PROFILE, Profile
from apps.tables.models import Table
from tests.support.pages.operated import request_checkpoint
table, now = Table.objects.get(name=sys.argv[1]), timezone.now()
newest = table.version
if "profile_column" in sys.argv:
    PROFILE.request(table, Profile(version=newest, column=("country",)), now=now)
if "diff_rows" in sys.argv:
    DIFF_ROWS.request(table, DiffRows(from_=17, to=20, key=("order_id",)), now=now)
if "write_checkpoint" in sys.argv:
    request_checkpoint(table, version=newest, parts=2)
"""


def queue_spark_jobs(home: Path, table: str, *kinds: str) -> None:
    """Queue a job of each of some kinds for a copy of the table `orders`."""
    done = subprocess.run(
        [sys.executable, "-c", QUEUE, table, *kinds],
        env=environment(home),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def quick_starts() -> dict[str, str]:
    """Variables with which Spark starts quickly, whatever a table needs.

    Most of the time of these tests is that of starts: a JVM that compiles little, and
    reads the archive of its classes, takes less.
    """
    executors = {"spark.executor.extraJavaOptions": quick_java()}
    confs = (NO_CODE | executors).items()
    options = [f"--conf {name}={shlex.quote(value)}" for name, value in confs]
    return {"PYSPARK_SUBMIT_ARGS": " ".join([*options, "pyspark-shell"])}


@contextmanager
def worker(home: Path, **variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker of Spark and of looks, stopped with all that it started.

    It and its tasks read tables of `tests.support.stores.gated_storage`, too.
    """
    settings = environment(
        home,
        DELTAWEB_SMALL_LOG_BYTES="0",  # all by Spark
        DELTAWEB_SPARK_DRIVER_MEMORY="512m",
        **gated_environment(home.parent / "site"),
        **quick_starts(),
    )
    for name in SET_BY_A_SESSION:
        settings.pop(name, None)
    with (home / "worker.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "deltaweb", "worker", "--queues", QUEUES],
            env=settings | variables,
            cwd=ROOT,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def jobs(home: Path) -> list[dict[str, Any]]:
    """All jobs."""
    return rows(home, "SELECT * FROM jobs_job")


def states(home: Path) -> Counter[str]:
    """How many jobs are in each state."""
    return Counter(job["state"] for job in jobs(home))


def all_have_ended(home: Path) -> bool:
    """Whether no job waits or runs."""
    return set(states(home)) <= {"DONE", "FAILED"}


def one_is_left(home: Path) -> bool:
    """Whether all jobs but one have ended."""
    found = states(home)
    return found["QUEUED"] + found["RUNNING"] == 1


def indexes(home: Path) -> dict[str, OpenIndex]:
    """The stored index of each table."""
    return {
        row["name"]: open_index(
            home / "index" / str(UUID(row["id"])) / row["index_name"]
        )
        for row in rows(home, "SELECT id, name, index_name FROM tables_table")
    }
