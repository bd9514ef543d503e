"""A JVM, or its worker, that is killed in the middle of index jobs."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.processes.installation import rows, wait_for
from tests.support.processes.spark_worker import (
    add_gated,
    all_have_ended,
    jobs,
    new_home,
    one_is_left,
    states,
    worker,
)

if TYPE_CHECKING:
    import subprocess

TIMEOUT_S = 240  # a start takes many seconds on a busy machine
VARIABLES = {"DELTAWEB_JOB_LEASE_S": "3", "DELTAWEB_SPARK_MASTER": "local[2]"}
IN_PROCESS = {"DELTAWEB_SMALL_LOG_BYTES": str(1 << 30)}  # a worker without a JVM


def members(session: int) -> Iterator[tuple[int, str]]:
    """The processes of a session that still run, each with its name."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, text = stat.read_text().rpartition(")")
        except OSError:
            continue
        fields = text.split()
        if int(fields[3]) == session and fields[0] != "Z":
            yield int(stat.parent.name), name.partition("(")[2]


def java_of(worker: "subprocess.Popen[bytes]") -> int:
    """The process of the JVM that a worker has started."""
    (process,) = (one for one, name in members(worker.pid) if name == "java")
    return process


def test_a_jvm_that_is_killed_is_replaced_and_ends_with_its_worker(
    lake: Path, tmp_path: Path
) -> None:
    home = new_home(tmp_path, lake)
    slow = add_gated(home, lake / "customers")
    log = home / "worker.log"

    with worker(home, **VARIABLES) as first:
        assert wait_for(lambda: slow.has_reader, timeout_s=TIMEOUT_S), log.read_text()
        os.kill(java_of(first), signal.SIGKILL)
        is_noticed = wait_for(
            lambda: "Spark stopped; its work is done again." in log.read_text(),
            timeout_s=TIMEOUT_S,
        )
        assert is_noticed, log.read_text()
        slow.open()
        ended = wait_for(lambda: all_have_ended(home), timeout_s=TIMEOUT_S)
        assert ended, log.read_text()
        said = log.read_text()
        assert "The Spark session has died; a new one is started." in said
        for of_every_start in ("incubator modules", "log level to"):
            assert of_every_start not in said
        found = [(job["state"], job["attempts"]) for job in jobs(home)]
        assert found == [("DONE", 1)]
        assert versions(home) == [("slow_customers", "INDEXED", 59, 60)]

        first.kill()
        first.wait()
    assert wait_for(lambda: not [*members(first.pid)], timeout_s=TIMEOUT_S)


@pytest.mark.exhaustive  # every run kills one without a JVM, by a functional test
def test_the_jobs_of_a_worker_that_is_killed_are_done_by_the_next(
    lake: Path, tmp_path: Path
) -> None:
    home = new_home(tmp_path, lake, "orders")
    slow = add_gated(home, lake / "returns")
    log = home / "worker.log"
    in_the_middle = {"DONE": 1, "RUNNING": 1}

    with worker(home, **VARIABLES) as first:
        assert wait_for(
            lambda: slow.has_reader and one_is_left(home), timeout_s=TIMEOUT_S
        ), log.read_text()
        assert states(home) == in_the_middle
        first.kill()
        first.wait()
    assert wait_for(lambda: not [*members(first.pid)], timeout_s=TIMEOUT_S)
    assert states(home) == in_the_middle
    slow.open()

    with worker(home, **VARIABLES | IN_PROCESS):
        finished = wait_for(lambda: states(home) == {"DONE": 2}, timeout_s=TIMEOUT_S)
        assert finished, log.read_text()

    assert Counter(job["attempts"] for job in jobs(home)) == {1: 1, 2: 1}
    assert versions(home) == [
        ("orders", "INDEXED", 21, 22),
        ("slow_returns", "INDEXED", 0, 1),
    ]


def versions(home: Path) -> list[tuple[object, ...]]:
    """The name, state, version and number of commits of each table."""
    found = rows(
        home,
        "SELECT name, state, t.version, count(*) AS num_commits FROM tables_table t"
        " JOIN tables_commit c ON c.table_id = t.id GROUP BY t.id ORDER BY name",
    )
    return [tuple(table.values()) for table in found]
