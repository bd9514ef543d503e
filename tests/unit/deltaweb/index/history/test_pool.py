"""A long history is shared by two processes, and is what one would read."""

import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import LogStore
from deltaweb.environment.own_process import PANDAS
from deltaweb.index.history import pool
from deltaweb.index.history.commit_part import CommitPart
from deltaweb.index.history.pool import commit_reader, read_share
from deltaweb.storage.local import LocalTableStore
from tests.support.logs.delta_logs import add, metadata, remove
from tests.support.logs.local_logs import LocalLog
from tests.support.processes.installation import is_running

pytestmark = pytest.mark.slow

COMMITS = 40


@pytest.fixture
def log(tmp_path: Path) -> LocalLog:
    """Make a log of which some commits are odd."""
    log = LocalLog(tmp_path)
    log.start(add("f0"))
    for version in range(1, COMMITS):
        info = {"operation": f"O{version}", "operationMetrics": {"n": str(version)}}
        log.commit(version, {"commitInfo": info}, remove(f"f{version - 1}"), add("x"))
    log.commit(9, metadata("other"), add("y", stats='{"numRecords":3}'))
    (log.log / commit_name(21)).write_bytes(b"{\n")
    return log


@pytest.fixture(autouse=True)
def _short_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MIN_COMMITS_TO_SHARE", COMMITS)
    monkeypatch.setattr(pool, "COMMITS_A_SHARE", 3)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note the processes that begin."""
    begun: list[int] = []
    start = pool.start_process

    def noted(connection: Connection) -> "subprocess.Popen[bytes]":
        process = start(connection)
        begun.append(process.pid)
        return process

    monkeypatch.setattr(pool, "start_process", noted)
    return begun


def read(store: LogStore) -> list[CommitPart]:
    with commit_reader(store, COMMITS) as read_commits:
        return list(read_commits(range(COMMITS)))


def facts(parts: Sequence[CommitPart]) -> list[object]:
    rows = [row for part in parts for row in part.rows.to_pylist()]
    changes = [
        (part.versions[change.row], change.metadata, change.protocol)
        for part in parts
        for change in part.changes
    ]
    actions = [
        (part.file_actions.versions.tolist(), part.file_actions.keys.to_pylist())
        for part in parts
        if part.file_actions is not None
    ]
    files = [pair for one in actions for pair in zip(*one, strict=True)]
    faulty = [version for part in parts if part.is_faulty for version in part.versions]
    return [rows, changes, files, faulty]


def test_two_processes_read_what_one_does(log, helpers, monkeypatch):
    shared = read(log.table.store)
    monkeypatch.setattr(pool, "MIN_COMMITS_TO_SHARE", COMMITS + 1)
    alone = read(log.table.store)

    assert facts(shared) == facts(alone)
    assert [row["version"] for row in facts(shared)[0]] == [*range(COMMITS)]  # type: ignore[attr-defined]
    assert facts(shared)[3] == [21]
    assert len(helpers) == 1
    assert not is_running(helpers[0])


def test_the_second_process_does_its_share(log: LocalLog) -> None:
    with pool.second_reader(log.table.store) as reader:
        assert reader is not None
        parts = reader(range(12))

    assert facts(parts) == facts(read_share(log.table.store, range(12)))


def test_it_answers_without_what_others_installed(log: LocalLog, helpers: list[int]):
    with pool.second_reader(log.table.store) as reader:
        assert reader is not None
        reader(range(12))
        modules = Path(f"/proc/{helpers[0]}/maps").read_text(encoding="utf-8")

    assert "/pyarrow/" in modules
    assert importlib.util.find_spec(PANDAS) is not None
    assert f"/{PANDAS}/" not in modules


def test_each_thread_that_asks_it_gets_its_own_answer(log: LocalLog) -> None:
    shares = [[*range(COMMITS)][first : first + 3] for first in range(0, COMMITS, 3)]
    with (
        pool.second_reader(log.table.store) as reader,
        ThreadPoolExecutor(4) as threads,
    ):
        assert reader is not None
        answers = [*threads.map(reader, shares)]

    found = [[v for part in parts for v in part.versions] for parts in answers]
    assert found == shares


def test_what_it_leaves_behind_is_read_share(log: LocalLog, helpers: list[int]) -> None:
    with (
        commit_reader(log.table.store, COMMITS) as read_commits,
        closing(read_commits(range(COMMITS))) as parts,
    ):
        first = next(parts)
        os.kill(helpers[0], signal.SIGKILL)
        found = [first, *parts]

    assert [version for part in found for version in part.versions] == [*range(COMMITS)]


def test_who_stops_early_leaves_no_process(log: LocalLog, helpers: list[int]) -> None:
    with commit_reader(log.table.store, COMMITS) as read_commits:
        parts = read_commits(range(COMMITS))
        next(parts)
        parts.close()

    assert not is_running(helpers[0])


def test_all_is_read_share_where_none_can_begin(log, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    assert len(facts(read(log.table.store))[0]) == COMMITS  # type: ignore[arg-type]


class _Bound(LocalTableStore):
    """A store that holds what no process can hand on."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.lock = threading.Lock()


def test_a_store_that_cannot_travel_is_read_share(log: LocalLog, helpers: list[int]):
    parts = read(_Bound(log.location))

    assert [version for part in parts for version in part.versions] == [*range(COMMITS)]
    assert helpers == []


def test_a_commit_that_is_gone_is_an_error(log: LocalLog) -> None:
    (log.log / commit_name(30)).unlink()

    with pytest.raises(LogCorruptError, match="disappeared"):
        read(log.table.store)


BEGIN_AND_WAIT = """
import sys
import threading
from deltaweb.index.history import pool
from deltaweb.storage.local import LocalTableStore
from deltaweb.environment.own_process import PANDAS

start = pool.start_process

def noted(connection):
    process = start(connection)
    print(process.pid, flush=True)
    return process

pool.start_process = noted
with pool.second_reader(LocalTableStore(sys.argv[1])):
    sys.stdin.read()
"""


def test_a_second_process_ends_with_the_first(log: LocalLog) -> None:
    command = [sys.executable, "-c", BEGIN_AND_WAIT, log.location]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        second = int(first.stdout.readline())
        first.kill()

    deadline_s = time.monotonic() + 60
    while is_running(second):
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


WITHOUT_A_GUARD = """
import os
import sys
from deltaweb.index.history import pool
from deltaweb.storage.local import LocalTableStore

print("body")
pool.MIN_COMMITS_TO_SHARE, pool.COMMITS_A_SHARE = 2, 2
os.cpu_count = lambda: 2
store = LocalTableStore(sys.argv[1])
with pool.second_reader(store) as reader:
    print(len(reader(range(9))) > 0)
with pool.commit_reader(store, 40) as read_commits:
    print(sum(len(part.versions) for part in read_commits(range(40))))
"""


def test_a_script_needs_no_guard(log: LocalLog, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(WITHOUT_A_GUARD)

    done = subprocess.run(
        [sys.executable, str(script), log.location],
        capture_output=True,
        check=True,
        text=True,
    )

    assert done.stdout.split() == ["body", "True", "40"]
    assert not done.stderr
