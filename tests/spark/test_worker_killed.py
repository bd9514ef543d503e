"""A worker that is killed in the middle of index jobs: another one finishes them."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.installation import ROOT, environment, run, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

NUM_TABLES = 24
TIMEOUT_S = 120  # a start takes many seconds on a busy machine
WORKER = (sys.executable, "-m", "deltaweb", "worker")
VARIABLES = {
    "DELTAWEB_JOB_LEASE_S": "3",
    "DELTAWEB_SPARK_MASTER": "local[2]",
    "DELTAWEB_SPARK_DRIVER_MEMORY": "512m",
}


@pytest.fixture
def home(tmp_path: Path, lake: Path) -> Path:
    """An installation with a queued index job for each of many tables."""
    log = lake / "customers" / "_delta_log"
    for number in range(NUM_TABLES):
        shutil.copytree(log, tmp_path / "lake" / f"t{number}" / "_delta_log")
    home = tmp_path / "home"
    home.mkdir()
    for command in (("migrate", "--verbosity", "0"), ("table", "scan", "../lake")):
        done = run(home, *command, **VARIABLES)
        assert done.returncode == 0, done.stderr
    return home


@contextmanager
def worker(home: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """A worker of the Spark queue, killed at the end if it still runs."""
    with (home / "worker.log").open("ab") as log:
        process = subprocess.Popen(
            [*WORKER, "--queues", "spark", "--threads", "1"],
            env=environment(home, **VARIABLES),
            cwd=ROOT,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def rows(home: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(home / "deltaweb.sqlite3", timeout=30)) as database:
        return list(database.execute(query))


def states(home: Path) -> Counter[object]:
    return Counter(state for (state,) in rows(home, "SELECT state FROM jobs_job"))


def members(session: int) -> list[int]:
    """The processes of a session that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


class TestAKilledWorker:
    def test_loses_nothing(self, home: Path) -> None:
        with worker(home) as first:
            assert wait_for(lambda: states(home)["DONE"] > 0, timeout_s=TIMEOUT_S), (
                home / "worker.log"
            ).read_text()
            first.kill()
            first.wait()
        left = states(home)
        assert left["RUNNING"] > 0
        assert wait_for(lambda: not members(first.pid), timeout_s=30)

        with worker(home):
            finished = wait_for(
                lambda: states(home) == {"DONE": NUM_TABLES}, timeout_s=TIMEOUT_S
            )
            assert finished, (home / "worker.log").read_text()

        attempts = Counter(n for (n,) in rows(home, "SELECT attempts FROM jobs_job"))
        assert attempts[2] >= left["RUNNING"]
        tables = rows(home, "SELECT state, version FROM tables_table")
        assert tables == [("INDEXED", 59)] * NUM_TABLES
        commits = rows(home, "SELECT count(*) FROM tables_commit GROUP BY table_id")
        assert set(commits) == {(60,)}
