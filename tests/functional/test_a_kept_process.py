"""Looks in processes that stay: one does another after the next, and ends by itself."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.nap_workers import LOOKS, NapWorkers, installation
from tests.functional.test_a_hungry_job import pid_of
from tests.support.processes.installation import is_running, wait_for

pytestmark = pytest.mark.timeout(600)
LIMIT_BYTES = 700 << 20


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NapWorkers]:
    home = tmp_path_factory.mktemp("home")
    started = installation(home, DELTAWEB_JOB_MEMORY_BYTES=str(LIMIT_BYTES))
    started.start(*LOOKS)
    try:
        yield started
    finally:
        started.stop()


def pid_of_a_look(workers: NapWorkers, mebibytes: int = 1) -> int:
    job = workers.nap("look", str(mebibytes), "end")
    assert workers.reaches(job, state="DONE", attempts=1)
    return int(workers.show(job)["result"]["pid"])


def test_one_process_does_look_after_look(workers: NapWorkers) -> None:
    assert len({pid_of_a_look(workers) for _ in range(5)}) == 1


def test_other_work_has_a_process_of_its_own(workers: NapWorkers) -> None:
    look = pid_of_a_look(workers)
    job = workers.nap("eat", "1", "end")

    assert workers.reaches(job, state="DONE", attempts=1)
    pid = workers.show(job)["result"]["pid"]
    assert pid != look
    assert wait_for(lambda: not is_running(pid))
    assert pid_of_a_look(workers) == look


def test_a_look_that_takes_too_much_ends_and_others_are_not_touched(
    workers: NapWorkers,
):
    before = pid_of_a_look(workers)
    job = workers.nap("look", "5000", "end")

    assert workers.reaches(job, state="FAILED", attempts=1, error_code="job-memory")
    after = pid_of_a_look(workers)
    assert after != before
    assert pid_of_a_look(workers) == after


def test_a_look_killed_by_a_person_is_tried_again(workers: NapWorkers, tmp_path: Path):
    marker = tmp_path / "marker"
    job = workers.nap("look", "1", str(marker))
    os.kill(pid_of(marker), signal.SIGKILL)

    workers.start(*LOOKS)  # a worker that starts looks for what others have left

    assert workers.reaches(job, state="DONE", attempts=2)


def test_waiting_processes_end_with_their_worker(workers: NapWorkers) -> None:
    workers.exactly(0)
    worker = workers.start(*LOOKS)
    pid = pid_of_a_look(workers)

    worker.kill()
    worker.wait()

    assert wait_for(lambda: not is_running(pid))
