"""Three writers, killed processes, and a reader who polls: each version comes once."""

import os
import random
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from deltaweb.delta.log.paths import commit_name
from tests.functional.events.indexers import INDEX, PUBLISH
from tests.support.logs.delta_logs import add, commit_bytes
from tests.support.logs.local_logs import LocalLog
from tests.support.processes.databases import new_migrated_database
from tests.support.processes.installation import environment, migrate, wait_for
from tests.support.processes.workers import Workers

pytestmark = [pytest.mark.timeout(1800), pytest.mark.slow]
TABLES = ("orders", "parts")
WRITERS = ("ann", "ben", "cid")
KINDS = (INDEX, INDEX, PUBLISH)


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    """On SQLite, or on the server that a variable names."""
    home, variables = tmp_path / "home", {}
    home.mkdir()
    if url := os.environ.get("DELTAWEB_DATABASE_URL"):
        name = f"events_{uuid.uuid4().hex[:8]}"
        variables["DELTAWEB_DATABASE_URL"] = new_migrated_database(url, name)
    else:
        migrate(home)
    started = Workers(
        environment(home, **variables),
        tmp_path / "worker.log",
        "tests.functional.events.indexers",
    )
    try:
        yield started
    finally:
        started.stop()


class Writer(threading.Thread):
    """Commits versions to all tables, in competition with other writers."""

    def __init__(self, name: str, logs: list[LocalLog], count: int) -> None:
        super().__init__(name=name)
        self._logs, self._count = logs, count

    def run(self) -> None:
        own = random.Random(self.name)
        for number in range(self._count):
            self._commit(own.choice(self._logs), f"{self.name}-{number}.parquet")

    def _commit(self, log: LocalLog, path: str) -> None:
        made = log.folder / f"{path}.json"
        info = {"commitInfo": {"operation": "WRITE", "userName": self.name}}
        made.write_bytes(commit_bytes(info, add(path)))
        version = 1
        while True:
            try:
                os.link(made, log.log / commit_name(version))
            except FileExistsError:
                version += 1
            else:
                return


class Reader:
    """A script that polls the cursor all the time and keeps what it gets."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self.cursor = ""
        self.events: list[dict[str, Any]] = []

    def poll(self) -> None:
        found = self._workers.ask("read", self.cursor)
        self.events += found["events"]
        self.cursor = found["next"]

    @property
    def versions(self) -> dict[str, list[int]]:
        found = defaultdict(list)
        for event in self.events:
            found[event["data"]["table"]].append(event["data"]["version"])
        return found


@pytest.mark.database
@pytest.mark.parametrize(
    ("num_commits", "num_kills"),
    [
        pytest.param(90, 6, id="few"),
        pytest.param(1000, 20, id="many", marks=pytest.mark.exhaustive),
    ],
)
def test_each_version_is_reported_once_and_in_order(
    workers: Workers, tmp_path: Path, num_commits: int, num_kills: int
) -> None:
    logs = [LocalLog(tmp_path / name).start() for name in TABLES]
    for name, log in zip(TABLES, logs, strict=True):
        workers.ask("add", name, log.location)
    processes = [(workers.start(kind), kind) for kind in KINDS]
    count = num_commits // len(WRITERS)
    writers = [Writer(name, logs, count) for name in WRITERS]
    reader, choice = Reader(workers), random.Random(7)

    for writer in writers:
        writer.start()
    for kill in range(num_kills):
        due = (kill + 1) * num_commits // (num_kills + 1)
        assert wait_for(partial(_has, reader, due), timeout_s=600)
        victim, kind = processes.pop(choice.randrange(len(processes)))
        victim.kill()
        processes.append((workers.start(kind), kind))
    for writer in writers:
        writer.join()

    total = count * len(WRITERS)
    assert wait_for(partial(_has, reader, total), timeout_s=600)
    latest = workers.ask("latest")
    assert sum(latest.values()) == total
    assert reader.versions == {name: [*range(1, latest[name] + 1)] for name in TABLES}
    assert len({event["id"] for event in reader.events}) == total
    again = Reader(workers)
    assert wait_for(partial(_has, again, total))
    assert again.events == reader.events


def _has(reader: Reader, count: int) -> bool:
    reader.poll()
    return len(reader.events) >= count
