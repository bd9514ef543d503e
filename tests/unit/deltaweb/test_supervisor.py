"""The supervisor with real processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deltaweb.supervisor import FIRST_BACK_OFF_S

PARENT = """
import os, sys
from deltaweb.supervisor import Supervisor
supervisor = Supervisor(os.environ)
supervisor.add("child", [sys.executable, "-c", sys.argv[1]])
supervisor.run()
"""
CHILD = """
import os, sys, time
with open(os.environ["PIDS"], "a") as file:
    file.write(f"{os.getpid()}\\n")
time.sleep(60)
"""


def wait_for(condition: Callable[[], bool], timeout_s: float = 15.0) -> bool:
    deadline_s = time.monotonic() + timeout_s
    while time.monotonic() < deadline_s:
        if condition():
            return True
        time.sleep(0.05)
    return False


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat").read_text()
    return status.rsplit(")", 1)[1].split()[0] != "Z"


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    path = tmp_path / "pids"
    path.touch()
    return path


@pytest.fixture
def parent(pids: Path) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, CHILD], env={**os.environ, "PIDS": str(pids)}
    )
    assert wait_for(lambda: pids.read_text() != "")
    return process


def test_a_child_that_falls_is_started_again(
    parent: "subprocess.Popen[bytes]", pids: Path
) -> None:
    os.kill(int(pids.read_text()), signal.SIGKILL)

    assert wait_for(lambda: len(pids.read_text().split()) == 2, FIRST_BACK_OFF_S + 10)
    parent.terminate()
    parent.wait(15)


def test_an_interrupt_stops_all(parent: "subprocess.Popen[bytes]", pids: Path) -> None:
    child = int(pids.read_text())
    parent.send_signal(signal.SIGINT)

    assert parent.wait(15) == 0
    assert not is_alive(child)


def test_a_killed_parent_leaves_nothing_behind(
    parent: "subprocess.Popen[bytes]", pids: Path
) -> None:
    child = int(pids.read_text())
    parent.kill()
    parent.wait(15)

    assert wait_for(lambda: not is_alive(child))
