"""Jobs in processes of their own: what takes too much memory ends, and nothing else."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.nap_workers import (
    APART,
    AT_ONCE,
    DEFAULT,
    NapWorkers,
    installation,
)
from tests.support.processes.installation import is_running, wait_for

pytestmark = pytest.mark.timeout(600)
LIMIT_BYTES = 400 << 20


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NapWorkers]:
    home = tmp_path_factory.mktemp("home")
    started = installation(home, DELTAWEB_JOB_MEMORY_BYTES=str(LIMIT_BYTES))
    started.start(APART, *DEFAULT)
    try:
        yield started
    finally:
        started.stop()


def pid_of(marker: Path) -> int:
    assert wait_for(lambda: marker.exists() and bool(marker.read_text()))
    return int(marker.read_text())


def test_a_job_that_takes_too_much_is_ended_and_says_so(workers: NapWorkers) -> None:
    job = workers.nap("eat", "5000", "end")

    assert workers.reaches(job, state="FAILED", attempts=1, error_code="job-memory")
    assert "a job may use 400 MiB" in workers.show(job)["error"]
    other = workers.nap("queue", AT_ONCE)
    assert workers.reaches(other, state="DONE", attempts=1)
    assert workers.processes[0].poll() is None


def test_it_holds_no_other_job_meanwhile(workers: NapWorkers, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    job = workers.nap("eat", "10", str(marker))
    pid_of(marker)

    other = workers.nap("eat", "10", "end")

    assert workers.reaches(other, state="DONE")
    marker.unlink()
    assert workers.reaches(job, state="DONE", attempts=1)


def test_a_job_killed_with_much_memory_is_not_tried_again(workers: NapWorkers) -> None:
    job = workers.nap("eat", "250", "kill")

    assert workers.reaches(job, state="FAILED", attempts=1, error_code="job-memory")
    assert "was killed, probably because" in workers.show(job)["error"]


def test_a_job_killed_by_a_person_is_tried_again(workers: NapWorkers, tmp_path: Path):
    marker = tmp_path / "marker"
    job = workers.nap("eat", "1", str(marker))
    os.kill(pid_of(marker), signal.SIGKILL)

    workers.start(
        APART, *DEFAULT
    )  # a worker that starts looks for what others have left

    assert workers.reaches(job, state="DONE", attempts=2)


def test_a_job_that_needs_what_workers_share_is_done_by_the_worker(workers: NapWorkers):
    job = workers.nap("eat", "1", "spark")

    assert workers.reaches(job, state="DONE", attempts=1)
    pids = [process.pid for process in workers.processes]
    assert workers.show(job)["result"]["pid"] in pids


def test_a_job_ends_with_its_worker_and_is_taken_by_the_next(
    workers: NapWorkers, tmp_path: Path
) -> None:
    workers.exactly(0)
    marker = tmp_path / "marker"
    first = workers.start(APART, *DEFAULT)
    job = workers.nap("eat", "1", str(marker))
    pid = pid_of(marker)
    first.kill()
    first.wait()

    assert wait_for(lambda: not is_running(pid))
    workers.start(APART, *DEFAULT)
    assert workers.reaches(job, state="DONE", attempts=2)
