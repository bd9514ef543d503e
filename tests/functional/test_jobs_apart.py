"""Jobs in processes of their own: what takes too much memory ends, and nothing else.

Looks have processes that stay: one does another after the next, and ends by itself. A
worker that keeps too much begins anew.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.nap_workers import (
    APART,
    AT_ONCE,
    DEFAULT,
    GROWN,
    LOOKS,
    TAKEN_WITHIN_S,
    NapWorkers,
    installation,
)
from tests.support.processes.installation import is_running, wait_for

pytestmark = pytest.mark.timeout(600)
LIMIT_BYTES = 700 << 20


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NapWorkers]:
    home = tmp_path_factory.mktemp("home")
    started = installation(home, DELTAWEB_JOB_MEMORY_BYTES=str(LIMIT_BYTES))
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="module")
def hungry(workers: NapWorkers) -> NapWorkers:
    """With a worker whose jobs each have a process of its own."""
    workers.start(APART, *DEFAULT)
    return workers


@pytest.fixture(scope="module")
def looking(workers: NapWorkers) -> NapWorkers:
    """With a worker that keeps processes for looks."""
    workers.exactly(0)
    workers.start(*LOOKS)
    return workers


def pid_of(marker: Path) -> int:
    assert wait_for(lambda: marker.exists() and bool(marker.read_text()))
    return int(marker.read_text())


# === Work ===


def test_a_job_that_takes_too_much_is_ended_and_says_so(hungry: NapWorkers) -> None:
    job = hungry.nap("eat", "5000", "end")

    assert hungry.reaches(job, state="FAILED", attempts=1, error_code="job-memory")
    assert "a job may use 700 MiB" in hungry.show(job)["error"]
    other = hungry.nap("queue", AT_ONCE)
    assert hungry.reaches(other, state="DONE", attempts=1)
    assert hungry.processes[0].poll() is None


def test_it_holds_no_other_job_meanwhile(hungry: NapWorkers, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    job = hungry.nap("eat", "10", str(marker))
    pid_of(marker)

    other = hungry.nap("eat", "10", "end")

    assert hungry.reaches(other, state="DONE")
    marker.unlink()
    assert hungry.reaches(job, state="DONE", attempts=1)


def test_a_job_killed_with_much_memory_is_not_tried_again(hungry: NapWorkers) -> None:
    job = hungry.nap("eat", "450", "kill")

    assert hungry.reaches(job, state="FAILED", attempts=1, error_code="job-memory")
    assert "was killed, probably because" in hungry.show(job)["error"]


def test_a_job_killed_by_a_person_is_tried_again(hungry: NapWorkers, tmp_path: Path):
    marker = tmp_path / "marker"
    job = hungry.nap("eat", "1", str(marker))
    os.kill(pid_of(marker), signal.SIGKILL)

    assert hungry.reaches_by_sweeps(job, state="DONE", attempts=2)


def test_a_job_that_needs_what_workers_share_is_done_by_the_worker(hungry: NapWorkers):
    job = hungry.nap("eat", "1", "spark")

    assert hungry.reaches(job, state="DONE", attempts=1)
    pids = [process.pid for process in hungry.processes]
    assert hungry.show(job)["result"]["pid"] in pids


def test_a_job_ends_with_its_worker_and_is_taken_by_the_next(
    hungry: NapWorkers, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    (first,) = hungry.exactly(1)
    job = hungry.nap("eat", "1", str(marker))
    pid = pid_of(marker)
    first.kill()
    first.wait()

    assert wait_for(lambda: not is_running(pid))
    hungry.start(APART, *DEFAULT)
    assert hungry.reaches(job, state="DONE", attempts=2)


# === Looks ===


def pid_of_a_look(workers: NapWorkers, mebibytes: int = 1) -> int:
    job = workers.nap("look", str(mebibytes), "end")
    assert workers.reaches(job, state="DONE", attempts=1)
    return int(workers.show(job)["result"]["pid"])


def test_one_process_does_look_after_look(looking: NapWorkers) -> None:
    assert len({pid_of_a_look(looking) for _ in range(5)}) == 1


def test_other_work_has_a_process_of_its_own(looking: NapWorkers) -> None:
    look = pid_of_a_look(looking)
    job = looking.nap("eat", "1", "end")

    assert looking.reaches(job, state="DONE", attempts=1)
    pid = looking.show(job)["result"]["pid"]
    assert pid != look
    assert wait_for(lambda: not is_running(pid))
    assert pid_of_a_look(looking) == look


def test_a_look_that_takes_too_much_ends_and_others_are_not_touched(
    looking: NapWorkers,
):
    before = pid_of_a_look(looking)
    job = looking.nap("look", "5000", "end")

    assert looking.reaches(job, state="FAILED", attempts=1, error_code="job-memory")
    after = pid_of_a_look(looking)
    assert after != before
    assert pid_of_a_look(looking) == after


def test_a_look_killed_by_a_person_is_tried_again(looking: NapWorkers, tmp_path: Path):
    marker = tmp_path / "marker"
    job = looking.nap("look", "1", str(marker))
    os.kill(pid_of(marker), signal.SIGKILL)

    assert looking.reaches_by_sweeps(job, state="DONE", attempts=2)


def test_waiting_processes_end_with_their_worker(looking: NapWorkers) -> None:
    (worker,) = looking.exactly(1)
    pid = pid_of_a_look(looking)

    worker.kill()
    worker.wait()

    assert wait_for(lambda: not is_running(pid))


# === The worker itself ===


def test_a_worker_that_has_grown_begins_anew_in_the_same_place(workers: NapWorkers):
    workers.exactly(0)
    process = workers.start_alone(GROWN)
    born = result_of_a_nap(workers)["born"]

    # What is queued meanwhile is done by the one or the other.
    assert wait_for(
        lambda: result_of_a_nap(workers)["born"] > born, timeout_s=TAKEN_WITHIN_S
    )
    assert result_of_a_nap(workers)["pid"] == process.pid


def result_of_a_nap(workers: NapWorkers) -> dict[str, int]:
    job = workers.nap("queue", AT_ONCE)
    assert workers.reaches(job, state="DONE", attempts=1)
    found: dict[str, int] = workers.show(job)["result"]
    return found
