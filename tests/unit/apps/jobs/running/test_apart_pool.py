"""Processes of jobs that wait for the next one."""

from collections.abc import Iterator
from contextlib import suppress
from threading import enumerate as threads

import pytest

from deltaweb.web.jobs.running.apart_pool import JobProcesses


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
        preparing = [it for it in threads() if it.name == "prepare-process"]
    for thread in preparing:  # the new one is often ready after the job's end
        thread.join()

    with processes.taken(is_kept=True) as following:
        assert following.pid == used.pid
