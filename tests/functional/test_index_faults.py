"""What stops a process that goes on from an index leaves that index whole."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from apps.tables.index.folders import remove_other_indexes
from deltaweb.index.folder.file_index import COMMITS
from tests.support import cases
from tests.support.index.index_builds import build_index
from tests.support.index.index_folders import contents
from tests.support.logs.local_logs import RandomLog
from tests.support.processes.installation import ROOT

NOW_MS = 1_800_000_000_000
PRESENT, KILLED, NEXT, OTHER = "1-5-a", "1-6-b", "1-7-c", "1-8-d"
# Works up to the given time that a step is told of, says so, and goes no further.
STOPPING = """
from deltaweb.environment.own_process import prepare_process
prepare_process()
import sys
from tests.support.index.index_builds import build_index

location, folder, base, wanted, count = sys.argv[1:]
told = []

def report(step, *_):
    told.append(step)
    if told.count(wanted) == int(count) and step == wanted:
        print("here", flush=True)
        sys.stdin.read()

build_index(location, None, folder, base=base, on_progress=report)
"""
# Is killed before it makes, opens, links or renames a file of its index: before the
# first of these, then before the second, until one gets through. Says how often it was
# killed.
KILLED_ANYWHERE = """
from deltaweb.environment.own_process import prepare_process
prepare_process()
import os, signal, sys
from deltaweb.index.folder import parts
from tests.support.index.index_builds import build_index

location, folder, base, now_ms, every = sys.argv[1:]
parts.KEPT_ROWS = 2
left = 0

def kill_at_last(event, arguments):
    global left
    if event in {"open", "os.link", "os.mkdir", "os.rename"}:
        if f"/.{os.path.basename(folder)}." in "".join(map(str, arguments)):
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

for kills in range(0, 1000, int(every)):
    if not os.fork():
        left = kills
        sys.addaudithook(kill_at_last)
        result = build_index(location, None, folder, base=base, now_ms=int(now_ms))
        os._exit(result.state != "INDEXED")
    _, status = os.wait()
    if not os.WIFSIGNALED(status):
        break
    assert not os.path.exists(folder)
print(kills, os.WEXITSTATUS(status))
"""
# Finds the disk full once it writes.
FULL = """
from deltaweb.environment.own_process import prepare_process
prepare_process()
import resource, sys
from tests.support.index.index_builds import build_index

location, folder, base = sys.argv[1:]

def report(step, *_):
    if step.startswith("Writing"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

result = build_index(location, None, folder, base=base, on_progress=report)
print(result.state, result.error_code)
"""


@pytest.fixture
def indexes(settings: Settings, tmp_path: Path) -> Path:
    """The folder of a table's indexes, in an installation of its own."""
    settings.HOME = tmp_path / "home"
    return tmp_path / "home" / "index" / str(uuid.uuid4())


@pytest.fixture
def log(indexes: Path, tmp_path: Path) -> RandomLog:
    """A table with an index, and three commits since."""
    log = RandomLog(tmp_path, seed=5)
    build_index(log.location, None, indexes / PRESENT, now_ms=NOW_MS)
    log.grow(3)
    return log


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def kill_at(step: str, count: int, log: RandomLog, indexes: Path) -> None:
    """Go on from the present index in a process, and kill that in the middle."""
    arguments = [str(indexes / name) for name in (KILLED, PRESENT)]
    with subprocess.Popen(
        [sys.executable, "-c", STOPPING, log.location, *arguments, step, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        process.kill()
        assert process.wait() < 0


@pytest.mark.parametrize(
    ("step", "count"),
    [
        ("Reading new commits", 1),
        ("Writing the files", 2),
    ],
)
def test_a_killed_one_is_taken_up_again(log, indexes, tmp_path, step, count):
    present = indexes / PRESENT
    before = bytes_of(present)

    kill_at(step, count, log, indexes)

    assert bytes_of(present) == before
    left = {path.name for path in indexes.iterdir()} - {PRESENT}
    assert all(name.startswith(f".{KILLED}.") for name in left)
    assert bool(left) == step.startswith("Writing")

    result = build_index(
        log.location, None, indexes / NEXT, base=present, now_ms=NOW_MS
    )

    assert (result.state, result.version) == ("INDEXED", 3)
    build_index(log.location, None, tmp_path / "fresh", now_ms=NOW_MS)
    assert contents(indexes / NEXT) == contents(tmp_path / "fresh")
    for name in left:
        os.utime(indexes / name, (0, 0))  # long after
    remove_other_indexes(indexes.name, keep=NEXT)
    assert [path.name for path in indexes.iterdir()] == [NEXT]


@cases("every", {"at some steps": 3, "at all steps": 1}, often=["at some steps"])
def test_one_that_is_killed_anywhere_leaves_none_or_a_whole_one(
    log, indexes, tmp_path, every
):
    present = indexes / OTHER
    build_index(log.location, None, present, now_ms=NOW_MS)
    log.grow(2)
    before = bytes_of(present)
    places = [log.location, str(indexes / NEXT), str(present)]

    done = subprocess.run(
        [sys.executable, "-c", KILLED_ANYWHERE, *places, str(NOW_MS), str(every)],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )

    kills, failed = map(int, done.stdout.split())
    assert kills > len(before)
    assert not failed
    assert bytes_of(present) == before
    assert (indexes / NEXT / COMMITS).samefile(present / COMMITS)
    build_index(log.location, None, tmp_path / "fresh", now_ms=NOW_MS)
    assert contents(indexes / NEXT) == contents(tmp_path / "fresh")


def test_one_that_finds_the_disk_full_leaves_nothing(log: RandomLog, indexes: Path):
    before = bytes_of(indexes / PRESENT)
    arguments = [str(indexes / name) for name in (NEXT, PRESENT)]

    done = subprocess.run(
        [sys.executable, "-c", FULL, log.location, *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )

    assert done.stdout.split() == ["FAILED", "storage-full"]
    assert bytes_of(indexes / PRESENT) == before
    assert [path.name for path in indexes.iterdir()] == [PRESENT]
