"""Real workers on a real broker: what a kill leaves behind is taken up again."""

import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.nap_workers import (
    AT_ONCE,
    DEFAULT,
    NapWorkers,
    installation,
)
from tests.support.processes.databases import new_migrated_database

pytestmark = [pytest.mark.timeout(900), pytest.mark.slow]
# Renewed three times in it: a worker may be held up for two thirds of it.
LEASE_S = 8


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NapWorkers]:
    """On SQLite and the embedded broker, or on the servers that the variables name."""
    variables = {"DELTAWEB_JOB_LEASE_S": str(LEASE_S)}
    if url := os.environ.get("DELTAWEB_DATABASE_URL"):
        name = f"nap_{uuid.uuid4().hex[:8]}"
        variables["DELTAWEB_DATABASE_URL"] = new_migrated_database(url, name)
    if url := os.environ.get("DELTAWEB_BROKER_URL"):
        variables["DELTAWEB_BROKER_URL"] = url
    started = installation(tmp_path_factory.mktemp("home"), **variables)
    try:
        yield started
    finally:
        started.stop()


@pytest.mark.database
def test_a_job_queued_while_no_worker_runs_is_done_by_the_first(workers: NapWorkers):
    job = workers.nap("queue", AT_ONCE)
    assert workers.show(job)["state"] == "QUEUED"

    workers.start(*DEFAULT)

    assert workers.reaches(job, state="DONE", attempts=1)


@pytest.mark.database
def test_a_worker_that_leaves_in_good_order_takes_its_row_away(workers: NapWorkers):
    (process,) = workers.exactly(1, *DEFAULT)
    job = workers.nap("queue", AT_ONCE)
    assert workers.reaches(job, state="DONE", workers=1)

    process.terminate()

    assert process.wait(60) == 0
    assert workers.show(job)["workers"] == 0


@pytest.mark.database
def test_a_job_of_a_killed_worker_is_taken_by_the_next(
    workers: NapWorkers, tmp_path: Path
) -> None:
    (first,) = workers.exactly(1, *DEFAULT)
    job = workers.nap("queue", str(tmp_path / "never"), AT_ONCE)
    assert workers.reaches(job, state="RUNNING", attempts=1)

    first.send_signal(signal.SIGKILL)
    second = workers.start(*DEFAULT)

    assert workers.reaches(job, state="DONE", attempts=2)
    assert workers.show(job)["result"]["pid"] == second.pid


@pytest.mark.database
def test_two_workers_never_run_one_job_and_a_long_one_keeps_its_lease(
    workers: NapWorkers, tmp_path: Path
) -> None:
    alarm = tmp_path / "alarm"
    workers.exactly(2, *DEFAULT)
    job = workers.nap("queue", str(alarm))
    assert workers.reaches(job, state="RUNNING")
    first_s = workers.show(job)["lease_expires_s"]

    assert workers.reaches_lease_of(job, first_s + LEASE_S)

    alarm.touch()
    assert workers.reaches(job, state="DONE", attempts=1)


@pytest.mark.database
def test_a_worker_stops_a_job_that_is_cancelled(
    workers: NapWorkers, tmp_path: Path
) -> None:
    workers.exactly(1, *DEFAULT)
    job = workers.nap("queue", str(tmp_path / "never"))
    assert workers.reaches(job, state="RUNNING")

    workers.nap("cancel", job["id"])

    assert workers.reaches(job, state="CANCELLED")
