"""Copies of a process that has loaded everything, under a supervisor."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes.installation import ROOT, environment, wait_for

pytestmark = pytest.mark.slow

PARENT = """
import os, sys, django
django.setup()
from deltaweb.management import copies
from deltaweb.serving.supervisor import Supervisor
copies.begin_loading()
supervisor = Supervisor(os.environ)
copies.add(supervisor, "child", ["shell", "-c", sys.argv[1]])
supervisor.run()
"""
CHILD = """
import json, os, sys, time
from apps.jobs.running.apart_pool import JobProcess
process = JobProcess()
facts = {
    "pid": os.getpid(), "server": os.getppid(), "job_process": process.pid,
    "argv": sys.argv, "orig_argv": sys.orig_argv, "session": os.getsid(0),
}
with open(os.environ["FACTS"], "a") as file:
    file.write(json.dumps(facts) + "\\n")
time.sleep(600)
"""


class Copies:
    """A supervisor of one copy, which writes what it is."""

    def __init__(self, folder: Path) -> None:
        self._facts = folder / "facts"
        self._facts.touch()
        self.process = subprocess.Popen(
            [sys.executable, "-c", PARENT, CHILD],
            env=environment(folder, FACTS=str(self._facts)),
            cwd=ROOT,
        )

    def begun(self) -> list[dict[str, Any]]:
        """What each copy so far is."""
        return [json.loads(line) for line in self._facts.read_text().splitlines()]

    def newest(self, number: int = 1) -> dict[str, Any]:
        """What the copy of a number is, once there is one."""
        assert wait_for(lambda: len(self.begun()) >= number)
        return self.begun()[-1]

    def after(self, happening: Callable[[], object]) -> dict[str, Any]:
        """What the next copy is, which begins when something has happened."""
        number = len(self.begun()) + 1
        happening()
        return self.newest(number)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copies]:
    copies = Copies(tmp_path_factory.mktemp("copies"))
    yield copies
    copies.process.terminate()
    copies.process.wait(60)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def are_gone(*pids: int) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_copy_and_its_jobs_are_copies_of_one_process_of_one_thread(copies):
    child = copies.newest()

    assert parent_of(child["job_process"]) == child["server"]
    assert parent_of(child["server"]) == copies.process.pid
    assert os.getsid(child["server"]) == child["server"]
    assert len([*Path(f"/proc/{child['server']}/task").iterdir()]) == 1


def test_a_copy_is_what_its_command_says(copies: Copies) -> None:
    child = copies.newest()

    assert child["argv"] == ["deltaweb", "shell", "-c", CHILD]
    assert child["orig_argv"] == [sys.executable, "-m", *child["argv"]]
    assert child["session"] == child["pid"]


def test_a_copy_that_falls_is_made_again_of_the_same_process(copies: Copies) -> None:
    first = copies.newest()

    second = copies.after(lambda: os.kill(first["pid"], signal.SIGKILL))

    assert second["server"] == first["server"]
    assert wait_for(lambda: are_gone(first["job_process"]))


def test_copies_end_with_what_they_are_made_of_and_begin_again(copies: Copies) -> None:
    first = copies.newest()

    second = copies.after(lambda: os.kill(first["server"], signal.SIGKILL))

    assert second["server"] != first["server"]
    assert wait_for(lambda: are_gone(first["pid"], first["job_process"]))


def leaves_nothing(copies: Copies, ending: signal.Signals) -> bool:
    child = copies.newest()
    copies.process.send_signal(ending)
    copies.process.wait(60)
    pids = (child["pid"], child["job_process"], child["server"])
    return wait_for(lambda: are_gone(*pids))


def test_nothing_is_left_of_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    assert leaves_nothing(Copies(tmp_path), signal.SIGKILL)


def test_nothing_is_left_of_a_supervisor_that_is_interrupted(copies: Copies) -> None:
    assert leaves_nothing(copies, signal.SIGINT)  # the one of all tests, at their end
