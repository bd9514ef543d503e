"""The supervisor with real processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes.installation import is_running, wait_for

PARENT = """
import os, sys
from deltaweb.serving.supervisor import Supervisor
supervisor = Supervisor(os.environ)
supervisor.add("child", [sys.executable, "-c", sys.argv[1]])
supervisor.run()
"""
CHILD = """
import os, sys, time
with open(os.environ["PIDS"], "a") as file:
    file.write(f"{os.getpid()}\\n")
time.sleep(600)
"""
# Its first child falls before it is ready; what happens is written down in order.
PARENT_THAT_LISTENS = """
import os, sys
from deltaweb.serving.supervisor import Supervisor
def write():
    with open(os.environ["PIDS"], "a") as file:
        file.write("heard\\n")
supervisor = Supervisor(os.environ)
supervisor.add("child", [sys.executable, "-c", sys.argv[1]], on_ready=write)
supervisor.run()
"""
CHILD_THAT_TELLS = """
import os, sys, time
from deltaweb.serving.readiness import tell_ready
with open(os.environ["PIDS"]) as file:
    starts = file.read().count("started")
with open(os.environ["PIDS"], "a") as file:
    file.write("started\\n")
if starts == 0:
    sys.exit(1)
tell_ready()
with open(os.environ["PIDS"], "a") as file:
    file.write("answers\\n")
if starts == 1:
    sys.exit(1)
time.sleep(600)
"""
# It prepares what its child needs while that loads.
PARENT_THAT_PREPARES = """
import os, sys, time
from deltaweb.serving.supervisor import Supervisor
def write(line):
    with open(os.environ["PIDS"], "a") as file:
        file.write(f"{line}\\n")
supervisor = Supervisor(os.environ)
child = [sys.executable, "-c", sys.argv[1]]
supervisor.add("child", child, on_ready=lambda: write("heard"))
supervisor.begin_loading()
while not os.path.getsize(os.environ["PIDS"]):
    time.sleep(0.02)
time.sleep(0.2)
write("prepared")
supervisor.run()
"""
CHILD_THAT_WAITS = """
import os, time
from deltaweb.serving.readiness import tell_ready, wait_until_released
def write(line):
    with open(os.environ["PIDS"], "a") as file:
        file.write(f"{line}\\n")
write("loaded")
wait_until_released()
write("goes_on")
tell_ready()
time.sleep(600)
"""


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    path = tmp_path / "pids"
    path.touch()
    return path


@pytest.fixture
def parent(pids: Path) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, CHILD], env={**os.environ, "PIDS": str(pids)}
    )
    try:
        assert wait_for(lambda: pids.read_text().endswith("\n"))
        yield process
    finally:
        process.terminate()
        process.wait(60)


@pytest.mark.usefixtures("parent")
def test_a_child_that_falls_is_started_again(pids: Path) -> None:
    os.kill(int(pids.read_text()), signal.SIGKILL)

    assert wait_for(lambda: len(pids.read_text().split()) == 2)


def test_an_interrupt_stops_all(parent: "subprocess.Popen[bytes]", pids: Path) -> None:
    child = int(pids.read_text())
    parent.send_signal(signal.SIGINT)

    assert parent.wait(60) == 0
    assert not is_running(child)


def test_a_killed_parent_leaves_nothing_behind(parent, pids):
    child = int(pids.read_text())
    parent.kill()
    parent.wait(60)

    assert wait_for(lambda: not is_running(child))


def test_a_child_answers_when_it_was_heard_that_it_is_ready(pids: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT_THAT_LISTENS, CHILD_THAT_TELLS],
        env={**os.environ, "PIDS": str(pids)},
    )
    try:
        assert wait_for(lambda: pids.read_text().count("answers") == 2)
    finally:
        process.terminate()
        process.wait(60)

    assert pids.read_text().split() == [
        *("started", "started", "heard", "answers"),
        *("started", "answers"),
    ]


def test_a_child_that_loads_early_waits_for_the_others(pids: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT_THAT_PREPARES, CHILD_THAT_WAITS],
        env={**os.environ, "PIDS": str(pids)},
    )
    try:
        assert wait_for(lambda: "heard" in pids.read_text())
    finally:
        process.terminate()
        process.wait(60)

    assert pids.read_text().split() == ["loaded", "prepared", "goes_on", "heard"]


def test_a_child_that_waits_ends_with_a_parent_that_cannot_prepare(pids: Path) -> None:
    failing = PARENT_THAT_PREPARES.replace("supervisor.run()", "sys.exit(3)")
    process = subprocess.run(
        [sys.executable, "-c", failing, CHILD_THAT_WAITS],
        env={**os.environ, "PIDS": str(pids)},
        stderr=subprocess.PIPE,  # the child has it, too: this waits until both ended
        check=False,
    )

    assert process.returncode == 3
    assert pids.read_text().split() == ["loaded", "prepared"]
