"""An installation whose worker runs Spark jobs, for tests that look from outside."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from deltaweb.index.file_index import FileIndex, open_index
from tests.installation import ROOT, environment, run

STOP_TIMEOUT_S = 30
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
    for command in (("migrate", "--verbosity", "0"), ("table", "scan", "../lake")):
        done = run(home, *command)
        assert done.returncode == 0, done.stderr
    return home


@contextmanager
def worker(home: Path, **variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker of the Spark queue, stopped with all that it started."""
    settings = environment(home, DELTAWEB_SPARK_DRIVER_MEMORY="512m")
    for name in SET_BY_A_SESSION:
        settings.pop(name, None)
    with (home / "worker.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "deltaweb", "worker", "--queues", "spark"],
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


def rows(home: Path, query: str) -> list[dict[str, Any]]:
    """Ask the installation's database."""
    with closing(sqlite3.connect(home / "deltaweb.sqlite3", timeout=30)) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute(query)]


def jobs(home: Path) -> list[dict[str, Any]]:
    """All jobs."""
    return rows(home, "SELECT * FROM jobs_job")


def all_have_ended(home: Path) -> bool:
    """Whether no job waits or runs."""
    return {job["state"] for job in jobs(home)} <= {"DONE", "FAILED"}


def indexes(home: Path) -> dict[str, FileIndex]:
    """The stored index of each table."""
    return {
        row["name"]: open_index(
            home / "index" / str(UUID(row["id"])) / row["index_name"]
        )
        for row in rows(home, "SELECT id, name, index_name FROM tables_table")
    }
