"""Processes of jobs that wait for the next one."""

from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import active_children
from threading import enumerate as threads

import pytest

from apps.jobs.running.apart_pool import JobProcesses

pytestmark = pytest.mark.slow


@pytest.fixture
def processes() -> Iterator[JobProcesses]:
    processes = JobProcesses(num_kept=2)
    yield processes
    processes.num_kept = 0
    with processes.taken(is_kept=True):
        pass


def test_one_whose_job_was_not_waited_for_does_no_other(processes: JobProcesses):
    """It is at work, and would say of the next job what it says of that one."""
    with suppress(InterruptedError), processes.taken(is_kept=True) as left:
        raise InterruptedError

    with processes.taken(is_kept=True) as following:
        assert following.pid != left.pid


def test_one_that_has_read_is_taken_before_one_made_meanwhile(processes: JobProcesses):
    with processes.taken(is_kept=True) as used:
        pass
    _wait_until_prepared()  # the new one is often ready after the job's end

    with processes.taken(is_kept=True) as following:
        assert following.pid == used.pid


def test_no_more_are_made_than_are_kept(processes: JobProcesses) -> None:
    others = {process.pid for process in active_children()}
    for _ in range(3):
        with processes.taken(is_kept=True), processes.taken(is_kept=True):
            _wait_until_prepared()
            made = {process.pid for process in active_children()} - others

    assert len(made) == 2


def _wait_until_prepared() -> None:
    for thread in threads():
        if thread.name == "prepare-process":
            thread.join()
