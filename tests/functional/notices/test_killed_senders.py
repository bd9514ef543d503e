"""Processes that distribute and send are killed: every event arrives, in order."""

import os
import random
import uuid
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.functional.notices.receiver import Receiver
from tests.functional.notices.senders import SEND, TELL
from tests.support.processes.databases import new_migrated_database
from tests.support.processes.installation import environment, migrate, wait_for
from tests.support.processes.workers import Workers

pytestmark = [pytest.mark.timeout(1800), pytest.mark.slow]
TABLES = ("orders", "parts", "returns")
KINDS = (TELL, TELL, SEND, SEND)


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    """On SQLite, or on the server that a variable names."""
    home, variables = tmp_path / "home", {"DELTAWEB_WEBHOOK_HOSTS": "127.0.0.1"}
    home.mkdir()
    if url := os.environ.get("DELTAWEB_DATABASE_URL"):
        name = f"notices_{uuid.uuid4().hex[:8]}"
        variables["DELTAWEB_DATABASE_URL"] = new_migrated_database(url, name)
    else:
        migrate(home)
    started = Workers(
        environment(home, **variables),
        tmp_path / "worker.log",
        "tests.functional.notices.senders",
    )
    try:
        yield started
    finally:
        started.stop()


@pytest.mark.database
@pytest.mark.parametrize(
    ("num_versions", "num_kills"),
    [
        pytest.param(12, 4, id="few"),
        pytest.param(200, 20, id="many", marks=pytest.mark.exhaustive),
    ],
)
def test_every_event_arrives_in_order_and_with_one_id(
    workers: Workers, num_versions: int, num_kills: int
) -> None:
    choice = random.Random(7)
    total = num_versions * len(TABLES)
    with Receiver.running() as receiver:
        workers.ask("follow", receiver.url, *TABLES)
        processes = [(workers.start(kind), kind) for kind in KINDS]
        for number in range(1, num_versions + 1):
            for name in TABLES:
                workers.ask("commit", name, number)
            due = number * num_kills // num_versions
            for _ in range(due - (number - 1) * num_kills // num_versions):
                victim, kind = processes.pop(choice.randrange(len(processes)))
                victim.kill()
                processes.append((workers.start(kind), kind))

        assert wait_for(partial(_has, receiver, total), timeout_s=600)
    assert first_arrivals(receiver) == {
        f"table:{name}": [*range(1, num_versions + 1)] for name in TABLES
    }
    assert {len(ids) for ids in ids_of_versions(receiver).values()} == {1}
    assert workers.ask("told") == total


def first_arrivals(receiver: Receiver) -> dict[str, list[int]]:
    """Return the versions of each table, in the order in which they came first."""
    found: dict[str, list[int]] = defaultdict(list)
    for event in receiver.events():
        table, version = event["subject"], event["data"]["version"]
        if version not in found[table]:
            found[table].append(version)
    return found


def ids_of_versions(receiver: Receiver) -> dict[tuple[str, int], set[str]]:
    """Return the ids with which each version of a table arrived."""
    found: dict[tuple[str, int], set[str]] = defaultdict(set)
    for event in receiver.events():
        found[event["subject"], event["data"]["version"]].add(event["id"])
    return found


def _has(receiver: Receiver, total: int) -> bool:
    return len(ids_of_versions(receiver)) == total
