"""Checkpoint jobs whose workers are killed, doubled or out of room.

A reader looks at the log all the while: it never sees half a checkpoint.
"""

import fcntl
import json
import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import deltalake
import pytest

from deltaweb.delta.log.paths import checkpoint_part_names, commit_name
from deltaweb.delta.log.segment import parse_listing
from deltaweb.table import DeltaTable
from tests.benchmarks.logs import write_commit, write_json_log
from tests.support.logs.delta_logs import add, commit_bytes, metadata, protocol
from tests.support.processes.installation import environment, migrate, rows, wait_for
from tests.support.processes.workers import Workers

pytestmark = pytest.mark.timeout(900)
WITHIN_S = 120  # a start alone takes many seconds on a busy machine
COMMITS, NEWEST, PARTS = 12, 11, 3
HINT = "_last_checkpoint"
BETWEEN_LOOKS_S = 0.1


class Installation(Workers):
    """An installation without a web process, whose workers are ill-treated."""

    @property
    def home(self) -> Path:
        return self.log.parent

    def row(self, job: str) -> dict[str, Any]:
        return rows(self.home, "SELECT * FROM jobs_job WHERE id = ?", job)[0]

    def becomes(self, job: str, **expected: object) -> bool:
        """Wait until the job's row holds what is expected."""
        return wait_for(
            lambda: expected.items() <= self.row(job).items(), timeout_s=WITHIN_S
        )


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    home = tmp_path_factory.mktemp("home")
    migrate(home)
    started = Installation(
        environment(home), home / "worker.log", "tests.functional.maintenance_worker"
    )
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture
def installation(shared: Installation) -> Iterator[Installation]:
    """One where no worker runs yet."""
    yield shared
    shared.exactly(0)


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    return write_json_log(tmp_path / "orders", commits=COMMITS, adds=40, removes=10)


def log_of(folder: Path) -> Path:
    return folder / "_delta_log"


def names(folder: Path) -> set[str]:
    return {path.name for path in log_of(folder).iterdir()}


def hint_version(folder: Path) -> int | None:
    try:
        hint: dict[str, int] = json.loads((log_of(folder) / HINT).read_bytes())
    except FileNotFoundError:
        return None
    return hint["version"]


def paths(folder: Path, version: int) -> list[str]:
    return sorted(DeltaTable(str(folder)).snapshot(version).files["path"].to_pylist())


