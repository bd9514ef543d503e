import os
import subprocess
import sys

import pytest

from apps.jobs.running.process import is_known_dead, process_name, short_name
from tests.support import cases


def test_this_process_lives() -> None:
    assert not is_known_dead(process_name())


def test_a_killed_process_is_dead_even_before_its_parent_has_looked() -> None:
    sleeper = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = process_name(sleeper.pid)
    assert not is_known_dead(name)

    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)

    assert is_known_dead(name)
    sleeper.communicate()
    assert is_known_dead(name)


@cases(
    "name",
    {
        "no name": "",
        "another machine": "elsewhere/1/2/3",
        "no name of ours": "nonsense",
        "too many parts": "a/b/c/d/e/f",
    },
)
def test_of_others_nothing_is_assumed(name: str) -> None:
    assert not is_known_dead(name)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("lake.example.org/4026531836/4711/98211", "lake.example.org, process 4711"),
        ("lake-1/4026531836/4711/98211#1f2e3d4c", "lake-1, process 4711"),
        ("lake-1//4711/", "lake-1, process 4711"),
        pytest.param("celery@lake-1", "celery@lake-1", id="no name of ours"),
        pytest.param("a/b/c/d", "a/b/c/d", id="no process id"),
        pytest.param("", "", id="no name"),
    ],
)
def test_people_read_the_machine_and_the_process(name: str, shown: str) -> None:
    assert short_name(name) == shown
