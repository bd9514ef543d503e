"""Real workers on a real broker: what a kill leaves behind is taken up again."""

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.installation import ROOT, environment, run, wait_for

TAKEN_WITHIN_S = 90  # a start alone takes many seconds on a busy machine
WORKER = (
    *(sys.executable, "-m", "celery", "-A", "deltaweb", "worker"),
    *("--pool", "threads", "--concurrency", "2", "--include", "tests.functional.nap"),
    *("--loglevel", "warning", "--queues", "default"),
    *("--without-gossip", "--without-mingle", "--without-heartbeat"),
)


@dataclass
class Workers:
    """An installation without a web process, and workers to be killed."""

    environment: dict[str, str]
    log: Path
    processes: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    def start(self) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                WORKER,
                env=self.environment,
                cwd=ROOT,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def nap(self, *arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "tests.functional.nap", *arguments],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        row: dict[str, Any] = json.loads(done.stdout)
        return row

    def reaches(self, job: dict[str, Any], **expected: object) -> bool:
        """Wait until the job's row holds what is expected."""
        return wait_for(
            lambda: expected.items() <= self.nap("show", job["id"]).items(),
            timeout_s=TAKEN_WITHIN_S,
        )


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    """On SQLite and the embedded broker, or on the servers that the variables name."""
    variables = {"DELTAWEB_JOB_LEASE_S": "3"}
    if url := os.environ.get("DELTAWEB_DATABASE_URL"):
        variables["DELTAWEB_DATABASE_URL"] = _new_database(url)
    if url := os.environ.get("DELTAWEB_BROKER_URL"):
        variables["DELTAWEB_BROKER_URL"] = url
    migrated = run(
        tmp_path, "migrate", "--skip-checks", "--verbosity", "0", **variables
    )
    assert migrated.returncode == 0, migrated.stderr
    started = Workers(environment(tmp_path, **variables), tmp_path / "worker.log")
    try:
        yield started
    finally:
        for process in started.processes:
            if process.poll() is None:
                process.kill()
            process.wait()


def _new_database(url: str) -> str:
    import psycopg

    name = f"nap_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def test_a_job_of_a_killed_worker_is_taken_by_the_next(workers: Workers) -> None:
    first = workers.start()
    job = workers.nap("queue", "600", "0")
    assert workers.reaches(job, state="RUNNING", attempts=1)

    first.send_signal(signal.SIGKILL)
    second = workers.start()

    assert workers.reaches(job, state="DONE", attempts=2)
    assert workers.nap("show", job["id"])["result"] == {"pid": second.pid}


def test_a_job_queued_while_no_worker_runs_is_done_by_the_first(
    workers: Workers,
) -> None:
    job = workers.nap("queue", "0")
    assert workers.nap("show", job["id"])["state"] == "QUEUED"

    workers.start()

    assert workers.reaches(job, state="DONE", attempts=1)


def test_two_workers_never_run_one_job_and_a_long_one_keeps_its_lease(
    workers: Workers,
) -> None:
    workers.start()
    workers.start()
    job = workers.nap("queue", "7")  # more than twice the lease

    assert workers.reaches(job, state="DONE", attempts=1)


def test_a_worker_stops_a_job_that_is_cancelled(workers: Workers) -> None:
    workers.start()
    job = workers.nap("queue", "600")
    assert workers.reaches(job, state="RUNNING")

    workers.nap("cancel", job["id"])

    assert workers.reaches(job, state="CANCELLED")


def test_a_worker_that_leaves_in_good_order_takes_its_row_away(
    workers: Workers,
) -> None:
    process = workers.start()
    job = workers.nap("queue", "0")
    assert workers.reaches(job, state="DONE", workers=1)

    process.terminate()

    assert process.wait(30) == 0
    assert workers.nap("show", job["id"])["workers"] == 0