class Reader:
    """Reads a version of a table again and again, and keeps what is wrong."""

    def __init__(self, folder: Path, version: int) -> None:
        self.folder = folder
        self.version = version
        self.expected = paths(folder, version)
        self.looks = 0
        self.faults: list[str] = []

    def look(self) -> None:
        """Read the table by all that a listing offers, and by the hint."""
        self.looks += 1
        hint = hint_version(self.folder)
        found = parse_listing(sorted(names(self.folder)), is_whole=True).checkpoints
        if hint is not None and hint not in {one.version for one in found}:
            self.faults.append(f"the hint names {hint}, the log has {found}")
        if paths(self.folder, self.version) != self.expected:
            self.faults.append(f"other files, with {found}")

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look all the while in a thread of its own."""
        over = threading.Event()

        def go_on() -> None:
            while not over.wait(BETWEEN_LOOKS_S):
                try:
                    self.look()
                except Exception as error:  # noqa: BLE001 (each is a fault)
                    self.faults.append(repr(error))

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@contextmanager
def hint_withheld(folder: Path) -> Iterator[None]:
    """Keep every writer of `_last_checkpoint` waiting, as another one would."""
    handle = os.open(log_of(folder), os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def test_workers_that_are_killed_within_a_checkpoint_leave_a_log_that_always_reads(
    installation: Installation, orders: Path, tmp_path: Path
) -> None:
    parts = checkpoint_part_names(NEWEST, PARTS)
    job = installation.ask("queue", orders, NEWEST, PARTS)
    reader = Reader(orders, NEWEST)
    with reader.looking():
        # The first dies when one of the parts is there.
        halt = ("halt", 1, tmp_path / "halted")
        first = installation.start(*halt)
        assert wait_for((tmp_path / "halted").exists, timeout_s=WITHIN_S), (
            installation.log.read_text()
        )
        first.kill()
        first.wait()
        assert len(names(orders) & set(parts)) == 1
        assert hint_version(orders) is None
        assert len(deltalake.DeltaTable(orders).file_uris()) == len(reader.expected)

        # The second dies when all of them are, before the hint.
        with hint_withheld(orders):
            second = installation.start("work")
            assert wait_for(lambda: set(parts) <= names(orders), timeout_s=WITHIN_S), (
                installation.log.read_text()
            )
            second.kill()
            second.wait()
        assert hint_version(orders) is None
        assert installation.row(job)["attempts"] == 2

        # The third lives.
        installation.start("work")
        assert installation.becomes(job, state="DONE", attempts=3), (
            installation.log.read_text()
        )

    queues = rows(installation.home, "SELECT DISTINCT queues FROM jobs_worker")
    assert queues == [{"queues": '["spark"]'}]
    assert reader.looks > 0
    assert reader.faults == []
    assert hint_version(orders) == NEWEST
    assert json.loads(installation.row(job)["result"])["files"] == list(parts)
    assert not [name for name in names(orders) if name.startswith(".")]
    for version in range(NEWEST):
        (log_of(orders) / commit_name(version)).unlink()
    assert paths(orders, NEWEST) == reader.expected
    assert len(deltalake.DeltaTable(orders).file_uris()) == len(reader.expected)


def test_two_workers_that_are_woken_for_one_checkpoint_write_it_once_as_asked_for(
    installation: Installation, orders: Path, tmp_path: Path
) -> None:
    other = write_json_log(tmp_path / "other", commits=2, adds=5, removes=1)
    halted = tmp_path / "halted"
    job = installation.ask("queue", orders, NEWEST, PARTS)
    reader = Reader(orders, NEWEST)
    with reader.looking():
        installation.start("halt", 1, halted)
        assert wait_for(halted.exists, timeout_s=WITHIN_S), installation.log.read_text()
        installation.ask("wake", job, "6")
        # The second worker takes all wake-ups before this job.
        last = installation.ask("queue", other, 1, 2)
        installation.start("work")
        assert installation.becomes(last, state="DONE"), installation.log.read_text()
        assert installation.becomes(job, state="RUNNING", attempts=1)
        write_commit(log_of(orders), COMMITS, first=9_000, adds=5, removed=[])

        halted.unlink()
        assert installation.becomes(job, state="DONE", attempts=1), (
            installation.log.read_text()
        )

    assert reader.faults == []
    result = json.loads(installation.row(job)["result"])
    assert (result["version"], result["num_files"]) == (NEWEST, len(reader.expected))
    assert hint_version(orders) == NEWEST
    assert DeltaTable(str(orders)).latest_version() == COMMITS
    assert len(paths(orders, COMMITS)) == len(reader.expected) + 5


def test_a_checkpoint_that_finds_no_room_fails_in_its_own_words_and_leaves_nothing(
    installation: Installation, tmp_path: Path
) -> None:
    source = random.Random(7)
    folder = tmp_path / "wide"
    log_of(folder).mkdir(parents=True)
    adds = [
        add(f"{number}.parquet", stats=json.dumps({"minValues": {"id": text}}))
        for number in range(96)
        for text in [source.randbytes(50_000).hex()]
    ]
    (log_of(folder) / commit_name(0)).write_bytes(
        commit_bytes(protocol(), metadata(), *adds)
    )
    job = installation.ask("queue", folder, 0, 1)
    limit = 2 << 20
    database = installation.home / "deltaweb.sqlite3"
    assert database.stat().st_size < limit * 3 // 4  # or its own writes would fail

    assert installation.start("do", job, limit).wait() == 0

    row = installation.row(job)
    assert (row["state"], row["error_code"]) == ("FAILED", "storage-full")
    assert str(folder) in row["error"]
    assert row["error_hint"]
    assert names(folder) == {commit_name(0)}
